/* main.c: the gateway's process */
#include "bus/actor/process.h"
#include "services/gateway/gateway.h"

int main(int argc, char **argv)
{
	return process_main(argc, argv, &(struct process){ .service = &gateway });
}

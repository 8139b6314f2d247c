/* main.c: the process cartbus-waiter */
#include "bus/actor/process.h"
#include "services/carts/waiter/waiter.h"
#include "services/kit/settings/settings.h"

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &waiter,
			.help = "Wakes up for each cart when its timer says so, and decides one of four moves by the "
				"owner's rules.",
			.keys = settings_keys });
}

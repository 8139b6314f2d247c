/* main.c: the process cartbus-unsub */
#include "bus/actor/process.h"
#include "services/kit/settings/settings.h"
#include "services/platform/unsub/unsub.h"

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &unsub,
			.help = "Keeps the one list of people who must not be mailed.",
			.keys = settings_keys });
}

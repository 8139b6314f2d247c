/* main.c: the process cartbus-intake */
#include "bus/actor/process.h"
#include "services/carts/intake/intake.h"
#include "services/kit/settings/settings.h"

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &intake,
			.help = "Keeps the canonical list of carts: one row per cart, joined from what the storefront "
				"calls it.",
			.keys = settings_keys });
}

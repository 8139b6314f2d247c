/*
 * worker.c: cartbus-test-worker: a service that does what its messages say
 *
 * "die": it kills itself with SIGKILL. "fail": it could not. "refuse": never. Anything else is done, unless the file that
 * $CARTBUS_TEST_OUTAGE names is there: then everything fails.
 */
#include "bus/actor/process.h"
#include "services/kit/settings.h"
#include "tests/system/work.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST_WORK_TOPICS;

static enum verdict hear_work(const struct state *state, const Tick *work, struct turn *turn)
{
	const char *outage = getenv("CARTBUS_TEST_OUTAGE");
	const struct said *said = turn_message(turn);

	(void)state;
	if (strcmp(work->name, "die") == 0)
		raise(SIGKILL);
	if (outage && access(outage, F_OK) == 0)
		return turn_failed(turn, 0, "what it needs is away");
	if (strcmp(work->name, "fail") == 0)
		return turn_failed(turn, 0, "told to fail");
	if (strcmp(work->name, "refuse") == 0)
		return turn_never(turn, "told to refuse");
	SAY(turn, test_done, work, .shop = said->shop, .key = said->key);
	return DONE;
}

static const struct service worker = {
	.name = "worker",
	.hears = { HEARS(test_work, hear_work) },
	.says = { SAYS(test_done) },
};

int main(int argc, char **argv)
{
	return process_main(argc, argv, &(struct process){ .service = &worker, .keys = settings_keys });
}

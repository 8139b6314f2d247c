/*
 * worker.c: cartbus-test-worker: a service that does what its messages say
 *
 * "die": it kills itself with SIGKILL. "loop": it never comes to an end. "fail": it could not. "refuse": never. "slow": done when
 * the gate opens (gate_driver.c), "hasty": the same, within a second. Anything else is done, unless the file that
 * $CARTBUS_TEST_OUTAGE names is there: then everything fails.
 *
 * cartbus-test-brisk is the same worker, but its table declares a failure limit and a lease.
 */
#include "bus/actor/process.h"
#include "bus/base/clock.h"
#include "services/kit/settings/settings.h"
#include "tests/system/programs/gate_driver.h"
#include "tests/system/programs/work.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST_WORK_TOPICS;

static enum verdict done(struct turn *turn, const Tick *work)
{
	const struct message_meta *said = turn_message(turn);

	SAY(turn, test_done, work, .shop = said->shop, .key = said->key);
	return TURN_DONE;
}

static enum verdict passed(const struct state *state, const void *work, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	(void)state, (void)request, (void)claimed;
	return result ? done(turn, work) : turn_failed(turn, 0, "the gate did not open in time");
}

static const struct effect_kind slow = { .name = "gate", .deadline_us = 5 * US_PER_MINUTE, .decide = passed };
static const struct effect_kind hasty = { .name = "gate", .deadline_us = 1 * US_PER_S, .decide = passed };

static enum verdict hear_work(const struct state *state, const Tick *work, struct turn *turn)
{
	const char *outage = getenv("CARTBUS_TEST_OUTAGE");
	void *nothing = NULL;

	(void)state;
	if (strcmp(work->name, "die") == 0)
		raise(SIGKILL);
	while (strcmp(work->name, "loop") == 0)
		pause();
	if (outage && access(outage, F_OK) == 0)
		return turn_failed(turn, 0, "what it needs is away");
	if (strcmp(work->name, "fail") == 0)
		return turn_failed(turn, 0, "told to fail");
	if (strcmp(work->name, "refuse") == 0)
		return turn_dead_letter(turn, "told to refuse");
	if (strcmp(work->name, "slow") == 0)
		return turn_effect(turn, &slow, &nothing);
	if (strcmp(work->name, "hasty") == 0)
		return turn_effect(turn, &hasty, &nothing);
	return done(turn, work);
}

#ifndef WORKER_FAILURES_MAX
#define WORKER_FAILURES_MAX 0
#define WORKER_LEASE_MS 0
#endif

static const struct service worker = {
	.name = "worker",
	.failures_max = WORKER_FAILURES_MAX,
	.lease_ms = WORKER_LEASE_MS,
	.hears = HEARING(HEARS(test_work, hear_work)),
	.says = SAYING(SAYS(test_done)),
	.effects = RUNNING(&slow, &hasty),
};

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];

	(void)config, (void)clock;
	all[0] = gate_driver_new();
	return all;
}

int main(int argc, char **argv)
{
	return process_main(
		argc, argv, &(struct process){ .service = &worker, .keys = settings_keys, .drivers = drivers });
}

/*
 * sim_say.c: what a test says to the simulated system, and what it judges by
 *
 * Promises: saying waits in virtual time for its confirm, and is said again with nothing changed only by the test.
 */
#include "bus/actor/runtime/turns.h"
#include "bus/actor/sim/sim_inside.h"
#include "bus/base/log.h"
#include "bus/wire/message.h"
#include <errno.h>

static const int64_t PATIENCE_US = 2 * US_PER_MINUTE; /* longer than a broken session takes to heal */

struct waiting {
	bool answered;
	enum said_result result;
	uint64_t seq;
};

static void answered(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct waiting *waiting = context;

	(void)reason;
	*waiting = (struct waiting){ .answered = true, .result = result, .seq = seq };
}

/* One step, or the next moment. false: the patience is over. */
static bool go_on(struct sim *sim, int64_t until_us)
{
	if (sim_step(sim) || sim_jump(sim, until_us))
		return true;
	sim->clock.virtual_us = until_us;
	return false;
}

enum said_result sim_say(struct sim *sim, const struct topic *topic, const struct publish_options *how,
	const void *message, uint64_t *ret_seq)
{
	int64_t until_us = sim->clock.virtual_us + PATIENCE_US;
	struct waiting waiting = { .answered = false };
	struct runtime *runtime = sim->outside->runtime;
	int r;

	sim_wake_all(sim);
	while ((r = runtime_publish(runtime, topic, how, NULL, message, answered, &waiting)) == -ENOTCONN)
		if (!go_on(sim, until_us))
			return SAID_UNKNOWN;
	if (r < 0)
		die("the message for %s cannot be said: it is too large", topic->name);
	sim->outside->wake_us = sim->clock.virtual_us;
	until_us = sim->clock.virtual_us + PATIENCE_US;
	while (!waiting.answered)
		if (!go_on(sim, until_us))
			die("a message for %s was neither confirmed nor refused", topic->name);
	if (ret_seq)
		*ret_seq = waiting.seq;
	return waiting.result;
}

void sim_log(struct sim *sim, sim_log_fn *each, void *context)
{
	const uint8_t *at = sim->log.data, *end = at + sim->log.len;

	while (at < end) {
		uint64_t seq = get_be64(at);
		int64_t time_us = (int64_t)get_be64(at + 8);
		const char *said_by = (const char *)at + 16;
		const uint8_t *message = at + 16 + strlen(said_by) + 1;
		struct bytes bytes = BYTES(message + 4, get_u32(message)), payload;
		Envelope envelope;

		if (message_read(bytes, &envelope, &payload) == 0) {
			struct message_meta said = said_from(&envelope, seq, time_us, said_by);

			each(&said, payload, context);
		}
		at = message + 4 + bytes.len;
	}
}

uint64_t sim_trace_hash(struct sim *sim)
{
	return sim->hash;
}

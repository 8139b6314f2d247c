/*
 * broker_status.c: asks the broker every few seconds for its status
 *
 * Owns:      the broker's last answer, and the rhythm.
 * Promises:  one question at a time; the conditions are looked at upon each answer.
 * Fails by:  a line in the log when the answer is no, or cannot be read.
 * Read next: view.c (what is read of the answer), conditions.c
 */
#include "services/platform/monitor/broker_status.h"

#include "bus/base/cleanup.h"
#include "bus/base/log.h"

#define ASK_EVERY_US (5 * US_PER_S)
#define ANSWER_GOOD_US (30 * US_PER_S) /* an older one is none */
#define ASK_SOON_US (100 * US_PER_MS)  /* what was just said is folded first */

static void answered(void *context, bool ok, const char *text, bool more)
{
	struct broker_status *status = context;
	_cleanup_(view_clear) struct view view = { 0 };

	(void)more;
	status->asked = false;
	if (!ok || view_read(text, &view) < 0) {
		log_event(LOG_WARNING, "the broker does not say how it is: %s", ok ? "unreadable answer" : text);
		return;
	}
	json_decref(status->answer);
	status->answer = json_loads(text, 0, NULL);
	status->answered_us = clock_boot_us(status->clock);
	if (conditions_look(status->conditions, &view))
		status->ask_at_us = clock_boot_us(status->clock) + ASK_SOON_US;
}

int64_t broker_status_ask(struct broker_status *status)
{
	int64_t now_us = clock_boot_us(status->clock);

	if (status->asked || runtime_phase(status->runtime) != RUNTIME_READY)
		return ASK_EVERY_US;
	if (now_us < status->ask_at_us)
		return status->ask_at_us - now_us;
	status->ask_at_us = now_us + ASK_EVERY_US;
	status->asked = runtime_ask(status->runtime, "status", "{}", answered, status) == 0;
	return ASK_EVERY_US;
}

const json_t *broker_status_now(const struct broker_status *status)
{
	bool is_good = runtime_phase(status->runtime) == RUNTIME_READY &&
		clock_boot_us(status->clock) - status->answered_us < ANSWER_GOOD_US;

	return is_good ? status->answer : NULL;
}

void broker_status_forget(struct broker_status *status)
{
	json_decref(status->answer);
	status->answer = NULL;
}

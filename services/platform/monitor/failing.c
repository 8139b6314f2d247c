/*
 * failing.c: folds the failures that the broker counted
 *
 * Owns:      the table failing (queue -> struct failing_row).
 * Promises:  pure. A failure counts once, however often the monitor is started, because each count is a fact.
 *            Failures while the monitor was away count when it first sees them.
 * Fails by:  missing what the broker counted between the monitor's last look and the broker's end.
 * Read next: conditions.c (the caller), check.c
 */
#include "services/platform/monitor/failing.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <string.h>

#define SLOT_US (5 * US_PER_MINUTE)
enum { SLOTS = 12 };
static const char *const everywhere = "all";

struct failing_row {
	uint64_t total; /* the broker's count that is known */
	struct {
		int64_t number; /* since 1970 */
		uint64_t failures;
	} slots[SLOTS];
};
STATE_STRUCTS(failing, "failing", struct failing_row);

void failing_remember(struct state *state, const struct message_meta *said, const QueueFailed *failed)
{
	int64_t number = failed->at_us / SLOT_US;
	struct failing_row row;

	(void)said;
	STATE_GET(state, failing, everywhere, failed->queue, &row);
	row.total = failed->total;
	if (row.slots[number % SLOTS].number != number) {
		row.slots[number % SLOTS].number = number;
		row.slots[number % SLOTS].failures = 0;
	}
	row.slots[number % SLOTS].failures += failed->failures;
	STATE_PUT(state, failing, everywhere, failed->queue, &row);
}

bool failing_news(const struct state *state, const char *queue, uint64_t total, int64_t now_us, QueueFailed *ret)
{
	struct failing_row row;

	STATE_GET(state, failing, everywhere, queue, &row);
	if (row.total == total)
		return false;
	*ret = (QueueFailed){ .total = total, .at_us = now_us };
	ret->failures = (uint32_t)(total > row.total ? total - row.total : total);
	TEXT_COPY(ret->queue, queue);
	return true;
}

struct counting {
	const char *queue;
	int64_t from; /* the first slot that counts */
	uint64_t sum;
};

static bool count(const char *shop, const char *queue, const struct failing_row *row, void *context)
{
	struct counting *counting = context;

	(void)shop;
	if ((counting->queue && strcmp(counting->queue, queue) != 0))
		return true;
	for (int i = 0; i < SLOTS; i++)
		if (row->slots[i].number >= counting->from)
			counting->sum += row->slots[i].failures;
	return true;
}

uint32_t failing_count(const struct state *state, const char *queue, int64_t now_us, int64_t within_us)
{
	struct counting counting = { .queue = queue, .from = (now_us - within_us) / SLOT_US + 1 };

	STATE_EACH(state, failing, everywhere, NULL, count, &counting);
	return counting.sum > UINT32_MAX ? UINT32_MAX : (uint32_t)counting.sum;
}

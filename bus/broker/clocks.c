/*
 * clocks.c: the log's time, and whether the clock can be trusted
 *
 * Owns:      broker->steady; the row "clock" of family meta: the log time until which nothing is dropped by
 *            its age.
 * Promises:  a clock that is set while the broker runs moves nothing in the log: no window ends, no item
 *            comes early or a year late. If the clock is behind the log at the start, the log's time does not
 *            stop. If the clock is more than a day ahead of the log, nothing is dropped by its age for a day,
 *            so that the operator can set the clock right.
 * Read next: bus/base/clock.h, idem.c, retain.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/broker/core.h"
#include <errno.h>
#include <stdlib.h>

static const int64_t DISTRUST_US = 1 * US_PER_DAY;
static const char ROW[] = "clock";

static int read_row(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r = store_get(broker->store, FAMILY_META, bytes_of(ROW), &value);

	if (r == 0 && value.len == 8)
		broker->trusted_from_us = (int64_t)get_be64(value.data);
	return r == -ENOENT ? 0 : r;
}

static void distrust(struct broker *broker, int64_t until_us)
{
	uint8_t value[8];

	broker->trusted_from_us = until_us;
	put_be64(value, (uint64_t)until_us);
	store_batch_put(broker->batch, FAMILY_META, bytes_of(ROW), BYTES(value, sizeof(value)));
}

static void log_clocks(const struct broker *broker)
{
	char why[256];

	if (clocks_are_wrong(broker, why))
		log_event(broker->monotonic_wall.jump_us != 0 ? LOG_ERROR : LOG_NOTICE, "%s", why);
}

int clocks_open(struct broker *broker)
{
	int64_t last_us = log_time_us(broker->log, 0), now_us;
	int r = read_row(broker);

	broker->monotonic_wall = monotonic_wall_new(broker->clock, last_us);
	now_us = broker_wall_us(broker);
	broker->was_behind = broker->monotonic_wall.jump_us < 0;
	if (log_head(broker->log) > 0 && now_us - last_us >= DISTRUST_US)
		distrust(broker, now_us + DISTRUST_US);
	log_clocks(broker);
	return r;
}

void clocks_look(struct broker *broker)
{
	bool parted = broker->monotonic_wall.jump_us != 0;

	monotonic_wall_look(&broker->monotonic_wall);
	if (parted == (broker->monotonic_wall.jump_us != 0))
		return;
	if (parted)
		log_event(LOG_NOTICE, "the clock agrees again with the time since boot");
	else
		log_clocks(broker);
}

bool clocks_are_trusted(const struct broker *broker)
{
	return broker_wall_us(broker) >= broker->trusted_from_us;
}

bool clocks_are_wrong(const struct broker *broker, char ret_why[256])
{
	int64_t jump_us = broker->monotonic_wall.jump_us;
	long long jump_s = llabs(jump_us) / US_PER_S;

	if (jump_us < 0 && broker->was_behind)
		snprintf(ret_why, 256,
			"the clock is %lld s behind the log: set it right if it is wrong now. If it was wrong before, "
			"messages' times are ahead by so much, and all else goes on",
			jump_s);
	else if (jump_us != 0)
		snprintf(ret_why, 256,
			"the clock jumped and is %lld s %s the log's time, which goes on without it: set the clock "
			"right, or restart all of cartbus if it is right now",
			jump_s, jump_us > 0 ? "ahead of" : "behind");
	else if (!clocks_are_trusted(broker))
		snprintf(ret_why, 256,
			"the clock was more than a day ahead of the log's last message when the broker was started: "
			"all is "
			"well if nothing ran for so long; if not, set it right and restart. Nothing is forgotten by "
			"its age for a day");
	else
		return false;
	return true;
}

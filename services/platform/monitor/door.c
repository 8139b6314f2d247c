/*
 * door.c: folds what the gateways saw
 *
 * Owns:      the tables door (shop -> struct hour_row) and heard (shop, topic -> struct silence).
 * Promises:  of an hour no more is kept than its twelfths.
 * Read next: silence.c, check_shop.c
 */
#include "services/platform/monitor/door.h"
#include "bus/base/clock.h"
#include <stdio.h>
#include <string.h>

#define TWELFTH_US (5 * US_PER_MINUTE)
enum { TWELFTHS = 12 };

struct hour_row {
	struct twelfth {
		int64_t number; /* since 1970 */
		struct door_hour seen;
	} twelfths[TWELFTHS];
};
STATE_STRUCTS(door, "door", struct hour_row);
STATE_STRUCTS(heard, "heard", struct silence);

static void remember_hour(struct state *state, const struct message_meta *said, const GatewaySeen *seen)
{
	struct hour_row row;
	int64_t number = seen->to_us / TWELFTH_US;
	struct twelfth *twelfth = &row.twelfths[number % TWELFTHS];

	STATE_GET(state, door, said->shop, "", &row);
	if (twelfth->number > number)
		return; /* said so late that its place was taken */
	if (twelfth->number < number)
		memset(twelfth, 0, sizeof(*twelfth));
	twelfth->number = number;
	twelfth->seen.authentic += seen->authentic;
	twelfth->seen.bad_signatures += seen->bad_signatures;
	twelfth->seen.previous_secret += seen->previous_secret;
	STATE_PUT(state, door, said->shop, "", &row);
}

void door_remember(struct state *state, const struct message_meta *said, const GatewaySeen *seen)
{
	remember_hour(state, said, seen);
	for (int i = 0; i < seen->topics_count; i++) {
		const TopicSeen *topic = &seen->topics[i];
		struct silence silence;

		STATE_GET(state, heard, said->shop, topic->topic, &silence);
		silence_hear(&silence, topic->first_us, topic->last_us, topic->count);
		STATE_PUT(state, heard, said->shop, topic->topic, &silence);
	}
}

struct door_hour door_hour(const struct state *state, const char *shop, int64_t now_us)
{
	struct door_hour sum = { 0 };
	struct hour_row row;

	STATE_GET(state, door, shop, "", &row);
	for (int i = 0; i < TWELFTHS; i++) {
		if (row.twelfths[i].number <= now_us / TWELFTH_US - TWELFTHS)
			continue;
		sum.authentic += row.twelfths[i].seen.authentic;
		sum.bad_signatures += row.twelfths[i].seen.bad_signatures;
		sum.previous_secret += row.twelfths[i].seen.previous_secret;
	}
	return sum;
}

void door_each_shop(const struct state *state, void (*each)(const char *shop, void *context), void *context)
{
	STATE_EACH_SHOP(state, door, each, context);
}

struct looking {
	int64_t now_us;
	struct door_silence found;
};

static bool look_at_topic(const char *shop, const char *topic, const struct silence *silence, void *context)
{
	struct looking *looking = context;
	struct door_silence *found = &looking->found;
	size_t len = strlen(found->topics);

	(void)shop;
	int64_t silent_us = silence_of(silence, looking->now_us);
	if (!silent_us)
		return true;
	found->count++;
	if (silent_us > found->longest_us) {
		found->longest_us = silent_us;
		found->usual_us = silence_usual_us(silence, silence->last_us);
	}
	if (len + strlen(topic) + 3 < sizeof(found->topics))
		snprintf(found->topics + len, sizeof(found->topics) - len, "%s%s", len ? ", " : "", topic);
	return true;
}

struct door_silence door_silence(const struct state *state, const char *shop, int64_t now_us)
{
	struct looking looking = { .now_us = now_us };

	STATE_EACH(state, heard, shop, NULL, look_at_topic, &looking);
	return looking.found;
}

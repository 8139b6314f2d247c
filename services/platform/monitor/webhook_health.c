/*
 * webhook_health.c: folds what the gateways saw, and finds topics that are quieter than usual
 *
 * Owns:      the tables door (shop -> struct hour_row) and heard (shop, topic -> struct topic_silence).
 * Promises:  of an hour only its twelfths are kept. A pause is told if it is more than twice the longest of
 *            the last four weeks, and more than four hours, of a topic that came at least twenty times and
 *            for a week. A pause that was told at most doubles the usual pause, so that one outage does not
 *            hide the next.
 * Read next: check.c
 */
#include "services/platform/monitor/webhook_health.h"

#include "bus/base/clock.h"
#include <stdio.h>
#include <string.h>

/* ---- how a topic usually comes ---- */

#define LEARNT_US (7 * US_PER_DAY)
#define LEAST_SILENCE_US (4 * US_PER_HOUR)
#define SELDOM_US (14 * US_PER_DAY) /* a topic whose limit is longer is not watched */
enum { LEARNT_COUNT = 20, TIMES_USUAL = 2 };

int64_t topic_silence_usual_us(const struct topic_silence *silence, int64_t now_us)
{
	int64_t longest_us = 0, today = now_us / US_PER_DAY;

	for (int i = 0; i < SILENCE_DAYS; i++)
		if (silence->day[i] > today - SILENCE_DAYS && silence->pause_us[i] > longest_us)
			longest_us = silence->pause_us[i];
	return longest_us;
}

static int64_t limit_us(const struct topic_silence *silence, int64_t now_us)
{
	int64_t limit = TIMES_USUAL * topic_silence_usual_us(silence, now_us);

	return limit > LEAST_SILENCE_US ? limit : LEAST_SILENCE_US;
}

void topic_silence_hear(struct topic_silence *silence, int64_t first_us, int64_t last_us, uint32_t count)
{
	int64_t today = first_us / US_PER_DAY, pause_us = first_us - silence->last_us;
	int slot = (int)(today % SILENCE_DAYS);

	if (!silence->count) {
		silence->first_us = first_us;
		pause_us = 0;
	}
	silence->count += count;
	if (last_us > silence->last_us)
		silence->last_us = last_us;
	if (silence->count > LEARNT_COUNT && first_us - silence->first_us > LEARNT_US &&
		pause_us > limit_us(silence, first_us))
		pause_us = limit_us(silence, first_us);
	if (silence->day[slot] != today)
		silence->pause_us[slot] = 0;
	silence->day[slot] = today;
	if (pause_us > silence->pause_us[slot])
		silence->pause_us[slot] = pause_us;
}

int64_t topic_silence_of(const struct topic_silence *silence, int64_t now_us)
{
	int64_t silent_us = now_us - silence->last_us, limit = limit_us(silence, silence->last_us);

	if (silence->count < LEARNT_COUNT || silence->last_us - silence->first_us < LEARNT_US || limit > SELDOM_US)
		return 0;
	return silent_us > limit ? silent_us : 0;
}

/* ---- the folds ---- */

#define TWELFTH_US (5 * US_PER_MINUTE)
enum { TWELFTHS = 12 };

struct hour_row {
	struct twelfth {
		int64_t number; /* since 1970 */
		struct webhook_hour seen;
	} twelfths[TWELFTHS];
};
STATE_STRUCTS(door, "door", struct hour_row);
STATE_STRUCTS(heard, "heard", struct topic_silence);

static void remember_hour(struct state *state, const struct message_meta *said, const GatewaySeen *seen)
{
	struct hour_row row;
	int64_t number = seen->to_us / TWELFTH_US;
	struct twelfth *twelfth = &row.twelfths[number % TWELFTHS];

	STATE_GET(state, door, said->shop, "", &row);
	if (twelfth->number > number)
		return; /* published so late that a later one has its place */
	if (twelfth->number < number)
		memset(twelfth, 0, sizeof(*twelfth));
	twelfth->number = number;
	twelfth->seen.authentic += seen->authentic;
	twelfth->seen.bad_signatures += seen->bad_signatures;
	twelfth->seen.previous_secret += seen->previous_secret;
	STATE_PUT(state, door, said->shop, "", &row);
}

void webhook_health_remember(struct state *state, const struct message_meta *said, const GatewaySeen *seen)
{
	remember_hour(state, said, seen);
	for (int i = 0; i < seen->topics_count; i++) {
		const TopicSeen *topic = &seen->topics[i];
		struct topic_silence silence;

		STATE_GET(state, heard, said->shop, topic->topic, &silence);
		topic_silence_hear(&silence, topic->first_us, topic->last_us, topic->count);
		STATE_PUT(state, heard, said->shop, topic->topic, &silence);
	}
}

struct webhook_hour webhook_hour(const struct state *state, const char *shop, int64_t now_us)
{
	struct webhook_hour sum = { 0 };
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

void webhook_health_each_shop(const struct state *state, void (*each)(const char *shop, void *context), void *context)
{
	STATE_EACH_SHOP(state, door, each, context);
}

struct looking {
	int64_t now_us;
	struct webhook_silence found;
};

static bool look_at_topic(const char *shop, const char *topic, const struct topic_silence *silence, void *context)
{
	struct looking *looking = context;
	struct webhook_silence *found = &looking->found;
	size_t len = strlen(found->topics);

	(void)shop;
	int64_t silent_us = topic_silence_of(silence, looking->now_us);
	if (!silent_us)
		return true;
	found->count++;
	if (silent_us > found->longest_us) {
		found->longest_us = silent_us;
		found->usual_us = topic_silence_usual_us(silence, silence->last_us);
	}
	if (len + strlen(topic) + 3 < sizeof(found->topics))
		snprintf(found->topics + len, sizeof(found->topics) - len, "%s%s", len ? ", " : "", topic);
	return true;
}

struct webhook_silence webhook_silence(const struct state *state, const char *shop, int64_t now_us)
{
	struct looking looking = { .now_us = now_us };

	STATE_EACH(state, heard, shop, NULL, look_at_topic, &looking);
	return looking.found;
}

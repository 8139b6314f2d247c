/*
 * notify_status.c: folds which channels to the admin work
 *
 * Owns:      the tables telling (way, alarm's number -> when it was raised or ended) and unreached (way ->
 *            its last answer).
 * Promises:  pure. A test that arrives mends a channel; the failure of a test is told to the person who asked
 *            for it, and raises nothing.
 * Read next: monitor.c (publishes the facts), check.c
 */
#include "services/platform/monitor/notify_status.h"
#include "services/platform/monitor/alarm_state.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

STATE_NUMBERS(telling, "telling");
STATE_STRINGS(unreached, "unreached");

enum { TELLING_KEY_MAX = 24 };

static void telling_key(uint64_t alarm_seq, bool raised, char ret[TELLING_KEY_MAX])
{
	snprintf(ret, TELLING_KEY_MAX, "%016" PRIx64 "%c", alarm_seq, raised ? 'r' : 'o');
}

void notify_status_remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due)
{
	char key[TELLING_KEY_MAX];

	(void)said;
	telling_key(due->alarm_seq, due->alarm.raised, key);
	if (strcmp(due->alarm.kind, ALARM_TEST) != 0)
		STATE_PUT_NUMBER(state, telling, due->way, key, (uint64_t)due->alarm.at_us);
}

void notify_status_remember_told(struct state *state, const struct message_meta *said, const AlarmTold *told)
{
	char key[TELLING_KEY_MAX];

	(void)said;
	telling_key(told->alarm_seq, told->raised, key);
	STATE_DELETE(state, telling, told->way, key);
	if (told->reached)
		STATE_DELETE(state, unreached, told->way, "");
	else if (strcmp(told->kind, ALARM_TEST) != 0)
		STATE_PUT_STRING(state, unreached, told->way, "", bytes_of(told->words));
}

static bool is_old(const char *way, const char *key, uint64_t at, void *context)
{
	int64_t *before_us = context;

	(void)way, (void)key;
	if ((int64_t)at < *before_us)
		*before_us = INT64_MIN;
	return *before_us != INT64_MIN;
}

static bool waits_long(const struct state *state, const char *way, int64_t before_us)
{
	STATE_EACH(state, telling, way, NULL, is_old, &before_us);
	return before_us == INT64_MIN;
}

struct notify_status_none notify_status_none(
	const struct state *state, const struct channels *channels, int64_t before_us)
{
	struct notify_status_none none = { 0 };

	for (int i = 0; channels && i < channels_count(channels); i++) {
		struct buffer words = { 0 };
		char way[CHANNEL_NAME_MAX];
		size_t len = strlen(none.channels);

		channels_name(channels, i, way);
		bool failed = STATE_GET_STRING(state, unreached, way, "", &words);
		if (failed || waits_long(state, way, before_us)) {
			none.count++;
			snprintf(none.channels + len, sizeof(none.channels) - len, "%s%s (%.80s)", len ? ", " : "", way,
				failed ? buffer_text(&words) : "no answer yet");
		}
		buffer_free(&words);
	}
	return none;
}

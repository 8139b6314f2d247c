/*
 * broker_away.c: tells the admin that the broker does not answer, and that it does again
 *
 * Nothing can be said to a log that is not there, so what was told is remembered in a file beside the monitor's state: a JSON object
 * with when it went, why, and what each way is still owed.
 *
 * Owns:      that file, and the notice that is on its way on each of the ways.
 * Promises:  once per way that it is away and once that it is back, in that order, however often the monitor is started meanwhile; a
 *            notice is owed until it has arrived. A monitor that dies between sending and noting it sends it
 *            again, with the same id.
 * Fails by:  logging each attempt that failed, and trying again later. A file that cannot be written is logged: then a restart tells
 *            again. A standby tells as well: whether the active one does, it cannot know.
 * Read next: channels.c (what is sent), monitor.c (all other alarms)
 */
#include "services/platform/monitor/broker_away.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAIL_DEADLINE_US (12 * US_PER_MINUTE)
#define POST_DEADLINE_US (20 * US_PER_S)
#define GRACE_US (10 * US_PER_S) /* for the driver to say itself that time is up */
#define AGAIN_LEAST_US US_PER_S  /* at any rate of the clock */
static const int64_t backoff_us[] = { 10 * US_PER_S, US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE,
	US_PER_HOUR };
enum { FILE_MOST = 64 * 1024, BACKOFFS = sizeof(backoff_us) / sizeof(backoff_us[0]) };
static const char KIND[] = "broker-away";

struct way {
	struct broker_away *away;
	int nth;
	char name[CHANNEL_NAME_MAX];
	bool owes_away, owes_back;
	/* the notice that is on its way */
	struct effect *effect;
	bool says_away;
	struct mail *mail;
	struct http_request post;
	int64_t until_us; /* boot time */
	/* after one that failed */
	int failures;
	int64_t again_us; /* boot time */
};

struct broker_away {
	struct broker_away_settings settings;
	int64_t since_us;         /* boot time since when there is no session; 0: there is */
	bool is_told;             /* that it is away: the episode stands */
	int64_t went_us, came_us; /* wall time */
	char why[256];
	int way_count;
	struct way channels[2 * CHANNELS_MAX];
};

/* ---- the file ---- */

static bool is_owed(const struct broker_away *away)
{
	for (int i = 0; i < away->way_count; i++)
		if (away->channels[i].owes_away || away->channels[i].owes_back)
			return true;
	return false;
}

static char *as_text(const struct broker_away *away)
{
	json_t *owed = json_object();

	for (int i = 0; i < away->way_count; i++)
		json_object_set_new(owed, away->channels[i].name,
			json_pack(
				"{s:b,s:b}", "away", away->channels[i].owes_away, "back", away->channels[i].owes_back));
	json_t *whole = json_pack("{s:b,s:I,s:I,s:s,s:o}", "is_away", away->is_told, "went_us",
		(json_int_t)away->went_us, "came_us", (json_int_t)away->came_us, "why", away->why, "owed", owed);
	char *text = whole ? json_dumps(whole, JSON_INDENT(1)) : NULL;

	json_decref(whole);
	return text;
}

static void save(const struct broker_away *away)
{
	const char *path = away->settings.path;
	int failed = 0;

	if (!away->is_told && !is_owed(away)) {
		failed = unlink(path) < 0 && errno != ENOENT ? -errno : 0;
	} else {
		_cleanup_free_ char *text = as_text(away);
		failed = text ? file_write_durably(path, bytes_of(text), 0600) : -EINVAL;
	}
	if (failed)
		log_event(LOG_ERROR, "%s cannot be written: %s; after a restart the admin is told again", path,
			strerror(-failed));
}

/* A way that was not configured when the file was written is owed the notice that stands. */
static void take_owed(struct broker_away *away, const json_t *owed)
{
	for (int i = 0; i < away->way_count; i++) {
		struct way *way = &away->channels[i];
		const json_t *its = json_object_get(owed, way->name);

		way->owes_away = its ? json_is_true(json_object_get(its, "away")) : away->is_told;
		way->owes_back = json_is_true(json_object_get(its, "back"));
	}
}

static void load(struct broker_away *away)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	int failed = file_read(away->settings.path, FILE_MOST, &text);

	if (failed == -ENOENT)
		return;
	json_t *whole = failed ? NULL : json_loads(buffer_text(&text), JSON_REJECT_DUPLICATES, NULL);
	const char *why = json_string_value(json_object_get(whole, "why"));
	if (!json_is_object(json_object_get(whole, "owed")) || !why) {
		log_event(LOG_ERROR, "%s cannot be read%s%s: an absence of the broker that was told may be told again",
			away->settings.path, failed ? ": " : "", failed ? strerror(-failed) : "");
	} else {
		away->is_told = json_is_true(json_object_get(whole, "is_away"));
		away->went_us = json_integer_value(json_object_get(whole, "went_us"));
		away->came_us = json_integer_value(json_object_get(whole, "came_us"));
		TEXT_COPY(away->why, why);
		take_owed(away, json_object_get(whole, "owed"));
	}
	json_decref(whole);
}

/* ---- one way ---- */

static void clear(struct way *way)
{
	mail_free(way->mail);
	way->mail = NULL;
	http_request_clear(&way->post);
	way->post = (struct http_request){ 0 };
	way->effect = NULL;
}

static void failed(struct way *way, const char *words)
{
	const struct clock *clock = way->away->settings.clock;
	int64_t wait_us = (int64_t)((double)backoff_us[way->failures] / clock->rate);

	wait_us = wait_us > AGAIN_LEAST_US ? wait_us : AGAIN_LEAST_US;
	way->again_us = clock_boot_us(clock) + wait_us;
	if (way->failures < BACKOFFS - 1)
		way->failures++;
	log_event(LOG_ERROR, "the admin was not told by %s that the broker is %s: %s; again in %lld s", way->name,
		way->says_away ? "away" : "back", words, (long long)(wait_us / US_PER_S));
}

static void ended(struct way *way, bool reached, const char *words)
{
	clear(way);
	if (!reached) {
		if (way->away->is_told && !way->says_away)
			way->owes_back = false; /* it went again meanwhile */
		failed(way, words);
		return;
	}
	*(way->says_away ? &way->owes_away : &way->owes_back) = false;
	way->failures = 0;
	way->again_us = 0;
	log_event(LOG_NOTICE, "the admin was told by %s that the broker is %s: %s", way->name,
		way->says_away ? "away" : "back", words);
	save(way->away);
}

static void mail_ended(const void *result, void *context)
{
	const struct mail_result *mail = result;

	ended(context, mail && mail->end == MAIL_SENT, mail && *mail->words ? mail->words : "no answer");
}

static void post_ended(const void *result, void *context)
{
	const struct http_answer *answer = result;

	ended(context, answer && answer->end == HTTP_ANSWERED && answer->status >= 200 && answer->status < 300,
		answer ? answer->words : "no answer");
}

static void write_notice(const struct broker_away *away, bool says_away, AlarmDue *ret)
{
	Alarm *alarm = &ret->alarm;

	*ret = (AlarmDue){ .has_alarm = true };
	TEXT_COPY(ret->about, SHOP_OF_ALL);
	TEXT_COPY(alarm->kind, KIND);
	alarm->raised = says_away;
	alarm->at_us = says_away ? away->went_us : away->came_us;
	if (!says_away) {
		snprintf(alarm->text, sizeof(alarm->text), "the broker answers again, after %lld minutes",
			(long long)((away->came_us - away->went_us) / US_PER_MINUTE));
		return;
	}
	snprintf(alarm->text, sizeof(alarm->text),
		"the broker does not answer: %.200s. Nothing is decided or mailed meanwhile; gateways keep what comes",
		away->why);
	TEXT_COPY(alarm->remedy,
		"start it: systemctl start cartbus-broker, or look at why it ended: journalctl -u cartbus-broker. What "
		"was due goes out when it is back");
}

static void notify_channel(struct way *way)
{
	const struct broker_away_settings *settings = &way->away->settings;
	int64_t boot_us = clock_boot_us(settings->clock), wall_us = clock_wall_us(settings->clock);
	bool is_mail = way->nth < settings->channels->mail_count;
	int index = is_mail ? way->nth : way->nth - settings->channels->mail_count;
	char why[160] = "[monitor] webhook is not a URL that can be posted to";
	AlarmDue due;

	way->says_away = way->owes_away;
	write_notice(way->away, way->says_away, &due);
	int r = is_mail ? channels_mail(settings->channels, index, &due, wall_us, &way->mail, why)
			: channels_request(settings->channels, index, &due, wall_us, &way->post);
	if (r < 0) {
		ended(way, false, why);
		return;
	}
	way->post.deadline_us = POST_DEADLINE_US;
	way->until_us = boot_us + GRACE_US + (is_mail ? MAIL_DEADLINE_US : POST_DEADLINE_US);
	struct effect *effect = is_mail ? effect_begin(settings->mail, way->mail, mail_ended, way)
					: effect_begin(settings->http, &way->post, post_ended, way);
	if (effect)
		way->effect = effect;
}

static bool owes(const struct way *way)
{
	return way->owes_away || (way->owes_back && !way->away->is_told);
}

/* Returns as broker_away_look. */
static int64_t look_at(struct way *way, int64_t boot_us)
{
	if (way->effect && boot_us >= way->until_us) {
		effect_drop(way->effect);
		ended(way, false, "no answer in time");
	}
	if (!way->effect && owes(way) && boot_us >= way->again_us)
		notify_channel(way);
	if (way->effect)
		return way->until_us - boot_us;
	if (!owes(way))
		return -1;
	return way->again_us > boot_us ? way->again_us - boot_us : 0;
}

/* ---- the episode ---- */

static void raise_alarm(struct broker_away *away, const char *why)
{
	away->is_told = true;
	away->went_us = clock_wall_us(away->settings.clock);
	TEXT_COPY(away->why, why);
	for (int i = 0; i < away->way_count; i++) {
		struct way *way = &away->channels[i];
		bool on_its_way = way->effect && !way->says_away;
		if (way->owes_back && !on_its_way)
			way->owes_back = false; /* to this one it was never back */
		else
			way->owes_away = true;
	}
	save(away);
	log_event_about(
		LOG_ERROR, &(struct log_about){ .event = event_alarm_raised }, "alarm %s raised: %s", KIND, away->why);
}

static void end_alarm(struct broker_away *away)
{
	away->is_told = false;
	away->came_us = clock_wall_us(away->settings.clock);
	for (int i = 0; i < away->way_count; i++)
		away->channels[i].owes_back = true;
	save(away);
	log_event_about(LOG_NOTICE, &(struct log_about){ .event = event_alarm_over }, "alarm %s over", KIND);
}

static void look_at_phase(struct broker_away *away, enum runtime_phase phase, const char *why, int64_t boot_us)
{
	switch (phase) {
	case RUNTIME_AWAY:
		if (!away->since_us)
			away->since_us = boot_us;
		if (!away->is_told && boot_us - away->since_us >= away->settings.patience_us)
			raise_alarm(away, why);
		break;
	case RUNTIME_READY:
	case RUNTIME_STANDBY:
		away->since_us = 0;
		if (away->is_told)
			end_alarm(away);
		break;
	case RUNTIME_CATCHING_UP:
	case RUNTIME_REFUSED:
		break;
	}
}

int64_t broker_away_look(struct broker_away *away, enum runtime_phase phase, const char *why)
{
	int64_t boot_us = clock_boot_us(away->settings.clock), wait_us = -1;

	look_at_phase(away, phase, why, boot_us);
	if (phase == RUNTIME_AWAY && !away->is_told)
		wait_us = away->since_us + away->settings.patience_us - boot_us;
	for (int i = 0; i < away->way_count; i++)
		wait_us = sooner_us(wait_us, look_at(&away->channels[i], boot_us));
	return wait_us;
}

struct broker_away *broker_away_new(const struct broker_away_settings *settings)
{
	struct broker_away *away = memory_new(sizeof(*away));

	away->settings = *settings;
	away->way_count = channels_count(settings->channels);
	for (int i = 0; i < away->way_count; i++) {
		away->channels[i].away = away;
		away->channels[i].nth = i;
		channels_name(settings->channels, i, away->channels[i].name);
	}
	load(away);
	return away;
}

void broker_away_free(struct broker_away *away)
{
	for (int i = 0; away && i < away->way_count; i++) {
		if (away->channels[i].effect)
			effect_drop(away->channels[i].effect);
		clear(&away->channels[i]);
	}
	free(away);
}

/*
 * feeds.c: live values for pages that are open
 *
 * A feed is about one page. When the state has changed, its query runs again, at most once in PERIOD_US, and the values that the page's
 * markup calls live go to the browser, those that changed since the last time. So a live value is formatted by the same markup as the
 * page, and a page cannot show another figure than a reload would.
 *
 * Owns:      what each feed was sent last.
 * Promises:  a change is sent at most 1 s after it was folded. The right is judged again each time; a session that ended ends its feeds. A
 *            client that reads slowly costs one set of values and no queue.
 * Fails by:  an event `bye` with the reason, and the end of the feed.
 */
#include "services/console/feeds.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/console/frame.h"
#include "services/kit/console/markup.h"
#include "services/kit/time/zone.h"
#include <stdio.h>
#include <stdlib.h>

static const int64_t PERIOD_US = 500 * US_PER_MS, SIGN_OF_LIFE_US = 15 * US_PER_S, AS_OF_US = 4 * US_PER_S;

struct feed {
	struct visit *visit;
	struct list hook;
	json_t *sent;      /* key -> text */
	uint64_t cursor;   /* of the state, when it was looked at last */
	int64_t looked_us; /* boot time; 0: not yet */
	int64_t said_us;   /* boot time of the last bytes */
	bool is_full;      /* the client has not read the last event */
};

/* ---- events ---- */

/* JSON has no line breaks, so an event is one line of data. */
static bool send_event(struct feed *feed, const char *event, const json_t *data)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 };
	_cleanup_free_ char *text = json_dumps(data, JSON_COMPACT);

	buffer_printf(&bytes, "event: %s\ndata: %s\n\n", event, text ? text : "{}");
	if (web_feed(feed->visit->asked, buffer_bytes(&bytes)) < 0)
		return false;
	feed->said_us = clock_boot_us(feed->visit->console->clock);
	return true;
}

static void send_bye(struct feed *feed, const char *why)
{
	json_t *data = json_pack("{s:s}", "why", why);

	send_event(feed, "bye", data);
	json_decref(data);
	web_feed_end(feed->visit->asked);
}

/* Moves what is the same as before out of `values`. */
static json_t *changes_of(const struct feed *feed, json_t *values)
{
	json_t *changed = json_object();
	const char *key;
	json_t *value;

	json_object_foreach(values, key, value)
	{
		if (!json_equal(json_object_get(feed->sent, key), value))
			json_object_set(changed, key, value);
	}
	return changed;
}

/* "10:32:07" in the shop's zone. */
static json_t *clock_text(const struct visit *visit)
{
	struct local_time at;
	char text[16] = "";

	if (zone_local(visit->call.zone, visit->call.now_us, &at) == 0)
		snprintf(text, sizeof(text), "%02d:%02d:%02d", at.hour, at.minute, at.second);
	return json_string(text);
}

static json_t *values_event(const struct visit *visit, json_t *values)
{
	return json_pack("{s:s,s:o,s:I,s:b,s:O}", "build", visit->console->assets.build, "as_of", clock_text(visit),
		"as_of_us", (json_int_t)visit->call.now_us, "away", visit->console->away_since_us != 0, "values",
		values);
}

static void send_values(struct feed *feed, json_t *values)
{
	json_t *changed = changes_of(feed, values), *data = values_event(feed->visit, changed);
	bool is_news =
		json_object_size(changed) > 0 || clock_boot_us(feed->visit->console->clock) - feed->said_us >= AS_OF_US;

	if (is_news && send_event(feed, "values", data)) {
		json_object_update(feed->sent, changed);
		feed->is_full = false;
	} else if (is_news) {
		feed->is_full = true;
	}
	json_decref(data);
	json_decref(changed);
}

/* ---- looking ---- */

/* Is it still somebody who may see the page? */
static const char *trouble_of(struct visit *visit)
{
	const struct session *session = session_find(visit->console->sessions, visit->session_id, false);

	visit->is_known = session != NULL;
	if (session)
		visit->session = *session;
	return access_right(visit) ? "the session has ended, or its rights have changed" : NULL;
}

/* NULL: the page refuses. */
static json_t *values_of(struct visit *visit)
{
	json_t *data = json_object(), *values = NULL;
	struct markup_reader reader;

	visit->call.now_us = clock_wall_us(visit->console->clock);
	if (visit_query(visit, data) == 0 && visit->call.page->markup) {
		visit_reader_of(visit, &reader);
		values = markup_live(visit->call.page->markup, data, &reader);
	}
	json_decref(data);
	return values;
}

static void look(struct feed *feed)
{
	const char *trouble = trouble_of(feed->visit);
	json_t *values = trouble ? NULL : values_of(feed->visit);

	if (trouble)
		send_bye(feed, trouble);
	if (values)
		send_values(feed, values);
	json_decref(values);
}

static bool is_due(const struct feed *feed, int64_t now_us)
{
	bool has_changed = feed->cursor != state_cursor(runtime_state(feed->visit->console->runtime));

	if (now_us - feed->looked_us < PERIOD_US)
		return false;
	return has_changed || feed->is_full || now_us - feed->looked_us >= AS_OF_US;
}

static void work_one(struct feed *feed, int64_t now_us)
{
	static const char sign_of_life[] = ": \n\n";

	if (is_due(feed, now_us)) {
		feed->cursor = state_cursor(runtime_state(feed->visit->console->runtime));
		feed->looked_us = now_us;
		look(feed);
	} else if (now_us - feed->said_us >= SIGN_OF_LIFE_US) {
		web_feed(feed->visit->asked, bytes_of(sign_of_life));
		feed->said_us = now_us;
	}
}

int64_t feeds_work(struct console *console)
{
	int64_t now_us = clock_boot_us(console->clock);

	LIST_EACH_SAFE (hook, &console->feeds)
		work_one(LIST_ENTRY(hook, struct feed, hook), now_us);
	return list_empty(&console->feeds) ? -1 : PERIOD_US;
}

/* ---- from beginning to end ---- */

void feeds_end(struct console *console)
{
	LIST_EACH_SAFE (hook, &console->feeds)
		web_feed_end(LIST_ENTRY(hook, struct feed, hook)->visit->asked);
}

/* For a page whose stream is not let through on the way: it asks now and then. */
static bool answer_once(struct visit *visit)
{
	json_t *values = values_of(visit), *data;

	if (!values) {
		answer_refusal(visit, 404, "this page has no live values");
		return true;
	}
	data = values_event(visit, values);
	answer_page(visit, 200, NULL, data);
	json_decref(data);
	json_decref(values);
	return true;
}

bool feeds_begin(struct visit *visit)
{
	static const struct http_header unbuffered[] = { { "X-Accel-Buffering", "no" }, { NULL, NULL } };
	struct answer *answer = &visit->asked->answer;
	struct feed *feed;

	if (visit->wants_json)
		return answer_once(visit);
	feed = memory_new(sizeof(*feed));
	feed->visit = visit;
	feed->sent = json_object();
	feed->said_us = clock_boot_us(visit->console->clock);
	list_append(&visit->console->feeds, &feed->hook);
	visit->feed = feed;
	answer->status = 200;
	answer->content_type = "text/event-stream";
	answer->more = unbuffered;
	answer->feed = true;
	buffer_clear(&answer->body);
	buffer_add_text(&answer->body, "retry: 3000\n: ok\n\n");
	return true;
}

void feeds_leave(struct visit *visit)
{
	struct feed *feed = visit->feed;

	if (!feed)
		return;
	list_remove(&feed->hook);
	json_decref(feed->sent);
	free(feed);
	visit->feed = NULL;
}

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
#include <errno.h>
#include <stdlib.h>

static const int64_t PERIOD_US = 500 * US_PER_MS, SIGN_OF_LIFE_US = 15 * US_PER_S, AS_OF_US = 5 * US_PER_S;

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

static void send_values(struct feed *feed, json_t *values)
{
	const struct console *console = feed->visit->console;
	json_t *changed = changes_of(feed, values);
	json_t *data = json_pack("{s:I,s:b,s:o}", "as_of_us", (json_int_t)clock_wall_us(console->clock), "away",
		console->away_since_us != 0, "values", changed);
	bool is_news = json_object_size(changed) > 0 || clock_boot_us(console->clock) - feed->said_us >= AS_OF_US;

	if (is_news && send_event(feed, "values", data)) {
		json_object_update(feed->sent, changed);
		feed->is_full = false;
	} else if (is_news) {
		feed->is_full = true;
	}
	json_decref(data);
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

static void look(struct feed *feed)
{
	struct visit *visit = feed->visit;
	const char *trouble = trouble_of(visit);
	struct markup_reader reader;
	json_t *data, *values;

	if (trouble) {
		send_bye(feed, trouble);
		return;
	}
	visit->call.now_us = clock_wall_us(visit->console->clock);
	data = json_object();
	if (visit_query(visit, data) == 0 && visit->call.page->markup) {
		visit_reader_of(visit, &reader);
		values = markup_live(visit->call.page->markup, data, &reader);
		send_values(feed, values);
		json_decref(values);
	}
	json_decref(data);
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

bool feeds_begin(struct visit *visit)
{
	static const struct http_header unbuffered[] = { { "X-Accel-Buffering", "no" }, { NULL, NULL } };
	struct answer *answer = &visit->asked->answer;
	struct feed *feed = memory_new(sizeof(*feed));

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
	buffer_printf(&answer->body, "retry: 3000\n: ok\n\nevent: build\ndata: {\"build\":\"%s\"}\n\n",
		visit->console->assets.build);
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

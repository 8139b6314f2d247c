/*
 * log.c: the log for the operator, message by message, masked
 *
 * Promises:  a question looks at a bounded part of the log, and a page says where to go on. Payloads are masked by the broker.
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/console/pages/pages.h"
#include "services/kit/words/members.h"
#include "services/kit/words/message_json.h"
#include <errno.h>
#include <stdlib.h>

extern const struct markup log_markup;

enum { MESSAGES = 100 };

/* Where the page begins: the number that is asked for, else so that it ends with the newest message. */
static uint64_t first_of(const struct page_call *call)
{
	const char *text = page_field(call, "from");
	uint64_t head = state_cursor(call->state);

	if (*text && !text[strspn(text, "0123456789")] && strlen(text) < 20)
		return strtoull(text, NULL, 10);
	return head > MESSAGES ? head - MESSAGES + 1 : 1;
}

static void add_wish(const struct page_call *call, json_t *what, const char *name)
{
	const char *text = page_field(call, name);

	if (*text && text_is_utf8(bytes_of(text)))
		json_object_set_new(what, name, json_string(text));
}

static const char *ask_read(struct page_call *call, json_t **ret_what)
{
	*ret_what = json_pack("{s:I,s:i,s:b}", "from", (json_int_t)first_of(call), "limit", MESSAGES, "masked", 1);
	add_wish(call, *ret_what, "topic");
	add_wish(call, *ret_what, "shop");
	add_wish(call, *ret_what, "key");
	return "read";
}

static char *payload_text_of(const json_t *message)
{
	const struct topic *topic = topic_of(member_text(message, "topic"));
	_cleanup_(buffer_free) struct buffer bytes = { 0 };
	json_t *payload;
	char *text;

	payload_from_base64(member_text(message, "payload"), &bytes);
	payload = topic ? payload_json(topic, buffer_bytes(&bytes)) : json_null();
	text = json_dumps(payload, JSON_INDENT(2) | JSON_ENCODE_ANY);
	json_decref(payload);
	return text;
}

static json_t *message_json(const json_t *message)
{
	_cleanup_free_ char *payload = payload_text_of(message);

	return json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:I,s:b,s:I,s:s}", "seq", member_number(message, "seq"), "time_us",
		member_number(message, "time_us"), "topic", member_text(message, "topic"), "shop",
		member_text(message, "shop"), "key", member_text(message, "key"), "said_by",
		member_text(message, "said_by"), "version", member_number(message, "version"), "tombstone",
		json_is_true(json_object_get(message, "tombstone")), "cause", member_number(message, "cause"),
		"payload", payload ? payload : "");
}

static unsigned query_log(struct page_call *call, json_t *ret)
{
	json_t *list = json_array();
	const json_t *message;
	uint64_t first = first_of(call);
	size_t i;

	json_array_foreach(json_object_get(call->answer, "messages"), i, message)
		json_array_append_new(list, message_json(message));
	json_object_set_new(ret, "known", json_boolean(call->answer != NULL));
	json_object_set_new(ret, "messages", list);
	json_object_set_new(ret, "topic", json_string(page_field(call, "topic")));
	json_object_set_new(ret, "shop", json_string(page_field(call, "shop")));
	json_object_set_new(ret, "key", json_string(page_field(call, "key")));
	json_object_set_new(ret, "from", json_integer((json_int_t)first));
	json_object_set_new(ret, "older",
		first > 1 ? json_integer((json_int_t)(first > MESSAGES ? first - MESSAGES : 1)) : json_null());
	json_object_set(ret, "newer",
		json_object_get(call->answer, "next") ? json_object_get(call->answer, "next") : json_null());
	return 0;
}

const struct page log_pages[] = {
	{ "/o/log", PAGE_READS, RIGHT_LOG, .markup = &log_markup, .ask = ask_read, .query = query_log, .title = "Log",
		.menu = PAGE_MENU_OPERATOR, .help = "tracing.md" },
	{ .path = NULL },
};

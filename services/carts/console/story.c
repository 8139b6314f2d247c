/*
 * story.c: keeps what was said about carts and their shoppers
 *
 * Owns:      the tables page.story (name, LINE_TIE, inverted number -> nothing) and page.told (number -> the message).
 * Promises:  the rows of a message follow from it alone.
 */
#include "services/carts/console/story.h"
#include "bus/base/cleanup.h"
#include "bus/base/sorted_map.h"
#include "bus/base/text.h"
#include "services/carts/console/lines.h"
#include "services/carts/policy/change.h"
#include <inttypes.h>
#include <stdio.h>

STATE_STRINGS(story_rows, "page.story");
STATE_STRINGS(told_rows, "page.told"); /* topic NUL said_by NUL, the time as 8 bytes, the encoded message */

enum { SEQ_ROOM = 17, NAMES_MOST = JOIN_NAMES_MAX + 2 };

struct names {
	int count;
	char each[NAMES_MOST][LINE_NAME_MAX];
};

static void keep(struct state *state, const struct message_meta *said, const struct topic *topic, const void *message,
	const struct names *names)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	char seq[SEQ_ROOM], newest_first[LINE_INVERTED_ROOM], key[LINE_KEY_MAX];

	buffer_add(&row, said->topic, strlen(said->topic) + 1);
	buffer_add(&row, said->said_by, strlen(said->said_by) + 1);
	buffer_add_be64(&row, (uint64_t)said->time_us);
	if (names->count == 0 || !turn_encode(topic, message, &row))
		return;
	snprintf(seq, sizeof(seq), "%016" PRIx64, said->seq);
	STATE_PUT_STRING(state, told_rows, said->shop, seq, buffer_bytes(&row));
	line_inverted((int64_t)said->seq, newest_first);
	for (int i = 0; i < names->count; i++) {
		snprintf(key, sizeof(key), "%s" LINE_TIE "%s", names->each[i], newest_first);
		STATE_PUT_STRING(state, story_rows, said->shop, key, BYTES("", 0));
	}
}

static void add(struct names *names, const char *kind, const char *id)
{
	if (*id)
		snprintf(names->each[names->count++], LINE_NAME_MAX, "%s:%s", kind, id);
}

/* About a cart if it names one, else about the shopper and so about all of the shopper's carts. */
static struct names about(const char *cart_id, const char *address_hash)
{
	struct names names = { 0 };

	add(&names, *cart_id ? "id" : "to", *cart_id ? cart_id : address_hash);
	return names;
}

void story_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	struct names names = about(audit->cart_id, audit->address_hash);

	keep(state, said, &topic_audit, audit, &names);
}

void story_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	struct names names = about(outcome->cart_id, outcome->address_hash);

	keep(state, said, &topic_reminder_sent, outcome, &names); /* all outcomes are the same message */
}

void story_remember_click(struct state *state, const struct message_meta *said, const LinkClicked *clicked)
{
	struct names names = about(clicked->cart_id, "");

	keep(state, said, &topic_link_clicked, clicked, &names);
}

void story_remember_checkout(struct state *state, const struct message_meta *said, const CartCheckout *checkout)
{
	struct names names = { 0 };

	names.count = join_names(&checkout->ids, names.each);
	add(&names, "to", checkout->ids.email_hash);
	add(&names, "cu", checkout->ids.customer_id);
	keep(state, said, &topic_cart_checkout, checkout, &names);
}

void story_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback)
{
	struct names names = about(feedback->cart_id, feedback->address_hash);

	keep(state, said, &topic_mail_feedback, feedback, &names);
}

void story_remember_optout(struct state *state, const struct message_meta *said, const OptoutRequest *asked)
{
	struct names names = about(asked->cart_id, asked->address_hash);

	keep(state, said, &topic_optout_request, asked, &names);
}

void story_remember_action(struct state *state, const struct message_meta *said, const AdminAction *action)
{
	struct names names = about(action->cart_id, action->address_hash);

	keep(state, said, &topic_admin_action, action, &names);
}

void story_remember_model(struct state *state, const struct message_meta *said, const ModelUsed *used)
{
	struct names names = about(used->cart_id, "");

	keep(state, said, &topic_model_used, used, &names);
}

/* ---- reading ---- */

struct gathering {
	struct sorted_map *seqs; /* number as 16 hex digits -> nothing */
	int left;
	bool more;
};

static bool gather(const char *shop, const char *key, void *context)
{
	struct gathering *gathering = context;
	const char *inverted = strstr(key, LINE_TIE) + 1;
	char seq[SEQ_ROOM];

	(void)shop;
	if (gathering->left == 0) {
		gathering->more = true;
		return false;
	}
	gathering->left--;
	snprintf(seq, sizeof(seq), "%016" PRIx64, UINT64_MAX - (uint64_t)strtoull(inverted, NULL, 16));
	sorted_map_put(gathering->seqs, bytes_of(seq), BYTES("", 0), 0);
	return true;
}

static bool read_told(const struct buffer *row, const char *seq, struct told *ret)
{
	const char *text = (const char *)row->data;
	size_t topic = strnlen(text, row->len) + 1, said_by;

	if (topic >= row->len)
		return false;
	said_by = strnlen(text + topic, row->len - topic) + 1;
	if (topic + said_by + sizeof(uint64_t) > row->len)
		return false;
	ret->seq = strtoull(seq, NULL, 16);
	ret->topic = text;
	ret->said_by = text + topic;
	ret->time_us = (int64_t)get_be64(text + topic + said_by);
	ret->payload = BYTES(text + topic + said_by + sizeof(uint64_t), row->len - topic - said_by - sizeof(uint64_t));
	return true;
}

bool story_each(
	const struct state *state, const char *shop, struct bytes names, int most, story_each_fn *each, void *context)
{
	struct gathering gathering = { .seqs = sorted_map_new() };
	char prefix[LINE_NAME_MAX + 1];

	for (size_t at = 0; at < names.len; at += strlen((const char *)names.data + at) + 1) {
		snprintf(prefix, sizeof(prefix), "%.*s" LINE_TIE, LINE_NAME_MAX - 1, (const char *)names.data + at);
		gathering.left = most;
		STATE_EACH_KEY(state, story_rows, shop, prefix, gather, &gathering);
	}
	for (const struct sorted_map_entry *entry = sorted_map_first(gathering.seqs); entry;
		entry = sorted_map_next(entry)) {
		_cleanup_(buffer_free) struct buffer row = { 0 };
		char seq[SEQ_ROOM];
		struct told told;

		text_copy_bytes(seq, sizeof(seq), sorted_map_key(entry));
		if (STATE_GET_STRING(state, told_rows, shop, seq, &row) && read_told(&row, seq, &told))
			each(&told, context);
	}
	sorted_map_free(gathering.seqs);
	return gathering.more;
}

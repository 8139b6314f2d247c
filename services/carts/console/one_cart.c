/*
 * one_cart.c: the page of one cart, and the search that leads to it
 *
 * Promises:  the words of the story are those of `cartbus why` (carts/words/describe.h). Addresses are masked. A typed address is hashed at once
 *            and kept nowhere.
 */
#include "services/carts/console/one_cart.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/console/story.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/sends.h"
#include "services/carts/words/describe.h"
#include "services/kit/words/message_json.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- the story ---- */

struct telling {
	const char *zone;
	json_t *story;
};

static void tell(const struct told *told, void *context)
{
	const struct telling *telling = context;
	const struct topic *topic = topic_of(told->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, told->payload) : NULL;
	_cleanup_(buffer_free) struct buffer words = { 0 };

	if (!message)
		return;
	describe(topic, message, telling->zone, &words);
	json_array_append_new(telling->story,
		json_pack("{s:I,s:I,s:s,s:s,s:s,s:o}", "seq", (json_int_t)told->seq, "at_us", (json_int_t)told->time_us,
			"kind", topic == &topic_audit ? "decided" : "happened", "topic", told->topic, "said_by",
			told->said_by, "words", show_text(buffer_text(&words))));
}

static void add_story(const struct page_asked *asked, const char *cart_id, json_t *ret)
{
	struct telling telling = { asked->zone, json_array() };
	_cleanup_(buffer_free) struct buffer names = { 0 };
	bool more;

	STATE_GET_STRING(asked->state, line_names, asked->shop, cart_id, &names);
	more = story_each(asked->state, asked->shop, buffer_bytes(&names), ONE_CART_STORY_MOST, tell, &telling);
	json_object_set_new(ret, "story", telling.story);
	json_object_set_new(ret, "more", json_boolean(more));
}

/* ---- mails and items ---- */

static const char *phase_word(enum send_phase phase)
{
	static const char *const words[] = { [SEND_NONE] = "none",
		[SEND_CLAIMED] = "claimed",
		[SEND_SENT] = "sent",
		[SEND_RELEASED] = "released",
		[SEND_REFUSED] = "refused",
		[SEND_AMBIGUOUS] = "ambiguous",
		[SEND_SKIPPED] = "skipped" };

	return words[phase];
}

static json_t *mails_of(const struct page_asked *asked, const CartState *cart)
{
	json_t *mails = json_array();

	for (int step = 1; step <= 2; step++) {
		struct send send = sends_of(asked->state, asked->shop, cart, step);

		if (send.phase != SEND_NONE)
			json_array_append_new(mails,
				json_pack("{s:i,s:s,s:I,s:n}", "step", step, "phase", phase_word(send.phase), "at_us",
					(json_int_t)send.at_us, "reason"));
	}
	return mails;
}

static json_t *items_of(const CartState *cart)
{
	json_t *items = json_array();

	for (pb_size_t i = 0; i < cart->items_count; i++) {
		const Item *item = &cart->items[i];

		json_array_append_new(items,
			json_pack("{s:o,s:o,s:I,s:I}", "title", show_text(item->title), "variant",
				show_word(item->variant_title), "quantity", (json_int_t)item->quantity, "price_minor",
				(json_int_t)item->price_minor));
	}
	return items;
}

bool one_cart_show(const struct page_asked *asked, const char *cart_id, json_t *ret)
{
	_cleanup_free_ CartState *cart = memory_new(sizeof(*cart));
	struct cart_line line;
	json_t *shown;

	if (!STATE_GET(asked->state, cart_lines, asked->shop, cart_id, &line))
		return false;
	shown = show_line(asked, cart_id, &line);
	json_object_update(ret, shown);
	json_decref(shown);
	STATE_GET(asked->state, cart_rows, asked->shop, cart_id, cart);
	json_object_set_new(ret, "mails", mails_of(asked, cart));
	json_object_set_new(ret, "items", items_of(cart));
	add_story(asked, cart_id, ret);
	return true;
}

/* ---- the search ---- */

struct found {
	int count;
	char *cart_id;
};

static bool take(const char *shop, const char *key, void *context)
{
	struct found *found = context;
	const char *slash = strrchr(key, '/');

	(void)shop;
	if (slash && found->count++ == 0)
		text_copy(found->cart_id, LINE_ID_MAX, slash + 1);
	return found->count < 2;
}

static int find_address(
	const struct state *state, const char *shop, struct bytes key, const char *address, char *ret_cart_id)
{
	struct found found = { 0, ret_cart_id };
	char hash[ADDRESS_HASH_LEN + 1], prefix[ADDRESS_HASH_LEN + 2];

	address_hash(key, shop, address, hash);
	snprintf(prefix, sizeof(prefix), "%s/", hash);
	STATE_EACH_KEY(state, lines_by_shopper, shop, prefix, take, &found);
	return found.count;
}

int one_cart_find(
	const struct state *state, const char *shop, struct bytes key, const char *text, char ret_cart_id[LINE_ID_MAX])
{
	static const char *const kinds[] = { "id", "oi", "ct", "kt", "ci", "cu" }; /* carts/policy/change.h */
	char address[ADDRESS_MAX + 1], name[LINE_NAME_MAX];

	*ret_cart_id = '\0';
	if (key.len > 0 && address_normalise(text, address) == 0)
		return find_address(state, shop, key, address, ret_cart_id);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (snprintf(name, sizeof(name), "%s:%s", kinds[i], text) >= (int)sizeof(name))
			return 0;
		if (line_named(state, shop, name, ret_cart_id))
			return 1;
	}
	return 0;
}

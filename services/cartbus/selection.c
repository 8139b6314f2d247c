/*
 * selection.c: which messages of the log are about one cart
 *
 * Owns:      the ids of every message that carries some (first reading), and the set that the wanted name leads to.
 * Promises:  ids join exactly as kit/join.h joins them; a shopper's address joins only checkouts and stops, as it does for sends.
 */
#include "services/cartbus/selection.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "services/cartbus/print.h"
#include "services/kit/address.h"
#include "services/kit/join.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 5 * JOIN_NAMES_MAX + 5 };

struct known { /* one message's ids */
	struct known *next;
	bool taken;
	int count;
	char email_hash[40];
	char names[][80];
};

struct selection {
	struct map *names, *hashes, *seqs;
	struct known *known;
	CartState *cart;
	const char *wanted;
	char wanted_hash[ADDRESS_HASH_LEN + 1]; /* of an address; else empty */
};

static void add(struct map *set, const char *name)
{
	if (*name)
		map_put(set, bytes_of(name), set);
}

static bool has(const struct map *set, const char *name)
{
	return *name && map_get(set, bytes_of(name));
}

static int names_of_state(const CartState *cart, char ret[NAMES_MAX][80])
{
	int count = join_names(&cart->ids, ret);

	for (int i = 0; i < cart->also_count; i++)
		count += join_names(&cart->also[i], ret + count);
	for (int i = 0; i < cart->merged_from_count; i++)
		snprintf(ret[count++], 80, "id:%s", cart->merged_from[i]);
	return count;
}

/* The ids that a message carries; their count. `ret_hash` is borrowed from the message. */
static int names_of(const struct topic *topic, const void *message, char ret[NAMES_MAX][80], const char **ret_hash)
{
	if (topic == &topic_cart_changed) {
		*ret_hash = ((const CartChanged *)message)->ids.email_hash;
		return join_names(&((const CartChanged *)message)->ids, ret);
	}
	if (topic == &topic_cart_checkout) {
		*ret_hash = ((const CartCheckout *)message)->ids.email_hash;
		return join_names(&((const CartCheckout *)message)->ids, ret);
	}
	if (topic == &topic_cart_state) {
		*ret_hash = ((const CartState *)message)->ids.email_hash;
		return names_of_state(message, ret);
	}
	if (topic == &topic_reminder_due) {
		*ret_hash = ((const ReminderDue *)message)->cart.ids.email_hash;
		return names_of_state(&((const ReminderDue *)message)->cart, ret);
	}
	return 0;
}

static bool is_wanted(const struct selection *selection, const struct known *known)
{
	if (selection->wanted_hash[0])
		return strcmp(known->email_hash, selection->wanted_hash) == 0;
	for (int i = 0; i < known->count; i++) {
		if (strcmp(known->names[i] + 3, selection->wanted) == 0)
			return true;
	}
	return false;
}

static void take(struct selection *selection, struct known *known, bool with_hash)
{
	known->taken = true;
	for (int i = 0; i < known->count; i++)
		add(selection->names, known->names[i]);
	if (with_hash)
		add(selection->hashes, known->email_hash);
}

static bool touches(const struct selection *selection, const struct known *known)
{
	for (int i = 0; i < known->count; i++) {
		if (has(selection->names, known->names[i]))
			return true;
	}
	return false;
}

/* Whatever shares an id with what was taken is taken too, until nothing more is. */
static void close_over(struct selection *selection)
{
	bool grew = true;

	while (grew) {
		grew = false;
		for (struct known *known = selection->known; known; known = known->next) {
			if (known->taken || !touches(selection, known))
				continue;
			take(selection, known, true);
			grew = true;
		}
	}
}

static bool note(const struct entry *entry, void *context)
{
	struct selection *selection = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;
	char names[NAMES_MAX][80];
	const char *hash = "";
	int count = message ? names_of(topic, message, names, &hash) : 0;
	struct known *known;

	if (count == 0)
		return true;
	known = memory_new(sizeof(*known) + (size_t)count * sizeof(known->names[0]));
	known->count = count;
	memcpy(known->names, names, (size_t)count * sizeof(names[0]));
	snprintf(known->email_hash, sizeof(known->email_hash), "%s", hash);
	known->next = selection->known;
	selection->known = known;
	return true;
}

static bool note_cart(const struct entry *entry, void *context)
{
	struct selection *selection = context;
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);
	char names[NAMES_MAX][80];
	int count = cart ? names_of_state(cart, names) : 0;
	bool ours = false;

	for (int i = 0; i < count; i++)
		ours = ours || has(selection->names, names[i]);
	if (!ours || *cart->merged_into)
		return true;
	free(selection->cart);
	selection->cart = TAKE(cart);
	return true;
}

static int hash_address(const struct command *command, const char *shop, const char *address, char *ret)
{
	_cleanup_(buffer_free) struct buffer hex = { 0 };
	char path[PATH_ROOM], normalised[ADDRESS_MAX + 1];
	int failed;

	if (address_normalise(address, normalised))
		return -EINVAL;
	command_secret_path(command, "address.key", path);
	failed = file_read_secret(path, &hex);
	if (!failed)
		address_hash(buffer_bytes(&hex), shop, normalised, ret);
	return failed;
}

static int read_ids(struct selection *selection, const struct command *command, struct client *client, const char *shop)
{
	static const char *const topics[] = { "cart.changed", "cart.checkout", "cart.state" };

	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++) {
		int failed = reading_each(
			command, client, &(struct reading_filter){ .topic = topics[i], .shop = shop }, note, selection);

		if (failed)
			return failed;
	}
	for (struct known *known = selection->known; known; known = known->next) {
		if (is_wanted(selection, known))
			take(selection, known, true);
	}
	close_over(selection);
	return reading_each(
		command, client, &(struct reading_filter){ .topic = "cart.state", .shop = shop }, note_cart, selection);
}

struct selection *selection_find(
	const struct command *command, struct client *client, const char *shop, const char *cart)
{
	struct selection *selection = memory_new(sizeof(*selection));

	selection->names = map_new();
	selection->hashes = map_new();
	selection->seqs = map_new();
	selection->wanted = cart;
	if (strchr(cart, '@') && hash_address(command, shop, cart, selection->wanted_hash)) {
		complain(command, "\"%s\" is no address, or the key of addresses cannot be read", cart);
	} else if (read_ids(selection, command, client, shop) == EXIT_FINE) {
		if (map_count(selection->names))
			return selection;
		complain(command,
			"the log knows no cart \"%s\" of shop \"%s\"; `cartbus tap --shop %s` shows those that move",
			cart, shop, shop);
	}
	selection_free(selection);
	return NULL;
}

void selection_free(struct selection *selection)
{
	if (!selection)
		return;
	while (selection->known) {
		struct known *known = selection->known;

		selection->known = known->next;
		free(known);
	}
	map_free(selection->names);
	map_free(selection->hashes);
	map_free(selection->seqs);
	free(selection->cart);
	free(selection);
}

static bool shares_id(const struct selection *selection, const struct topic *topic, const void *message)
{
	char names[NAMES_MAX][80], cart[80];
	const char *hash = "";
	int count = names_of(topic, message, names, &hash);

	for (int i = 0; i < count; i++) {
		if (has(selection->names, names[i]))
			return true;
	}
	if (topic == &topic_cart_checkout && has(selection->hashes, hash))
		return true;
	snprintf(cart, sizeof(cart), "id:%s", payload_text(topic, message, "cart_id"));
	return cart[3] && has(selection->names, cart);
}

static bool is_our_timer(const struct selection *selection, const struct topic *topic, const void *message)
{
	const char *name = payload_text(topic, message, "name");
	char cart[80];

	if (strncmp(name, "cart/", 5) != 0)
		return false;
	snprintf(cart, sizeof(cart), "id:%s", name + 5);
	return has(selection->names, cart);
}

/* What is about a shopper and no cart in particular: stops, and the audits about them. */
static bool is_about_shopper(const struct selection *selection, const struct topic *topic, const void *message)
{
	return !*payload_text(topic, message, "cart_id") &&
		has(selection->hashes, payload_text(topic, message, "address_hash"));
}

bool selection_has(
	struct selection *selection, const struct entry *entry, const struct topic *topic, const void *message)
{
	bool is_timer = strncmp(entry->topic, "timer.", 6) == 0;
	bool ours = shares_id(selection, topic, message) || is_about_shopper(selection, topic, message) ||
		topic == &topic_shop_status;

	if (is_timer)
		ours = is_our_timer(selection, topic, message) ||
			(entry->cause && map_get(selection->seqs, map_number(&entry->cause)));
	if (ours && topic != &topic_shop_status)
		map_put(selection->seqs, map_number(&entry->seq), selection);
	return ours;
}

const CartState *selection_cart(const struct selection *selection)
{
	return selection->cart;
}

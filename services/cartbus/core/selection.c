/*
 * selection.c: which messages of the log are about one cart
 *
 * Owns:      the ids of every message that carries some (first reading), and the set that the wanted name leads to.
 * Promises:  ids join exactly as carts/policy/change.h joins them; a shopper's address joins only checkouts and stops, and a customer's number only
 *            checkouts, as they do for sends (carts/policy/stops.h). Feedback belongs to the cart whose reminder it names if that cart has the
 *            address, else to all carts of the address: somebody who may send in the shop's name may write any name, and none hides
 *            feedback or brings it to another shopper's cart.
 */
#include "services/cartbus/core/selection.h"

#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/shops/shops.h"
#include "services/kit/mail/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2 }; /* reminders that a cart may get */

struct known { /* one message's ids */
	struct known *next;
	bool taken;
	int count;
	char email_hash[40], customer[40];
	char names[][80];
};

struct selection {
	struct map *names, *hashes, *customers, *seqs;
	struct map *mails,
		*other_mails; /* names of its reminders, and of other carts of its shoppers: mail_local_read() */
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

static void take(struct selection *selection, struct known *known)
{
	known->taken = true;
	for (int i = 0; i < known->count; i++)
		add(selection->names, known->names[i]);
	add(selection->hashes, known->email_hash);
	add(selection->customers, known->customer);
}

static bool touches(const struct selection *selection, const struct known *known)
{
	for (int i = 0; i < known->count; i++) {
		if (has(selection->names, known->names[i]))
			return true;
	}
	return false;
}

/* A message that shares an id with a taken one is taken too, until no more are found. */
static void close_over(struct selection *selection)
{
	bool grew = true;

	while (grew) {
		grew = false;
		for (struct known *known = selection->known; known; known = known->next) {
			if (known->taken || !touches(selection, known))
				continue;
			take(selection, known);
			grew = true;
		}
	}
}

static bool note(const struct entry *entry, void *context)
{
	struct selection *selection = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;
	struct known *known;
	struct ids ids = { 0 };

	if (message)
		ids_of(topic, message, &ids);
	if (ids.count == 0)
		return true;
	known = memory_new(sizeof(*known) + (size_t)ids.count * sizeof(known->names[0]));
	known->count = ids.count;
	memcpy(known->names, ids.names, (size_t)ids.count * sizeof(ids.names[0]));
	snprintf(known->email_hash, sizeof(known->email_hash), "%s", ids.hash);
	snprintf(known->customer, sizeof(known->customer), "%s", ids.customer);
	known->next = selection->known;
	selection->known = known;
	return true;
}

static bool note_cart(const struct entry *entry, void *context)
{
	struct selection *selection = context;
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);
	struct ids ids = { 0 };
	bool ours = false;

	if (cart)
		ids_of(&topic_cart_state, cart, &ids);
	for (int i = 0; i < ids.count; i++)
		ours = ours || has(selection->names, ids.names[i]);
	if (!ours || *cart->merged_into)
		return true;
	free(selection->cart);
	selection->cart = TAKE(cart);
	return true;
}

/* Under which name a mail went stands in its outcome: it cannot be computed without a key. */
static bool note_mail(const struct entry *entry, void *context)
{
	struct selection *selection = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ ReminderOutcome *outcome = topic ? payload_decode(topic, entry->payload) : NULL;
	char cart[80], local[MAIL_LOCAL_MAX];

	if (!outcome || outcome->to_owner || !mail_local_read(outcome->message_id, local))
		return true;
	snprintf(cart, sizeof(cart), "id:%s", outcome->cart_id);
	if (has(selection->names, cart))
		add(selection->mails, local);
	else if (has(selection->hashes, outcome->address_hash))
		add(selection->other_mails, local);
	return true;
}

static int read_mails(
	struct selection *selection, const struct command *command, struct client *client, const char *shop)
{
	static const char *const topics[] = { "reminder.sent", "reminder.ambiguous" };
	int failed = 0;

	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics) && !failed; i++)
		failed = reading_each(command, client, &(struct reading_filter){ .topic = topics[i], .shop = shop },
			note_mail, selection);
	return failed;
}

/* By which names the reminders of a message's carts went from 0.1.0. */
static void name_mails(const char *shop, const struct known *known, struct map *ret_mails)
{
	char local[MAIL_LOCAL_MAX];

	for (int i = 0; i < known->count; i++) {
		if (strncmp(known->names[i], "id:", 3) != 0)
			continue;
		for (int step = 1; step <= STEPS; step++) {
			mail_local_make(shop, known->names[i] + 3, step, local);
			add(ret_mails, local);
		}
	}
}

static void name_all_mails(struct selection *selection, const char *shop)
{
	for (const struct known *known = selection->known; known; known = known->next) {
		if (known->taken)
			name_mails(shop, known, selection->mails);
		else if (has(selection->hashes, known->email_hash))
			name_mails(shop, known, selection->other_mails);
	}
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
			take(selection, known);
	}
	close_over(selection);
	name_all_mails(selection, shop);
	int failed = read_mails(selection, command, client, shop);
	return failed ? failed
		      : reading_each(command, client, &(struct reading_filter){ .topic = "cart.state", .shop = shop },
				note_cart, selection);
}

struct selection *selection_find(
	const struct command *command, struct client *client, const char *shop, const char *cart)
{
	struct selection *selection = memory_new(sizeof(*selection));
	char normalised[ADDRESS_MAX + 1];

	selection->names = map_new();
	selection->mails = map_new();
	selection->other_mails = map_new();
	selection->hashes = map_new();
	selection->customers = map_new();
	selection->seqs = map_new();
	selection->wanted = cart;
	if (strchr(cart, '@') && name_address(command, shop, cart, normalised, selection->wanted_hash)) {
		complain(command, "\"%s\" is no address, or the key of addresses cannot be read", cart);
	} else if (read_ids(selection, command, client, shop) == EXIT_FINE) {
		if (map_count(selection->names))
			return selection;
		if (shops_know(command, client, shop) == EXIT_FINE)
			complain(command,
				"the log knows no cart \"%s\" of shop \"%s\"; `cartbus carts %s` lists those there are",
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
	map_free(selection->mails);
	map_free(selection->other_mails);
	map_free(selection->hashes);
	map_free(selection->customers);
	map_free(selection->seqs);
	free(selection->cart);
	free(selection);
}

static bool shares_id(const struct selection *selection, const struct topic *topic, const void *message)
{
	struct ids ids;
	char cart[80];

	ids_of(topic, message, &ids);
	for (int i = 0; i < ids.count; i++) {
		if (has(selection->names, ids.names[i]))
			return true;
	}
	if (topic == &topic_cart_checkout &&
		(has(selection->hashes, ids.hash) || has(selection->customers, ids.customer)))
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
	if (*payload_text(topic, message, "cart_id") ||
		!has(selection->hashes, payload_text(topic, message, "address_hash")))
		return false;
	return topic != &topic_mail_feedback ||
		!has(selection->other_mails, ((const MailFeedback *)message)->message_id);
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

void selection_name_step(const struct selection *selection, const struct topic *topic, void *message)
{
	MailFeedback *feedback = message;

	if (topic == &topic_mail_feedback && !feedback->step && has(selection->mails, feedback->message_id))
		feedback->step = (uint32_t)(feedback->message_id[0] - '0');
}

const CartState *selection_cart(const struct selection *selection)
{
	return selection->cart;
}

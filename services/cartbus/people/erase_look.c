/*
 * erase_look.c: finds the messages to erase for one shopper, and has them erased until none is found
 *
 * Promises:  texts that the owner wrote belong to the owner: of rules, voice, shop.conf and stops, the
 *            version in use stays and is named, and older versions are erased. Privacy requests about the
 *            person are erased after all else.
 * Read next: data_subject.c (which messages are about the person), erase.c (the broker erases them)
 */
#include "services/cartbus/people/erase.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/recover/dead_letters.h"
#include "services/carts/words/describe.h"
#include "services/kit/time/zone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 3, KEY_ROOM = 300 };

void erasure_free(struct erasure *erasure)
{
	data_subject_free(erasure->data_subject);
	json_decref(erasure->messages);
	json_decref(erasure->with_keys);
	json_decref(erasure->requests);
	json_decref(erasure->owners);
	json_decref(erasure->carts);
	json_decref(erasure->days);
	json_decref(erasure->blobs);
}

/* --- one message --- */

/* The key of a webhook recognises a repeat and names no person; other keys are made of cart ids. */
static bool key_names_nobody(const struct topic *topic)
{
	return topic == &topic_cart_changed || topic == &topic_cart_checkout || topic == &topic_privacy_request;
}

static void take_number(struct erasure *erasure, const struct topic *topic, uint64_t seq)
{
	json_array_append_new(
		key_names_nobody(topic) ? erasure->messages : erasure->with_keys, json_integer((json_int_t)seq));
}

static bool is_owners(const struct topic *topic)
{
	return topic == &topic_document || topic == &topic_shop_status;
}

/* Takes the previous version of an owner's text, because this entry replaces it. */
static void take_owners(struct erasure *erasure, const struct entry *entry, const struct topic *topic, bool names_him)
{
	char key[KEY_ROOM];
	json_int_t before;

	snprintf(key, sizeof(key), "%s %s", entry->topic, entry->key);
	before = json_integer_value(json_object_get(erasure->owners, key));
	if (before > 0)
		take_number(erasure, topic, (uint64_t)before);
	json_object_set_new(erasure->owners, key, json_integer(names_him ? (json_int_t)entry->seq : 0));
}

/* Notes which privacy requests are open. true: this one must not be erased yet. */
static bool stands(struct erasure *erasure, const struct topic *topic, const void *message)
{
	const PrivacyState *row = message;

	if (message && topic == &topic_privacy_state && row->settled)
		json_object_del(erasure->requests, row->request.request_id);
	else if (message && topic == &topic_privacy_state)
		json_object_set_new(erasure->requests, row->request.request_id, json_true());
	return !erasure->takes_requests && (topic == &topic_privacy_request || topic == &topic_privacy_state);
}

static void note_day(struct erasure *erasure, int64_t us)
{
	struct local_time local;
	char day[40];

	if (us <= 0 || zone_local(zone_of_shop(erasure->command, erasure->shop), us, &local) != 0)
		return;
	snprintf(day, sizeof(day), "%04d-%02d-%02d", local.year, local.month, local.day);
	json_object_set_new(erasure->days, day, json_true());
}

static void note_cart(
	struct erasure *erasure, const struct entry *entry, const struct topic *topic, const void *message)
{
	const CartState *cart = message;

	note_day(erasure, entry->time_us);
	if (!message || topic != &topic_cart_state)
		return;
	json_object_set_new(erasure->carts, cart->ids.cart_id, json_true());
	note_day(erasure, cart->abandoned_us);
}

static bool take(const struct entry *entry, void *context)
{
	struct erasure *erasure = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;
	enum data_subject_tie tie = data_subject_tie(erasure->data_subject, entry, topic, message);
	bool is_held = tie != DATA_SUBJECT_NOT && stands(erasure, topic, message);

	if (is_owners(topic))
		take_owners(erasure, entry, topic, tie == DATA_SUBJECT_OWNERS);
	if (tie != DATA_SUBJECT_CLEAR)
		return true;
	note_cart(erasure, entry, topic, message);
	if (is_held)
		return true;
	erase_note_blobs(erasure, topic, entry->idem, message);
	take_number(erasure, topic, entry->seq);
	return true;
}

/* --- dead letters --- */

static bool is_taken(const json_t *numbers, uint64_t seq)
{
	const json_t *number;
	size_t i;

	json_array_foreach(numbers, i, number)
	{
		if (json_integer_value(number) == (json_int_t)seq)
			return true;
	}
	return false;
}

/* Takes a dead letter about the person whose message is no longer in the log. */
static int take_dead(const json_t *dead_letter, void *context)
{
	struct erasure *erasure = context;
	_cleanup_(buffer_free) struct buffer payload = { 0 };
	json_t *whole = data_subject_dead_letter(erasure->command, erasure->client, dead_letter);
	struct entry entry;
	void *message;

	if (!whole)
		return EXIT_NO;
	message = data_subject_dead_letter_read(whole, &payload, &entry);
	if (data_subject_tie(erasure->data_subject, &entry, topic_of(entry.topic), message) == DATA_SUBJECT_CLEAR &&
		!is_taken(erasure->messages, entry.seq) && !is_taken(erasure->with_keys, entry.seq)) {
		json_array_append_new(erasure->messages, json_integer((json_int_t)entry.seq));
		erase_note_blobs(erasure, topic_of(entry.topic), entry.idem, message);
	}
	free(message);
	json_decref(whole);
	return EXIT_FINE;
}

/* --- all of it --- */

static void renew(json_t **list, json_t *empty)
{
	json_decref(*list);
	*list = empty;
}

static void forget(struct erasure *erasure)
{
	data_subject_free(erasure->data_subject);
	erasure->data_subject = NULL;
	renew(&erasure->messages, json_array());
	renew(&erasure->with_keys, json_array());
	renew(&erasure->requests, json_object());
	renew(&erasure->owners, json_object());
	renew(&erasure->carts, json_object());
	renew(&erasure->days, json_object());
	renew(&erasure->blobs, json_array());
}

int erase_look(struct erasure *erasure)
{
	int failed;

	forget(erasure);
	erasure->data_subject = erasure->who
		? data_subject_find(erasure->command, erasure->client, erasure->shop, erasure->who)
		: data_subject_find_erased(erasure->command, erasure->client, erasure->shop, erasure->again);
	if (!erasure->data_subject)
		return EXIT_NO;
	failed = reading_each(
		erasure->command, erasure->client, &(struct reading_filter){ .shop = erasure->shop }, take, erasure);
	if (!failed)
		failed = dead_letters_each(erasure->command, erasure->client, json_pack("{s:s}", "shop", erasure->shop),
			take_dead, erasure);
	return failed;
}

size_t erase_found(const struct erasure *erasure)
{
	return json_array_size(erasure->messages) + json_array_size(erasure->with_keys);
}

/*
 * During an erasure, services may still publish what they knew of the person before. Each round erases these
 * messages as well, and has the services fold anew. Messages that are found after so many rounds come from
 * services that had forgotten the person as many times: the person goes on shopping, as a new person.
 */
int erase_rounds(struct erasure *erasure)
{
	int ended = EXIT_FINE;

	for (int round = 0; !ended && erase_found(erasure) > 0 && round < ROUNDS_MOST; round++) {
		erasure->erased += erase_found(erasure);
		ended = erase_blobs(erasure);
		if (!ended)
			ended = erase_ask(erasure);
		if (!ended)
			ended = erase_look(erasure);
	}
	return ended;
}

/* --- the person is not mailed any more --- */

static int say_optout(const struct erasure *erasure, const char *hash)
{
	OptoutRequest asked = { .source = OPTOUT_PRIVACY, .heard_us = clock_wall_us(&erasure->command->clock) };
	struct client_said said;
	char idem[64], why[256];

	TEXT_COPY(asked.address_hash, hash);
	text_random_name(idem);
	if (CLIENT_SAY(erasure->client, optout_request, &asked, &said, why, .shop = erasure->shop, .key = hash,
		    .idem = idem) == 0)
		return EXIT_FINE;
	complain(erasure->command, "nothing was erased: %s", why);
	return EXIT_NO;
}

int erase_say_optouts(struct erasure *erasure)
{
	int ended = EXIT_FINE;

	for (size_t i = 0; !ended && data_subject_hash(erasure->data_subject, i); i++)
		ended = say_optout(erasure, data_subject_hash(erasure->data_subject, i));
	return ended;
}

/*
 * person.c: which messages are about one shopper
 *
 * Owns:      the ids of every message that carries some (first reading), and the names that the person leads to.
 * Promises:  carts join exactly as carts/policy/change.h joins them. An id that is short ("7") counts only where an id stands: as a text in
 *            something else it might be anybody's. The way back to a basket is no name: storefronts may have one for all baskets.
 * Read next: export.c, erase.c
 */
#include "services/cartbus/people/person.h"

#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts in the order in which they came, each once; the empty one never. */
struct texts {
	struct map *set;
	char **all;
	size_t count;
};

static void texts_init(struct texts *texts)
{
	*texts = (struct texts){ .set = map_new() };
}

static bool texts_has(const struct texts *texts, const char *text)
{
	return *text && map_get(texts->set, bytes_of(text));
}

static void texts_add(struct texts *texts, const char *text)
{
	if (!*text || texts_has(texts, text))
		return;
	texts->all = memory_resize(texts->all, (texts->count + 1) * sizeof(*texts->all));
	texts->all[texts->count++] = memory_copy_text(text);
	map_put(texts->set, bytes_of(text), texts);
}

static void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->all[i]);
	free(texts->all);
	map_free(texts->set);
}

/* borrowed; NULL: no more */
static const char *texts_at(const struct texts *texts, size_t i)
{
	return i < texts->count ? texts->all[i] : NULL;
}

enum { STRONG_LEAST = 16 /* bytes: by chance nobody else has such a token */ };

struct carried { /* of one message */
	struct carried *next;
	bool taken;
	int count;
	char *hash, *customer;
	char names[][80];
};

struct person {
	const char *shop;
	struct texts hashes, customers, addresses, names, strong, open;
	struct texts by_address, by_customer,
		beside; /* keyed hashes: who was asked for, and customer ids that follow */
	struct buffer key;
	struct map *seqs;
	struct carried *carried;
};

static void add_strong(struct person *person, const char *text)
{
	if (strlen(text) >= STRONG_LEAST || strchr(text, '@'))
		texts_add(&person->strong, text);
}

/* --- first reading: who is it? --- */

static bool note(const struct entry *entry, void *context)
{
	struct person *person = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;
	struct carried *carried;
	struct ids ids = { 0 };

	if (!message)
		return true;
	ids_of(topic, message, &ids);
	if (ids.count == 0 && !*ids.hash)
		return true;
	carried = memory_new(sizeof(*carried) + (size_t)ids.count * sizeof(carried->names[0]));
	carried->count = ids.count;
	memcpy(carried->names, ids.names, (size_t)ids.count * sizeof(ids.names[0]));
	carried->hash = memory_copy_text(ids.hash);
	carried->customer = memory_copy_text(ids.customer);
	carried->next = person->carried;
	person->carried = carried;
	return true;
}

/* A shop's guests are all customer 0. */
static bool is_customer(const char *id)
{
	return *id && strcmp(id, "0") != 0;
}

/* From the address to his customer ids, or from the customer id to his addresses: one step, and no further. */
static void know_one(struct person *person, const struct carried *carried)
{
	char hash[ADDRESS_HASH_LEN + 1];

	if (!is_customer(carried->customer))
		return;
	if (texts_has(&person->by_address, carried->hash))
		texts_add(&person->customers, carried->customer);
	if (person->by_customer.count + person->beside.count == 0)
		return;
	name_customer(buffer_bytes(&person->key), person->shop, carried->customer, hash);
	if (texts_has(&person->by_customer, hash) || texts_has(&person->beside, hash))
		texts_add(&person->customers, carried->customer);
	if (texts_has(&person->by_customer, hash))
		texts_add(&person->hashes, carried->hash);
}

static void know(struct person *person)
{
	for (const struct carried *carried = person->carried; carried; carried = carried->next)
		know_one(person, carried);
}

static bool leads_to(const struct person *person, const struct carried *carried)
{
	if (texts_has(&person->hashes, carried->hash))
		return true;
	if (texts_has(&person->customers, carried->customer) && !*carried->hash)
		return true;
	for (int i = 0; i < carried->count; i++) {
		if (texts_has(&person->names, carried->names[i]))
			return true;
	}
	return false;
}

static void close_over(struct person *person)
{
	bool grew = true;

	while (grew) {
		grew = false;
		for (struct carried *carried = person->carried; carried; carried = carried->next) {
			if (carried->taken || !leads_to(person, carried))
				continue;
			carried->taken = grew = true;
			for (int i = 0; i < carried->count; i++) {
				texts_add(&person->names, carried->names[i]);
				add_strong(person, carried->names[i] + 3);
			}
		}
	}
}

static int read_ids(struct person *person, const struct command *command, struct client *client)
{
	static const char *const topics[] = { "cart.changed", "cart.checkout", "cart.state" };
	int failed = EXIT_FINE;

	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics) && !failed; i++)
		failed = reading_each(command, client,
			&(struct reading_filter){ .topic = topics[i], .shop = person->shop }, note, person);
	return failed;
}

static struct person *person_new(const char *shop)
{
	struct person *person = memory_new(sizeof(*person));
	struct texts *all[] = { &person->hashes, &person->customers, &person->addresses, &person->names,
		&person->strong, &person->open, &person->by_address, &person->by_customer, &person->beside };

	person->shop = shop;
	person->seqs = map_new();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		texts_init(all[i]);
	return person;
}

/* Finds the person who was asked for: reads the messages, and notes the ids that lead to further ones. */
static struct person *find(struct person *person, const struct command *command, struct client *client)
{
	if (read_ids(person, command, client)) {
		person_free(person);
		return NULL;
	}
	know(person);
	close_over(person);
	return person;
}

static void ask_for_address(struct person *person, const char *who, const char *normalised, const char *hash)
{
	texts_add(&person->by_address, hash);
	texts_add(&person->hashes, hash);
	texts_add(&person->addresses, normalised);
	add_strong(person, normalised);
	add_strong(person, who);
}

static void ask_for_customer(struct person *person, const char *who)
{
	char hash[ADDRESS_HASH_LEN + 1];

	name_customer(buffer_bytes(&person->key), person->shop, who, hash);
	texts_add(&person->by_customer, hash);
	texts_add(&person->customers, who);
	add_strong(person, who);
}

struct person *person_find(const struct command *command, struct client *client, const char *shop, const char *who)
{
	struct person *person = person_new(shop);
	char normalised[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1];
	bool by_address = strchr(who, '@');
	int failed = by_address ? name_address(command, shop, who, normalised, hash) : name_key(command, &person->key);

	if (failed || (!by_address && !is_customer(who))) {
		complain(command, "\"%s\" is no address and no customer id, or the key of addresses cannot be read",
			who);
		person_free(person);
		return NULL;
	}
	if (by_address)
		ask_for_address(person, who, normalised, hash);
	else
		ask_for_customer(person, who);
	return find(person, command, client);
}

static void add_all(struct texts *texts, const json_t *hashes)
{
	const json_t *hash;
	size_t i;

	json_array_foreach(hashes, i, hash) if (json_is_string(hash)) texts_add(texts, json_string_value(hash));
}

static void ask_for_erased(struct person *person, const json_t *erasure)
{
	const char *by = json_string_value(json_object_get(erasure, "by"));
	bool by_address = by && strcmp(by, "address") == 0;

	add_all(&person->hashes, json_object_get(erasure, "addresses"));
	if (by_address)
		add_all(&person->by_address, json_object_get(erasure, "addresses"));
	add_all(by_address ? &person->beside : &person->by_customer, json_object_get(erasure, "customers"));
}

struct person *person_find_erased(
	const struct command *command, struct client *client, const char *shop, const json_t *erasures)
{
	struct person *person = person_new(shop);
	const json_t *erasure;
	size_t i;

	if (name_key(command, &person->key) < 0) {
		complain(command, "the key of addresses cannot be read: who was erased is not known without it");
		person_free(person);
		return NULL;
	}
	json_array_foreach(erasures, i, erasure)
	{
		const char *of = json_string_value(json_object_get(erasure, "shop"));

		if (of && strcmp(of, shop) == 0)
			ask_for_erased(person, erasure);
	}
	return find(person, command, client);
}

void person_free(struct person *person)
{
	if (!person)
		return;
	while (person->carried) {
		struct carried *carried = person->carried;

		person->carried = carried->next;
		free(carried->hash);
		free(carried->customer);
		free(carried);
	}
	texts_free(&person->hashes);
	texts_free(&person->customers);
	texts_free(&person->addresses);
	texts_free(&person->names);
	texts_free(&person->strong);
	texts_free(&person->open);
	texts_free(&person->by_address);
	texts_free(&person->by_customer);
	texts_free(&person->beside);
	buffer_free(&person->key);
	map_free(person->seqs);
	free(person);
}

/* --- each message --- */

static bool names_cart(const struct person *person, const char *cart_id)
{
	char name[80];

	snprintf(name, sizeof(name), "id:%s", cart_id);
	return *cart_id && texts_has(&person->names, name);
}

bool person_has_cart(const struct person *person, struct bytes cart_id)
{
	char text[73];

	return text_copy_bytes(text, sizeof(text), cart_id) && names_cart(person, text);
}

static bool is_his_timer(const struct person *person, const struct topic *topic, const void *message)
{
	const char *name = payload_text(topic, message, "name");

	return strncmp(name, "cart/", 5) == 0 && names_cart(person, name + 5);
}

/* What his messages say of him beside ids is learnt on the way. */
static void learn(struct person *person, const struct ids *ids)
{
	if (texts_has(&person->hashes, ids->hash)) {
		texts_add(&person->addresses, ids->email);
		add_strong(person, ids->email);
	}
}

static bool carries_his_ids(struct person *person, const struct topic *topic, const void *message)
{
	struct ids ids;
	bool his;

	ids_of(topic, message, &ids);
	his = texts_has(&person->hashes, ids.hash) || (!*ids.hash && texts_has(&person->customers, ids.customer));
	for (int i = 0; i < ids.count && !his; i++)
		his = texts_has(&person->names, ids.names[i]);
	if (his)
		learn(person, &ids);
	return his;
}

bool person_holds(const struct person *person, struct bytes text)
{
	for (size_t i = 0; i < person->strong.count; i++) {
		if (mention_in(text, person->strong.all[i]))
			return true;
	}
	return false;
}

static bool holds_somewhere(const struct person *person, struct bytes bytes)
{
	for (size_t i = 0; i < person->strong.count; i++) {
		if (mention_somewhere(bytes, person->strong.all[i]))
			return true;
	}
	return false;
}

/* One of the texts in it. */
static bool json_holds(const struct person *person, const json_t *json)
{
	const char *name;
	json_t *each;
	size_t i;

	if (json_is_string(json))
		return person_holds(person, BYTES(json_string_value(json), json_string_length(json)));
	json_array_foreach(json, i, each) if (json_holds(person, each)) return true;
	json_object_foreach((json_t *)json, name, each) if (json_holds(person, each)) return true;
	return false;
}

/* Encoded, what stands beside a text is no text: it is looked at decoded, if that can be and there is anything to look for. */
static bool message_holds(
	const struct person *person, const struct topic *topic, const void *message, struct bytes payload)
{
	json_t *json;
	bool holds;

	if (!message || !holds_somewhere(person, payload))
		return !message && holds_somewhere(person, payload);
	json = message_to_clear_json(topic, message);
	holds = json_holds(person, json);
	json_decref(json);
	return holds;
}

static bool is_follow_up(const struct person *person, const struct entry *entry)
{
	return entry->cause && map_get(person->seqs, map_number(&entry->cause)) &&
		(strncmp(entry->topic, "timer.", 6) == 0 || !topic_of(entry->topic));
}

static void follow_cart(struct person *person, const struct topic *topic, const void *message)
{
	const CartState *cart = message;

	if (topic == &topic_cart_state && cart->status == CART_OPEN)
		texts_add(&person->open, cart->ids.cart_id);
	else if (topic == &topic_cart_state && texts_has(&person->open, cart->ids.cart_id))
		map_remove(person->open.set, bytes_of(cart->ids.cart_id));
}

static bool is_his_number(const struct person *person, const char *customer)
{
	char hash[ADDRESS_HASH_LEN + 1];

	if (texts_has(&person->customers, customer) || !is_customer(customer) || person->key.len == 0)
		return texts_has(&person->customers, customer);
	name_customer(buffer_bytes(&person->key), person->shop, customer, hash);
	return texts_has(&person->by_customer, hash) || texts_has(&person->beside, hash);
}

static enum person_tie tie_of_request(const struct person *person, const PrivacyRequest *request)
{
	if (!texts_has(&person->hashes, request->address_hash) && !is_his_number(person, request->customer_id))
		return PERSON_NOT;
	return *request->customer_id ? PERSON_CLEAR : PERSON_PSEUDONYM;
}

static enum person_tie tie_of(
	struct person *person, const struct entry *entry, const struct topic *topic, const void *message)
{
	if (topic == &topic_document || topic == &topic_shop_status)
		return message_holds(person, topic, message, entry->payload) ? PERSON_OWNERS : PERSON_NOT;
	if (message && topic == &topic_privacy_request)
		return tie_of_request(person, message);
	if (message && topic == &topic_privacy_state)
		return tie_of_request(person, &((const PrivacyState *)message)->request);
	if (topic == &topic_suppression)
		return texts_has(&person->hashes, payload_text(topic, message, "address_hash")) ? PERSON_PSEUDONYM
												: PERSON_NOT;
	if (message &&
		(carries_his_ids(person, topic, message) || is_his_timer(person, topic, message) ||
			names_cart(person, payload_text(topic, message, "cart_id"))))
		return PERSON_CLEAR;
	if (is_follow_up(person, entry) || message_holds(person, topic, message, entry->payload) ||
		person_holds(person, bytes_of(entry->key)))
		return PERSON_CLEAR;
	if (!message || !texts_has(&person->hashes, payload_text(topic, message, "address_hash")))
		return PERSON_NOT;
	return *payload_text(topic, message, "cart_id") ? PERSON_CLEAR : PERSON_PSEUDONYM;
}

enum person_tie person_tie(
	struct person *person, const struct entry *entry, const struct topic *topic, const void *message)
{
	enum person_tie tie = tie_of(person, entry, topic, message);

	if (tie == PERSON_NOT)
		return tie;
	map_put(person->seqs, map_number(&entry->seq), person);
	if (message)
		follow_cart(person, topic, message);
	return tie;
}

const char *person_hash(const struct person *person, size_t i)
{
	return texts_at(&person->hashes, i);
}

const char *person_address(const struct person *person, size_t i)
{
	return texts_at(&person->addresses, i);
}

const char *person_customer(const struct person *person, size_t i)
{
	return texts_at(&person->customers, i);
}

const char *person_cart(const struct person *person, size_t i)
{
	const struct texts *open = &person->open;

	for (size_t at = 0; at < open->count; at++) {
		if (texts_has(open, open->all[at]) && i-- == 0)
			return open->all[at];
	}
	return NULL;
}

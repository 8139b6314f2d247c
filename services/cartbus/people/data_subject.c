/*
 * data_subject.c: finds the messages about one shopper
 *
 * Owns:      the ids of every message that has some (from the first reading), and all names that are joined
 *            with the person's.
 * Promises:  carts are joined exactly as carts/policy/change.h joins them. A short id ("7") counts only in an
 *            id field, because inside another text it may belong to another person. The link back to a basket
 *            is no name, because a storefront may have one link for all baskets.
 * Read next: export.c, erase.c
 */
#include "services/cartbus/people/data_subject.h"

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

/* Texts in the order in which they came, each once. The empty text is never added. */
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

/* Borrowed. NULL: there are no more. */
static const char *texts_at(const struct texts *texts, size_t i)
{
	return i < texts->count ? texts->all[i] : NULL;
}

enum { STRONG_LEAST = 16 /* bytes: no other person has such a long token by chance */ };

struct carried { /* the ids of one message */
	struct carried *next;
	bool taken;
	int count;
	char *hash, *customer;
	char names[][80];
};

struct data_subject {
	const char *shop;
	struct texts hashes, customers, addresses, names, strong, open;
	struct texts by_address, by_customer,
		beside; /* keyed hashes: of the requested person, and of ids beside an erased address */
	struct buffer key;
	bool is_by_hash; /* only hashes of the person are known, so each address in a text is hashed */
	struct map *seqs;
	struct carried *carried;
};

static void add_strong(struct data_subject *data_subject, const char *text)
{
	if (strlen(text) >= STRONG_LEAST || strchr(text, '@'))
		texts_add(&data_subject->strong, text);
}

/* --- first reading: the person's ids --- */

static bool note(const struct entry *entry, void *context)
{
	struct data_subject *data_subject = context;
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
	carried->next = data_subject->carried;
	data_subject->carried = carried;
	return true;
}

/* All guests of a shop have the customer id 0. */
static bool is_customer(const char *id)
{
	return *id && strcmp(id, "0") != 0;
}

/*
 * Adds the customer ids of a requested address, or the addresses of a requested customer id, and follows them
 * no further.
 */
static void know_one(struct data_subject *data_subject, const struct carried *carried)
{
	char hash[ADDRESS_HASH_LEN + 1];

	if (!is_customer(carried->customer))
		return;
	if (texts_has(&data_subject->by_address, carried->hash))
		texts_add(&data_subject->customers, carried->customer);
	if (data_subject->by_customer.count + data_subject->beside.count == 0)
		return;
	name_customer(buffer_bytes(&data_subject->key), data_subject->shop, carried->customer, hash);
	if (texts_has(&data_subject->by_customer, hash) || texts_has(&data_subject->beside, hash))
		texts_add(&data_subject->customers, carried->customer);
	if (texts_has(&data_subject->by_customer, hash))
		texts_add(&data_subject->hashes, carried->hash);
}

static void know(struct data_subject *data_subject)
{
	for (const struct carried *carried = data_subject->carried; carried; carried = carried->next)
		know_one(data_subject, carried);
}

static bool leads_to(const struct data_subject *data_subject, const struct carried *carried)
{
	if (texts_has(&data_subject->hashes, carried->hash))
		return true;
	if (texts_has(&data_subject->customers, carried->customer) && !*carried->hash)
		return true;
	for (int i = 0; i < carried->count; i++) {
		if (texts_has(&data_subject->names, carried->names[i]))
			return true;
	}
	return false;
}

static void close_over(struct data_subject *data_subject)
{
	bool grew = true;

	while (grew) {
		grew = false;
		for (struct carried *carried = data_subject->carried; carried; carried = carried->next) {
			if (carried->taken || !leads_to(data_subject, carried))
				continue;
			carried->taken = grew = true;
			for (int i = 0; i < carried->count; i++) {
				texts_add(&data_subject->names, carried->names[i]);
				add_strong(data_subject, carried->names[i] + 3);
			}
		}
	}
}

static int read_ids(struct data_subject *data_subject, const struct command *command, struct client *client)
{
	static const char *const topics[] = { "cart.changed", "cart.checkout", "cart.state" };
	int failed = EXIT_FINE;

	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics) && !failed; i++)
		failed = reading_each(command, client,
			&(struct reading_filter){ .topic = topics[i], .shop = data_subject->shop }, note, data_subject);
	return failed;
}

static struct data_subject *data_subject_new(const char *shop)
{
	struct data_subject *data_subject = memory_new(sizeof(*data_subject));
	struct texts *all[] = { &data_subject->hashes, &data_subject->customers, &data_subject->addresses,
		&data_subject->names, &data_subject->strong, &data_subject->open, &data_subject->by_address,
		&data_subject->by_customer, &data_subject->beside };

	data_subject->shop = shop;
	data_subject->seqs = map_new();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		texts_init(all[i]);
	return data_subject;
}

/* Finds the requested person: reads the messages, and notes the ids that lead to further ids. */
static struct data_subject *find(
	struct data_subject *data_subject, const struct command *command, struct client *client)
{
	if (read_ids(data_subject, command, client)) {
		data_subject_free(data_subject);
		return NULL;
	}
	know(data_subject);
	close_over(data_subject);
	return data_subject;
}

static void ask_for_address(
	struct data_subject *data_subject, const char *who, const char *normalised, const char *hash)
{
	texts_add(&data_subject->by_address, hash);
	texts_add(&data_subject->hashes, hash);
	texts_add(&data_subject->addresses, normalised);
	add_strong(data_subject, normalised);
	add_strong(data_subject, who);
}

static void ask_for_customer(struct data_subject *data_subject, const char *who)
{
	char hash[ADDRESS_HASH_LEN + 1];

	name_customer(buffer_bytes(&data_subject->key), data_subject->shop, who, hash);
	texts_add(&data_subject->by_customer, hash);
	texts_add(&data_subject->customers, who);
	add_strong(data_subject, who);
}

struct data_subject *data_subject_find(
	const struct command *command, struct client *client, const char *shop, const char *who)
{
	struct data_subject *data_subject = data_subject_new(shop);
	char normalised[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1];
	bool by_address = strchr(who, '@');
	int failed =
		by_address ? name_address(command, shop, who, normalised, hash) : name_key(command, &data_subject->key);

	if (failed || (!by_address && !is_customer(who))) {
		complain(command, "\"%s\" is no address and no customer id, or the key of addresses cannot be read",
			who);
		data_subject_free(data_subject);
		return NULL;
	}
	if (by_address)
		ask_for_address(data_subject, who, normalised, hash);
	else
		ask_for_customer(data_subject, who);
	return find(data_subject, command, client);
}

static void add_all(struct texts *texts, const json_t *hashes)
{
	const json_t *hash;
	size_t i;

	json_array_foreach(hashes, i, hash) if (json_is_string(hash)) texts_add(texts, json_string_value(hash));
}

static void ask_for_erased(struct data_subject *data_subject, const json_t *erasure)
{
	const char *by = json_string_value(json_object_get(erasure, "by"));
	bool by_address = by && strcmp(by, "address") == 0;

	add_all(&data_subject->hashes, json_object_get(erasure, "addresses"));
	if (by_address)
		add_all(&data_subject->by_address, json_object_get(erasure, "addresses"));
	add_all(by_address ? &data_subject->beside : &data_subject->by_customer, json_object_get(erasure, "customers"));
}

struct data_subject *data_subject_find_erased(
	const struct command *command, struct client *client, const char *shop, const json_t *erasures)
{
	struct data_subject *data_subject = data_subject_new(shop);
	const json_t *erasure;
	size_t i;

	if (name_key(command, &data_subject->key) < 0) {
		complain(command, "the key of addresses cannot be read: who was erased is not known without it");
		data_subject_free(data_subject);
		return NULL;
	}
	data_subject->is_by_hash = true;
	json_array_foreach(erasures, i, erasure)
	{
		const char *of = json_string_value(json_object_get(erasure, "shop"));

		if (of && strcmp(of, shop) == 0)
			ask_for_erased(data_subject, erasure);
	}
	return find(data_subject, command, client);
}

void data_subject_free(struct data_subject *data_subject)
{
	if (!data_subject)
		return;
	while (data_subject->carried) {
		struct carried *carried = data_subject->carried;

		data_subject->carried = carried->next;
		free(carried->hash);
		free(carried->customer);
		free(carried);
	}
	texts_free(&data_subject->hashes);
	texts_free(&data_subject->customers);
	texts_free(&data_subject->addresses);
	texts_free(&data_subject->names);
	texts_free(&data_subject->strong);
	texts_free(&data_subject->open);
	texts_free(&data_subject->by_address);
	texts_free(&data_subject->by_customer);
	texts_free(&data_subject->beside);
	buffer_free(&data_subject->key);
	map_free(data_subject->seqs);
	free(data_subject);
}

/* --- each message --- */

static bool names_cart(const struct data_subject *data_subject, const char *cart_id)
{
	char name[80];

	snprintf(name, sizeof(name), "id:%s", cart_id);
	return *cart_id && texts_has(&data_subject->names, name);
}

bool data_subject_has_cart(const struct data_subject *data_subject, struct bytes cart_id)
{
	char text[73];

	return text_copy_bytes(text, sizeof(text), cart_id) && names_cart(data_subject, text);
}

static bool is_his_timer(const struct data_subject *data_subject, const struct topic *topic, const void *message)
{
	const char *name = payload_text(topic, message, "name");

	return strncmp(name, "cart/", 5) == 0 && names_cart(data_subject, name + 5);
}

/* Adds the address in a message about the person to the person's addresses. */
static void learn(struct data_subject *data_subject, const struct ids *ids)
{
	if (texts_has(&data_subject->hashes, ids->hash)) {
		texts_add(&data_subject->addresses, ids->email);
		add_strong(data_subject, ids->email);
	}
}

static bool carries_his_ids(struct data_subject *data_subject, const struct topic *topic, const void *message)
{
	struct ids ids;
	bool his;

	ids_of(topic, message, &ids);
	his = texts_has(&data_subject->hashes, ids.hash) ||
		(!*ids.hash && texts_has(&data_subject->customers, ids.customer));
	for (int i = 0; i < ids.count && !his; i++)
		his = texts_has(&data_subject->names, ids.names[i]);
	if (his)
		learn(data_subject, &ids);
	return his;
}

static bool is_his_address(const struct data_subject *data_subject, const char *address)
{
	char normalised[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1];

	if (address_normalise(address, normalised) != 0)
		return false;
	address_hash(buffer_bytes(&data_subject->key), data_subject->shop, normalised, hash);
	return texts_has(&data_subject->hashes, hash);
}

/* Tries each place where the address may begin. */
static bool is_his_from_somewhere(const struct data_subject *data_subject, const char *written)
{
	const char *from = written;
	bool his = is_his_address(data_subject, from);

	while (!his && *(from += strcspn(from, NAME_RARE_SIGNS)))
		his = is_his_address(data_subject, ++from);
	return his;
}

/* A byte beyond ASCII may belong to the domain, or to a quotation mark behind it: both are tried. */
static bool holds_hashed(const struct data_subject *data_subject, struct bytes text)
{
	char written[ADDRESS_MAX + 1];
	bool holds = false;

	for (size_t at = 0; !holds && data_subject->is_by_hash && name_next_address(text, &at, written);) {
		holds = is_his_from_somewhere(data_subject, written);
		char *end = written;
		while (*end && (unsigned char)*end < 0x80)
			end++;
		if (holds || !*end)
			continue;
		*end = '\0';
		holds = is_his_from_somewhere(data_subject, written);
	}
	return holds;
}

bool data_subject_holds(const struct data_subject *data_subject, struct bytes text)
{
	for (size_t i = 0; i < data_subject->strong.count; i++) {
		if (name_match_in(text, data_subject->strong.all[i]))
			return true;
	}
	return holds_hashed(data_subject, text);
}

static bool holds_somewhere(const struct data_subject *data_subject, struct bytes bytes)
{
	for (size_t i = 0; i < data_subject->strong.count; i++) {
		if (name_match_somewhere(bytes, data_subject->strong.all[i]))
			return true;
	}
	return false;
}

/* A cheap test before the message is decoded. */
static bool may_hold(const struct data_subject *data_subject, struct bytes payload)
{
	return (data_subject->is_by_hash && payload.len > 0 && memchr(payload.data, '@', payload.len)) ||
		holds_somewhere(data_subject, payload);
}

/* true: one of the texts in `json` names the person. */
static bool json_holds(const struct data_subject *data_subject, const json_t *json)
{
	const char *name;
	json_t *each;
	size_t i;

	if (json_is_string(json))
		return data_subject_holds(data_subject, BYTES(json_string_value(json), json_string_length(json)));
	json_array_foreach(json, i, each) if (json_holds(data_subject, each)) return true;
	json_object_foreach((json_t *)json, name, each) if (json_holds(data_subject, each)) return true;
	return false;
}

/*
 * In an encoded message, bytes of the encoding stand beside a text. So the message is decoded first, if it
 * can be and may hold a name.
 */
static bool message_holds(
	const struct data_subject *data_subject, const struct topic *topic, const void *message, struct bytes payload)
{
	json_t *json;
	bool holds;

	if (!message)
		return holds_somewhere(data_subject, payload) || holds_hashed(data_subject, payload);
	if (!may_hold(data_subject, payload))
		return false;
	json = message_to_clear_json(topic, message);
	holds = json_holds(data_subject, json);
	json_decref(json);
	return holds;
}

static bool is_follow_up(const struct data_subject *data_subject, const struct entry *entry)
{
	return entry->cause && map_get(data_subject->seqs, map_number(&entry->cause)) &&
		(strncmp(entry->topic, "timer.", 6) == 0 || !topic_of(entry->topic));
}

static void follow_cart(struct data_subject *data_subject, const struct topic *topic, const void *message)
{
	const CartState *cart = message;

	if (topic == &topic_cart_state && cart->status == CART_OPEN)
		texts_add(&data_subject->open, cart->ids.cart_id);
	else if (topic == &topic_cart_state && texts_has(&data_subject->open, cart->ids.cart_id))
		map_remove(data_subject->open.set, bytes_of(cart->ids.cart_id));
}

static bool is_his_number(const struct data_subject *data_subject, const char *customer)
{
	char hash[ADDRESS_HASH_LEN + 1];

	if (texts_has(&data_subject->customers, customer) || !is_customer(customer) || data_subject->key.len == 0)
		return texts_has(&data_subject->customers, customer);
	name_customer(buffer_bytes(&data_subject->key), data_subject->shop, customer, hash);
	return texts_has(&data_subject->by_customer, hash) || texts_has(&data_subject->beside, hash);
}

static enum data_subject_tie tie_of_request(const struct data_subject *data_subject, const PrivacyRequest *request)
{
	if (!texts_has(&data_subject->hashes, request->address_hash) &&
		!is_his_number(data_subject, request->customer_id))
		return DATA_SUBJECT_NOT;
	return *request->customer_id ? DATA_SUBJECT_CLEAR : DATA_SUBJECT_PSEUDONYM;
}

static enum data_subject_tie tie_of(
	struct data_subject *data_subject, const struct entry *entry, const struct topic *topic, const void *message)
{
	if (topic == &topic_document || topic == &topic_shop_status)
		return message_holds(data_subject, topic, message, entry->payload) ? DATA_SUBJECT_OWNERS
										   : DATA_SUBJECT_NOT;
	if (message && topic == &topic_privacy_request)
		return tie_of_request(data_subject, message);
	if (message && topic == &topic_privacy_state)
		return tie_of_request(data_subject, &((const PrivacyState *)message)->request);
	if (topic == &topic_suppression)
		return texts_has(&data_subject->hashes, payload_text(topic, message, "address_hash"))
			? DATA_SUBJECT_PSEUDONYM
			: DATA_SUBJECT_NOT;
	if (message &&
		(carries_his_ids(data_subject, topic, message) || is_his_timer(data_subject, topic, message) ||
			names_cart(data_subject, payload_text(topic, message, "cart_id"))))
		return DATA_SUBJECT_CLEAR;
	if (is_follow_up(data_subject, entry) || message_holds(data_subject, topic, message, entry->payload) ||
		data_subject_holds(data_subject, bytes_of(entry->key)))
		return DATA_SUBJECT_CLEAR;
	if (!message || !texts_has(&data_subject->hashes, payload_text(topic, message, "address_hash")))
		return DATA_SUBJECT_NOT;
	return *payload_text(topic, message, "cart_id") ? DATA_SUBJECT_CLEAR : DATA_SUBJECT_PSEUDONYM;
}

enum data_subject_tie data_subject_tie(
	struct data_subject *data_subject, const struct entry *entry, const struct topic *topic, const void *message)
{
	enum data_subject_tie tie = tie_of(data_subject, entry, topic, message);

	if (tie == DATA_SUBJECT_NOT)
		return tie;
	map_put(data_subject->seqs, map_number(&entry->seq), data_subject);
	if (message)
		follow_cart(data_subject, topic, message);
	return tie;
}

const char *data_subject_hash(const struct data_subject *data_subject, size_t i)
{
	return texts_at(&data_subject->hashes, i);
}

const char *data_subject_address(const struct data_subject *data_subject, size_t i)
{
	return texts_at(&data_subject->addresses, i);
}

const char *data_subject_customer(const struct data_subject *data_subject, size_t i)
{
	return texts_at(&data_subject->customers, i);
}

const char *data_subject_cart(const struct data_subject *data_subject, size_t i)
{
	const struct texts *open = &data_subject->open;

	for (size_t at = 0; at < open->count; at++) {
		if (texts_has(open, open->all[at]) && i-- == 0)
			return open->all[at];
	}
	return NULL;
}

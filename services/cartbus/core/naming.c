/*
 * naming.c: how the log and files name a shopper and a cart: keyed hashes of addresses, the ids in a message, a name within a text
 *
 * What is a letter is meant as ASCII has it.
 * Read next: selection.c (messages about one cart), data_subject.c (about one shopper)
 */
#include "services/cartbus/core/naming.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int name_key(const struct command *command, struct buffer *ret)
{
	char path[PATH_ROOM];

	command_secret_path(command, "address.key", path);
	return file_read_secret(path, ret);
}

int name_address(const struct command *command, const char *shop, const char *address,
	char ret_normalised[ADDRESS_MAX + 1], char ret_hash[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	int failed;

	if (address_normalise(address, ret_normalised))
		return -EINVAL;
	failed = name_key(command, &key);
	if (!failed)
		address_hash(buffer_bytes(&key), shop, ret_normalised, ret_hash);
	return failed;
}

/* No address begins with "customer:": an address holds no colon. */
void name_customer(struct bytes key, const char *shop, const char *customer, char ret_hash[ADDRESS_HASH_LEN + 1])
{
	char text[ADDRESS_MAX + 1];

	snprintf(text, sizeof(text), "customer:%s", customer);
	address_hash(key, shop, text, ret_hash);
}

/* ---- ids ---- */

static void add_ids(const CartIds *ids, struct ids *ret)
{
	ret->count += join_names(ids, ret->names + ret->count);
	if (!*ret->hash)
		ret->hash = ids->email_hash;
	if (!*ret->customer)
		ret->customer = ids->customer_id;
	if (!*ret->email)
		ret->email = ids->email;
}

static void of_state(const CartState *cart, struct ids *ret)
{
	add_ids(&cart->ids, ret);
	for (int i = 0; i < cart->also_count; i++)
		add_ids(&cart->also[i], ret);
	for (int i = 0; i < cart->merged_from_count; i++)
		snprintf(ret->names[ret->count++], sizeof(ret->names[0]), "id:%s", cart->merged_from[i]);
}

void ids_of(const struct topic *topic, const void *message, struct ids *ret)
{
	ret->count = 0;
	ret->hash = ret->customer = ret->email = "";
	if (topic == &topic_cart_changed)
		add_ids(&((const CartChanged *)message)->ids, ret);
	else if (topic == &topic_cart_checkout)
		add_ids(&((const CartCheckout *)message)->ids, ret);
	else if (topic == &topic_cart_state)
		of_state(message, ret);
	else if (topic == &topic_reminder_due)
		of_state(&((const ReminderDue *)message)->cart, ret);
}

/* ---- mentions ---- */

/* The next place from *at on where the name stands, alone or not; false: none. */
static bool next_place(struct bytes text, const char *name, size_t *at)
{
	const char *begin = text.data, *sign = strchr(name, '@');
	size_t len = strlen(name), before = sign ? (size_t)(sign - name) : 0;

	for (; *at + len <= text.len; ++*at) {
		const char *left = begin + *at,
			   *found = sign ? memchr(left + before, '@', text.len - *at - before)
					 : memmem(left, text.len - *at, name, len);

		if (!found)
			return false;
		*at = (size_t)(found - begin) - before;
		if (!sign || (*at + len <= text.len && strncasecmp(begin + *at, name, len) == 0))
			return *at + len <= text.len;
	}
	return false;
}

/* It would make the name a longer one. */
static bool is_of_a_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static bool is_open_before(struct bytes text, size_t at, bool address)
{
	char c = at > 0 ? ((const char *)text.data)[at - 1] : ' ';

	return is_of_a_name(c) || (address && (c == '.' || c == '+'));
}

/* A full stop behind an address may be its sentence's. */
static bool is_open_behind(struct bytes text, size_t end, bool address)
{
	const char *at = (const char *)text.data + end;
	size_t left = text.len - end;

	return left > 0 && (is_of_a_name(*at) || (address && *at == '.' && left > 1 && is_of_a_name(at[1])));
}

bool name_match_in(struct bytes text, const char *name)
{
	bool address = strchr(name, '@');

	for (size_t at = 0; next_place(text, name, &at); at++) {
		if (!is_open_before(text, at, address) && !is_open_behind(text, at + strlen(name), address))
			return true;
	}
	return false;
}

static bool is_of_a_local_part(char c)
{
	return is_of_a_name(c) || (c && strchr(".+" NAME_RARE_SIGNS, c));
}

/* Domains are written beyond ASCII, too. */
static bool is_of_a_domain(char c)
{
	return is_of_a_name(c) || c == '.' || (unsigned char)c >= 0x80;
}

bool name_next_address(struct bytes text, size_t *at, char ret[ADDRESS_MAX + 1])
{
	const char *begin = (const char *)text.data, *sign;

	while (*at < text.len && (sign = memchr(begin + *at, '@', text.len - *at))) {
		size_t from = (size_t)(sign - begin), to = from + 1;

		while (from > *at && is_of_a_local_part(begin[from - 1]))
			from--;
		while (to < text.len && is_of_a_domain(begin[to]))
			to++;
		*at = to;
		while (begin[to - 1] == '.') /* its sentence's */
			to--;
		if (text_copy_bytes(ret, ADDRESS_MAX + 1, BYTES(begin + from, to - from)))
			return true;
	}
	return false;
}

bool name_match_somewhere(struct bytes bytes, const char *name)
{
	size_t at = 0;

	return next_place(bytes, name, &at);
}

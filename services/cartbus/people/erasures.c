/*
 * erasures.c: keeps the list of erased persons, so that older copies of the log can lose them as well
 *
 * Owns:      <state>/erasures.json
 * Promises:  the entry is on the disk before anything is erased, and names persons by keyed hashes alone. An
 *            erasure counts for copies that were made before it was done; it does not touch a person who
 *            comes back later.
 * Fails by:  complaining: without the list nothing may be erased or restored.
 * Read next: erase_copy.c
 */
#include "services/cartbus/people/erasures.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/naming.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void erasures_path(const struct command *command, char ret[PATH_ROOM])
{
	snprintf(ret, PATH_ROOM, "%s/erasures.json", config_get(command->config, "paths", NULL, "state"));
}

json_t *erasures_read(const struct command *command, const char *path)
{
	json_t *list;
	int r = json_file_read(path, &list);

	if (r == -ENOENT || r == -ENOTDIR)
		return json_array();
	if (json_is_array(list))
		return list;
	json_decref(list);
	complain(command, "%s: %s: who was erased is not known without it", path,
		r < 0 ? json_file_words(r) : "it is no list of erasures");
	return NULL;
}

int erasures_write(const struct command *command, const char *path, const json_t *list)
{
	int r = json_file_write(path, list);

	if (r < 0)
		complain(command, "%s: %s", path, json_file_words(r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

static json_t *find(const json_t *list, const char *id)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (strcmp(member_text(one, "id"), id) == 0)
			return one;
	}
	return NULL;
}

/* If both lists have an erasure, the finished entry counts, because it knows more. */
void erasures_merge(json_t *list, const json_t *other)
{
	json_t *one, *known;
	size_t i;

	json_array_foreach(other, i, one)
	{
		known = find(list, member_text(one, "id"));
		if (!known)
			json_array_append(list, one);
		else if (json_is_true(json_object_get(one, "done")))
			json_object_update(known, one);
	}
}

static bool holds(const json_t *texts, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach(texts, i, one)
	{
		if (strcmp(json_string_value(one) ? json_string_value(one) : "", text) == 0)
			return true;
	}
	return false;
}

static void add_text(json_t *texts, const char *text)
{
	if (!holds(texts, text))
		json_array_append_new(texts, json_string(text));
}

/* Finds the unfinished entry that has the person's first keyed hash. */
static json_t *find_begun(const json_t *list, const char *shop, const char *by, const char *names, const char *first)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!json_is_true(json_object_get(one, "done")) && strcmp(member_text(one, "shop"), shop) == 0 &&
			strcmp(member_text(one, "by"), by) == 0 && holds(json_object_get(one, names), first))
			return one;
	}
	return NULL;
}

static json_t *begin_one(json_t *list, const char *shop, const char *by)
{
	char id[33];
	json_t *one;

	text_random_name(id);
	one = json_pack(
		"{s:s,s:s,s:s,s:[],s:[],s:b}", "id", id, "shop", shop, "by", by, "addresses", "customers", "done", 0);
	json_array_append_new(list, one);
	return one;
}

static int add_data_subject(const struct command *command, json_t *list, const char *shop, bool by_address,
	const struct data_subject *data_subject, char ret_id[33])
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	const char *by = by_address ? "address" : "customer";
	char hash[ADDRESS_HASH_LEN + 1] = "";
	json_t *one;
	int r = name_key(command, &key);

	if (r < 0) {
		complain(command, "the key of addresses cannot be read: %s", strerror(-r));
		return EXIT_NO;
	}
	if (!by_address && data_subject_customer(data_subject, 0))
		name_customer(buffer_bytes(&key), shop, data_subject_customer(data_subject, 0), hash);
	one = by_address ? find_begun(list, shop, by, "addresses", data_subject_hash(data_subject, 0))
			 : find_begun(list, shop, by, "customers", hash);
	if (!one)
		one = begin_one(list, shop, by);
	json_object_set_new(one, "at_us", json_integer(clock_wall_us(&command->clock)));
	for (size_t i = 0; data_subject_hash(data_subject, i); i++)
		add_text(json_object_get(one, "addresses"), data_subject_hash(data_subject, i));
	for (size_t i = 0; data_subject_customer(data_subject, i); i++) {
		name_customer(buffer_bytes(&key), shop, data_subject_customer(data_subject, i), hash);
		add_text(json_object_get(one, "customers"), hash);
	}
	text_copy(ret_id, 33, member_text(one, "id"));
	return EXIT_FINE;
}

int erasures_begin(const struct command *command, const char *shop, bool by_address,
	const struct data_subject *data_subject, char ret_id[33])
{
	char path[PATH_ROOM];
	json_t *list;
	int ended;

	erasures_path(command, path);
	list = erasures_read(command, path);
	ended = list ? add_data_subject(command, list, shop, by_address, data_subject, ret_id) : EXIT_NO;
	ended = ended ? ended : erasures_write(command, path, list);
	json_decref(list);
	return ended;
}

json_t *erasures_one(const struct command *command, const char *id)
{
	char path[PATH_ROOM];
	json_t *list, *one;

	erasures_path(command, path);
	list = erasures_read(command, path);
	one = json_pack("[O]", find(list, id));
	json_decref(list);
	return one;
}

int erasures_done(const struct command *command, const char *id)
{
	char path[PATH_ROOM];
	json_t *list, *one;
	int ended = EXIT_NO;

	erasures_path(command, path);
	list = erasures_read(command, path);
	one = list ? find(list, id) : NULL;
	if (one) {
		json_object_set_new(one, "done", json_true());
		ended = erasures_write(command, path, list);
	}
	json_decref(list);
	return ended;
}

json_t *erasures_but(const json_t *list, const json_t *ids)
{
	json_t *left = json_array(), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!holds(ids, member_text(one, "id")))
			json_array_append(left, one);
	}
	return left;
}

json_t *erasures_ids(const json_t *list, bool done_only)
{
	json_t *ids = json_array(), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!done_only || json_is_true(json_object_get(one, "done")))
			json_array_append(ids, json_object_get(one, "id"));
	}
	return ids;
}

bool erasures_name(
	const struct command *command, const json_t *list, const char *shop, const CartIds *ids, int64_t heard_us)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char customer[ADDRESS_HASH_LEN + 1] = "";
	const json_t *one;
	size_t i;

	if (json_array_size(list) == 0)
		return false;
	if (*ids->customer_id && name_key(command, &key) == 0)
		name_customer(buffer_bytes(&key), shop, ids->customer_id, customer);
	json_array_foreach(list, i, one)
	{
		if (strcmp(member_text(one, "shop"), shop) != 0 ||
			heard_us > json_integer_value(json_object_get(one, "at_us")))
			continue;
		if ((*ids->email_hash && holds(json_object_get(one, "addresses"), ids->email_hash)) ||
			(*customer && holds(json_object_get(one, "customers"), customer)))
			return true;
	}
	return false;
}

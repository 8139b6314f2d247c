/*
 * throttle_file.c: {"cartbus_throttle": 1, "key": "ab12...", "together": [0, UNTIL_US, LAST_US], "names": [[HASH, UNTIL_US, LAST_US],
 * ...], "networks": [...]}
 */
#include "services/console/people/throttle_file.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

enum { FORMAT = 1 };

static json_t *count_json(const struct throttle_count *count)
{
	return json_pack("[I,I,I]", (json_int_t)count->hash, (json_int_t)count->until_us, (json_int_t)count->last_us);
}

static json_t *table_json(const struct throttle_table *table, int64_t now_us)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->count; i++)
		if (table->all[i].until_us > now_us)
			json_array_append_new(list, count_json(&table->all[i]));
	return list;
}

int throttle_file_write(const char *path, const struct throttle_counts *counts, int64_t now_us)
{
	char key[2 * sizeof(counts->key) + 1];
	json_t *json;
	char *text;
	int r;

	text_hex(&counts->key, sizeof(counts->key), key);
	json = json_pack("{s:i,s:s,s:o,s:o,s:o}", "cartbus_throttle", FORMAT, "key", key, "together",
		count_json(&counts->together), "names", table_json(&counts->names, now_us), "networks",
		table_json(&counts->networks, now_us));
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	r = text ? file_write_durably(path, bytes_of(text), 0600) : -EINVAL;
	free(text);
	return r;
}

static bool read_count(json_t *json, struct throttle_count *ret)
{
	json_int_t hash, until_us, last_us;

	if (json_unpack(json, "[I,I,I!]", &hash, &until_us, &last_us) < 0)
		return false;
	*ret = (struct throttle_count){ (uint64_t)hash, until_us, last_us };
	return true;
}

static bool read_table(const json_t *list, struct throttle_table *ret)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (ret->count == ret->most || !read_count(one, &ret->all[ret->count]))
			return false;
		ret->count++;
	}
	return true;
}

bool throttle_file_read(const char *path, struct throttle_counts *ret)
{
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	const char *key = json_string_value(json_object_get(json, "key"));
	bool is_fine = json_integer_value(json_object_get(json, "cartbus_throttle")) == FORMAT && key &&
		text_unhex(key, &ret->key, sizeof(ret->key)) &&
		read_count(json_object_get(json, "together"), &ret->together) &&
		read_table(json_object_get(json, "names"), &ret->names) &&
		read_table(json_object_get(json, "networks"), &ret->networks);

	json_decref(json);
	return is_fine;
}

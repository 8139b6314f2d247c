/*
 * json.h: a JSON text (RFC 8259) as a tree
 *
 * Strict: one value and nothing behind it, UTF-8, no key twice, no number that does not fit. Values are looked at, never changed;
 * every function takes NULL, which is a value that is not there.
 */
#ifndef GATEWAY_JSON_H
#define GATEWAY_JSON_H

#include "bus/base/bytes.h"

enum value_kind {
	VALUE_NULL,
	VALUE_FALSE,
	VALUE_TRUE,
	VALUE_INTEGER,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_LIST,
	VALUE_OBJECT
};

struct json {
	struct json *next; /* in its list or object */
	const char *key;   /* in an object, else NULL; a NUL follows, and none is in it */
	union {
		struct json *first; /* of a list or object, in the order given */
		int64_t integer;
		double real;
		const char *text; /* UTF-8, a NUL follows; NULs may be in it */
	};
	uint32_t key_len;
	uint32_t size; /* bytes of a text, members of a list or object */
	enum value_kind kind;
};

struct json_tree; /* owns all values of one text */

struct json_fault {
	const char *words; /* static; never quotes the text, which may hold what nobody else is to see */
	bool too_deep;
	unsigned line, column; /* from 1, in bytes */
};

/* The value, borrowed from *ret_tree. NULL: it is not JSON, or nested deeper than depth_most; *ret_tree is NULL then. */
const struct json *json_read(
	struct bytes text, int depth_most, struct json_tree **ret_tree, struct json_fault *ret_fault);
void json_tree_free(struct json_tree *tree); /* takes NULL */

const struct json *json_get(
	const struct json *object, const char *key); /* NULL: not an object, or it has no such member */

static inline bool json_is(const struct json *json, enum value_kind kind)
{
	return json && json->kind == kind;
}

/* Over a list, or an object's values; over anything else never. */
#define JSON_EACH(item, list) for (const struct json *item = json_first(list); item; item = item->next)

static inline const struct json *json_first(const struct json *list)
{
	return json_is(list, VALUE_LIST) || json_is(list, VALUE_OBJECT) ? list->first : NULL;
}

#endif

/*
 * state_table.c: typed tables over tables that are known by name
 *
 * Promises:  a row is read and written as its table declares it; a struct whose size differs from the
 *            program's is no row.
 * Read next: state.h (the macros that call this), state.c
 */
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/cleanup.h"
#include <assert.h>
#include <string.h>

bool state_read_row(const struct state_table *table, struct bytes value, void *ret_row)
{
	if (table->message)
		return state_row(value, table->message, ret_row);
	if (value.len == table->size)
		memcpy(ret_row, value.data, value.len);
	return value.len == table->size;
}

bool state_get_row(
	const struct state *state, const struct state_table *table, const char *shop, const char *key, void *ret_row)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };

	if (table->message)
		return state_get(state, table->name, shop, key, table->message, ret_row);
	memset(ret_row, 0, table->size);
	return state_get_bytes(state, table->name, shop, key, &value) &&
		state_read_row(table, buffer_bytes(&value), ret_row);
}

bool state_get_borrowed(const struct state *state, const struct state_table *table, const char *shop, const char *key,
	struct buffer *ret_bytes, void *ret_row)
{
	return state_get_bytes(state, table->name, shop, key, ret_bytes) &&
		state_row(buffer_bytes(ret_bytes), table->message, ret_row);
}

void state_put_row(
	struct state *state, const struct state_table *table, const char *shop, const char *key, const void *row)
{
	if (table->message)
		state_put(state, table->name, shop, key, table->message, row);
	else
		state_put_bytes(state, table->name, shop, key, BYTES(row, table->size));
}

bool state_has_row(const struct state *state, const struct state_table *table, const char *shop, const char *key)
{
	return state_has(state, table->name, shop, key);
}

void state_delete_row(struct state *state, const struct state_table *table, const char *shop, const char *key)
{
	state_delete(state, table->name, shop, key);
}

bool state_read_number(struct bytes value, uint64_t *ret)
{
	if (value.len == sizeof(*ret))
		*ret = get_be64(value.data);
	return value.len == sizeof(*ret);
}

uint64_t state_get_number(const struct state *state, const struct state_table *table, const char *shop, const char *key)
{
	return state_number(state, table->name, shop, key);
}

void state_set_number(
	struct state *state, const struct state_table *table, const char *shop, const char *key, uint64_t number)
{
	state_put_number(state, table->name, shop, key, number);
}

bool state_get_string(const struct state *state, const struct state_table *table, const char *shop, const char *key,
	struct buffer *ret)
{
	return state_get_bytes(state, table->name, shop, key, ret);
}

void state_put_string(
	struct state *state, const struct state_table *table, const char *shop, const char *key, struct bytes value)
{
	state_put_bytes(state, table->name, shop, key, value);
}

void state_walk(const struct state *state, const struct state_table *table, const char *shop, const char *prefix,
	state_each_fn *step, void *walk)
{
	state_each(state, table->name, shop, prefix, step, walk);
}

void state_walk_from(const struct state *state, const struct state_table *table, const char *shop, const char *from,
	state_each_fn *step, void *walk)
{
	state_each_from(state, table->name, shop, from, step, walk);
}

struct keys {
	state_each_key_fn *each;
	void *context;
};

static bool step_key(const char *shop, const char *key, struct bytes value, void *context)
{
	struct keys *keys = context;

	(void)value;
	return keys->each(shop, key, keys->context);
}

void state_walk_keys(const struct state *state, const struct state_table *table, const char *shop, const char *prefix,
	state_each_key_fn *each, void *context)
{
	state_each(state, table->name, shop, prefix, step_key, &(struct keys){ each, context });
}

void state_walk_shops(const struct state *state, const struct state_table *table,
	void (*each)(const char *shop, void *context), void *context)
{
	state_each_shop(state, table->name, each, context);
}

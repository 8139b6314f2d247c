/*
 * row.h: a struct as a row of a service's state
 *
 * Plain bytes in the store of one machine: never sent anywhere. A row of another size was written by another version: it reads as
 * if there were none.
 */
#ifndef KIT_STATE_ROW_H
#define KIT_STATE_ROW_H

#include "bus/actor/state.h"

/* false: no such row; *ret_row is then all zero. */
bool row_get(
	const struct state *state, const char *table, const char *shop, const char *key, void *ret_row, size_t size);
/* *row has no padding, or was zeroed as a whole (by row_get): rows are compared as bytes. */
#define ROW_PUT(state, table, shop, key, row)                                                                          \
	state_put_bytes((state), (table), (shop), (key), BYTES((row), sizeof(*(row))))

#endif

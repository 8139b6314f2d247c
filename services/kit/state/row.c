/* row.c: a struct as a row of a service's state */
#include "services/kit/state/row.h"
#include "bus/base/cleanup.h"

bool row_get(
	const struct state *state, const char *table, const char *shop, const char *key, void *ret_row, size_t size)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };

	memset(ret_row, 0, size);
	if (!state_get_bytes(state, table, shop, key, &value) || value.len != size)
		return false;
	memcpy(ret_row, value.data, size);
	return true;
}

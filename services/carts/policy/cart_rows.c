/* cart_rows.c: folds cart.state: the rows of the carts, and which carts were merged */
#include "services/carts/policy/cart_rows.h"
#include "bus/base/text.h"

STATE_NUMBERS(version, "version");

bool cart_rows_remember(struct state *state, const struct message_meta *said, const CartState *cart)
{
	const char *cart_id = cart->ids.cart_id;

	if (STATE_NUMBER(state, version, said->shop, cart_id) > cart->state_version)
		return false;
	STATE_PUT_NUMBER(state, version, said->shop, cart_id, cart->state_version);
	STATE_PUT(state, cart_rows, said->shop, cart_id, cart);
	return true;
}

/*
 * The merges of carts
 *
 * Owns:      the table merges (cart id -> struct merge_row) of a service's state; a cart that was never part
 *            of a merge has no row.
 * Promises:  an older row never replaces a newer one.
 */

struct merge_row {
	uint64_t version;
	struct merges merges;
};
STATE_STRUCTS(merges, "merges", struct merge_row);

_Static_assert(sizeof(((CartState *)0)->merged_from) == sizeof(((struct merges *)0)->from),
	"as many as a cart's row can name");

void merges_remember(struct state *state, const struct message_meta *said, const CartState *cart)
{
	struct merge_row row;

	STATE_GET(state, merges, said->shop, cart->ids.cart_id, &row);
	if (row.version > cart->state_version || (!*cart->merged_into && cart->merged_from_count == 0))
		return;
	memset(&row, 0, sizeof(row));
	row.version = cart->state_version;
	row.merges.away = *cart->merged_into != '\0';
	row.merges.count = cart->merged_from_count;
	for (int i = 0; i < row.merges.count; i++)
		TEXT_COPY(row.merges.from[i], cart->merged_from[i]);
	STATE_PUT(state, merges, said->shop, cart->ids.cart_id, &row);
}

struct merges merges_of(const struct state *state, const char *shop, const char *cart_id)
{
	struct merge_row row;

	STATE_GET(state, merges, shop, cart_id, &row);
	return row.merges;
}

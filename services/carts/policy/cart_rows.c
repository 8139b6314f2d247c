/* cart_rows.c: the carts, as a service has folded them from cart.state */
#include "services/carts/policy/cart_rows.h"

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

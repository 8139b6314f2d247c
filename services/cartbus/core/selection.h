/*
 * selection.h: which messages of the log are about one cart
 *
 * A cart goes by many ids, which messages tie together one by one; a selection is everything that any of them leads to.
 */
#ifndef CARTBUS_CORE_SELECTION_H
#define CARTBUS_CORE_SELECTION_H

#include "proto/cart_topics.h"
#include "services/cartbus/core/reading.h"

struct selection;

/*
 * `cart` may be our cart id, any token, checkout or order id, or a shopper's address (all carts of that shopper). Complains and
 * returns NULL when the log knows nothing by that name.
 */
struct selection *selection_find(
	const struct command *command, struct client *client, const char *shop, const char *cart);
void selection_free(struct selection *selection);

bool selection_has(
	struct selection *selection, const struct entry *entry, const struct topic *topic, const void *message);
/* Of feedback that it has and that names one of its reminders: which. */
void selection_name_step(const struct selection *selection, const struct topic *topic, void *message);
/* The canonical row as the log tells it last; NULL: intake has not made one yet. */
const CartState *selection_cart(const struct selection *selection);

#endif

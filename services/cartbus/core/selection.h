/*
 * selection.h: selects the messages of the log about one cart
 *
 * A cart has many ids, which messages connect one by one. A selection has all messages with any of these ids.
 */
#ifndef CARTBUS_CORE_SELECTION_H
#define CARTBUS_CORE_SELECTION_H

#include "proto/cart_topics.h"
#include "services/cartbus/core/reading.h"

struct selection;

/*
 * `cart` may be our cart id, any token, checkout or order id, or a shopper's address (all carts of that
 * shopper). Complains and returns NULL if the log has nothing with that name.
 */
struct selection *selection_find(
	const struct command *command, struct client *client, const char *shop, const char *cart);
void selection_free(struct selection *selection);

bool selection_has(
	struct selection *selection, const struct entry *entry, const struct topic *topic, const void *message);
/* For selected feedback that names one of its reminders: fills in the reminder's step. */
void selection_name_step(const struct selection *selection, const struct topic *topic, void *message);
/* The latest canonical row in the log; NULL: intake has not made one yet. */
const CartState *selection_cart(const struct selection *selection);

#endif

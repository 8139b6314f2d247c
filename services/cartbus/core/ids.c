/*
 * ids.c: what a message knows a cart and its shopper by
 *
 * Read next: selection.c (messages about one cart), person.c (about one shopper)
 */
#include "services/cartbus/core/ids.h"

#include "proto/cart_topics.h"
#include <stdio.h>

static void add(const CartIds *ids, struct ids *ret)
{
	ret->count += join_names(ids, ret->names + ret->count);
	if (!*ret->hash)
		ret->hash = ids->email_hash;
	if (!*ret->customer)
		ret->customer = ids->customer_id;
	if (!*ret->email)
		ret->email = ids->email;
}

static void of_state(const CartState *cart, struct ids *ret)
{
	add(&cart->ids, ret);
	for (int i = 0; i < cart->also_count; i++)
		add(&cart->also[i], ret);
	for (int i = 0; i < cart->merged_from_count; i++)
		snprintf(ret->names[ret->count++], sizeof(ret->names[0]), "id:%s", cart->merged_from[i]);
}

void ids_of(const struct topic *topic, const void *message, struct ids *ret)
{
	ret->count = 0;
	ret->hash = ret->customer = ret->email = "";
	if (topic == &topic_cart_changed)
		add(&((const CartChanged *)message)->ids, ret);
	else if (topic == &topic_cart_checkout)
		add(&((const CartCheckout *)message)->ids, ret);
	else if (topic == &topic_cart_state)
		of_state(message, ret);
	else if (topic == &topic_reminder_due)
		of_state(&((const ReminderDue *)message)->cart, ret);
}

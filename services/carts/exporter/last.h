/*
 * last.h: what was last decided about a cart, in words: the latest audit of each
 */
#ifndef CARTS_EXPORTER_LAST_H
#define CARTS_EXPORTER_LAST_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

struct last {
	char action[32];
	char grounds[200];
	int64_t at_us, next_us; /* next: when the cart is looked at; 0: not said */
};

void last_remember(struct state *state, const struct message_meta *said, const Audit *audit);
struct last last_of(const struct state *state, const char *shop, const char *cart_id); /* all zero: none */
/* Part of a fold, after ledger_forget: of carts that the ledger has forgotten nothing is kept. */
void last_forget(struct state *state, const char *shop);
/* The same for another table whose rows go by the cart's id. */
void last_forget_unknown(struct state *state, const struct state_table *table, const char *shop);

#endif

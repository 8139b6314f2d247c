/* next.h: what comes next for a cart, when, and why then */
#ifndef CARTS_EXPORTER_NEXT_H
#define CARTS_EXPORTER_NEXT_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"
#include "services/carts/policy/plan.h"
#include "services/carts/report/report_fold.h"
#include "services/kit/shop/shop.h"

/* ---- what was last decided about a cart, in words: the latest audit of each ---- */

struct last {
	char action[32];
	char grounds[200];
	int64_t at_us, next_us; /* next: when the cart is looked at; 0: not said */
};

void last_remember(struct state *state, const struct message_meta *said, const Audit *audit);
struct last last_of(const struct state *state, const char *shop, const char *cart_id); /* all zero: none */
/* Part of a fold, after report_fold_forget: of carts that the ledger has forgotten nothing is kept. */
void last_forget(struct state *state, const char *shop);

/* Folds where the mails about a cart would lead, while it is open. */
void next_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart);
/* Part of a fold, after report_fold_forget: of carts that the ledger has forgotten nothing is kept. */
void next_forget(struct state *state, const char *shop);

struct mailed; /* when each shopper was mailed last */

struct mailed *mailed_new(const struct state *state, const char *shop);
void mailed_free(struct mailed *mailed);

struct next {
	int step;                   /* 1, 2; 0: no reminder any more */
	bool is_unmailable;         /* of step 0: one would be due, and cannot be written; `words` say why */
	int64_t at_us;              /* of a reminder; 0: not known */
	char words[PLAN_WORDS_MAX]; /* what holds it back until then; "" */
};
/* Of an open cart with an address. `rules`: NULL: not known yet. */
struct next next_of(const struct state *state, const struct mailed *mailed, const struct shop *shop,
	const struct rules *rules, const char *cart_id, const struct report_fold_row *row, const struct last *last);

#endif

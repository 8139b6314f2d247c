/* next.h: the next step of a cart, its time, and the reason */
#ifndef CARTS_EXPORTER_NEXT_H
#define CARTS_EXPORTER_NEXT_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"
#include "services/carts/policy/plan.h"
#include "services/carts/report/report_fold.h"
#include "services/kit/shop/shop.h"

/* ---- the last decision about a cart, in words: the latest audit of each cart ---- */

struct last {
	char action[32];
	char grounds[200];
	int64_t at_us, next_us; /* next_us: when the cart is decided on again; 0: unknown */
};

void last_remember(struct state *state, const struct message_meta *said, const Audit *audit);
/* all zero: there is none */
struct last last_of(const struct state *state, const char *shop, const char *cart_id);
/* Part of a fold, after report_fold_forget: drops the rows of carts that the report fold has forgotten. */
void last_forget(struct state *state, const char *shop);

/* Folds the way back of an open cart: where the mails about it would lead. */
void next_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart);
/* Part of a fold, after report_fold_forget: drops the rows of carts that the report fold has forgotten. */
void next_forget(struct state *state, const char *shop);

struct mailed; /* by shopper: when the last mail was sent */

struct mailed *mailed_new(const struct state *state, const char *shop);
void mailed_free(struct mailed *mailed);

struct next {
	int step; /* 1, 2; 0: no further reminder */
	/* of step 0: a reminder would be due but cannot be written; `words` tell why */
	bool is_unmailable;
	int64_t at_us;              /* of the reminder; 0: unknown */
	char words[PLAN_WORDS_MAX]; /* what delays it until then; may be "" */
};
/* For an open cart with an address. `rules` NULL: not known yet. */
struct next next_of(const struct state *state, const struct mailed *mailed, const struct shop *shop,
	const struct rules *rules, const char *cart_id, const struct report_fold_row *row, const struct last *last);

#endif

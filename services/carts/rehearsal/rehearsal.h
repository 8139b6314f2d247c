/*
 * rehearsal.h: which mails would have been sent with other texts of the owner
 *
 * It plays the log of one shop to the services' own functions in virtual time. Messages from outside
 * (storefronts, shoppers, the owner, gateways) stay as they were; intake, waiter, timer and sender decide
 * again. A decision that is also in history is made at its place and with its clock, so that the same texts
 * give the same history. The consequences of a difference are decided at once. The mail server answers the
 * nth attempt of a mail as it did then, and accepts mails that it was never given.
 *
 * The log is read twice: first from the beginning of the window to collect its history, then from the
 * beginning of the log to play it.
 */
#ifndef CARTS_REHEARSAL_REHEARSAL_H
#define CARTS_REHEARSAL_REHEARSAL_H

#include "bus/actor/turn.h"
#include "proto/cart_topics.h"

struct rehearsal;

enum { REHEARSAL_DOCUMENTS_MAX = 2 };

struct rehearsal_plan {
	const char *shop;
	const char *folder; /* a place for the folded state; NULL: in memory */
	uint64_t from_seq;  /* the window's first message */
	int64_t from_us;    /* and its time */
	int document_count; /* texts that replace those of history from the window on; 0: none */
	struct rehearsal_document {
		const char *kind; /* "rules", "shop" */
		const char *text;
	} documents[REHEARSAL_DOCUMENTS_MAX];
};

/* Borrows the plan. Returns NULL on failure; ret_why gives the reason. A process may have one at a time. */
struct rehearsal *rehearsal_new(const struct rehearsal_plan *plan, char ret_why[512]);
void rehearsal_free(struct rehearsal *rehearsal); /* takes NULL */

/* First takes every message of this shop and of SHOP_OF_ALL, from plan->from_seq to the end, in order. */
void rehearsal_history(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload);
/* Then takes the same messages from the beginning of the log to the same end. */
void rehearsal_hear(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload);
void rehearsal_end(struct rehearsal *rehearsal);

enum step_end {
	STEP_NOTHING,
	STEP_SKIPPED,
	STEP_WOULD, /* the shop is only observed */
	STEP_REFUSED,
	STEP_MAYBE, /* ambiguous */
	STEP_OWNER, /* mode "mail me" */
	STEP_SENT
};

struct rehearsed {
	const char *cart_id, *address_hash;
	int step;
	struct rehearsed_end {
		enum step_end end;
		int64_t at_us;
	} was, would;
};

/* Calls each() for every step that had a result in history or in the rehearsal, in order of cart and step. */
typedef void rehearsed_fn(const struct rehearsed *step, void *context);
void rehearsal_each(const struct rehearsal *rehearsal, rehearsed_fn *each, void *context);
/* The cart at the end of the rehearsal; false: there is no such cart. */
bool rehearsal_cart(const struct rehearsal *rehearsal, const char *cart_id, CartState *ret);

/*
 * What the waiter would say now about a cart whose timer is set. If the window of the rehearsal has not begun
 * (from_seq UINT64_MAX), everything is as in the log.
 */
struct rehearsed_look {
	const char *cart_id, *action; /* the audit's word: "still_shopping", "first_reminder", "deferred" ... */
	uint64_t revision;
	int64_t due_us;  /* of the timer */
	int64_t next_us; /* the next look; 0: none */
	bool mails;      /* a reminder would be sent */
	uint32_t would_step;
	int64_t would_us;
};
typedef void rehearsed_look_fn(const struct rehearsed_look *look, void *context);
void rehearsal_view(struct rehearsal *rehearsal, int64_t now_us, rehearsed_look_fn *each, void *context);

/* How much of the rehearsal came from history, for information and tests. */
struct rehearsal_counts {
	size_t messages, as_it_was, anew; /* heard; decisions at history's place; decisions of the rehearsal alone */
	size_t outages;                   /* periods in which timers fired late */
};
struct rehearsal_counts rehearsal_counts(const struct rehearsal *rehearsal);

#endif

/*
 * rehearsal.h: what would have been mailed, had the owner's texts been others
 *
 * The log of one shop is played to the services' own functions in virtual time. What came from outside (storefronts, shoppers, the
 * owner, gateways) is taken as it came; what intake, waiter, timer and sender said is decided anew. A decision that history made as
 * well is made at its place and with its clock, so that the same texts give the same history; what follows from a difference is
 * decided at once. A mail server answers the nth try of a mail as it did then, and takes what it was never given.
 *
 * The log is read twice: from the window's beginning to learn what history decided, then from the log's beginning to play it.
 */
#ifndef CARTS_REHEARSAL_REHEARSAL_H
#define CARTS_REHEARSAL_REHEARSAL_H

#include "bus/actor/turn.h"
#include "proto/cart_topics.h"

struct rehearsal;

enum { REHEARSAL_DOCUMENTS_MAX = 2 };

struct rehearsal_plan {
	const char *shop;
	const char *folder; /* where folded state lies meanwhile; NULL: in memory */
	uint64_t from_seq;  /* the window's first message */
	int64_t from_us;    /* and its time */
	int document_count; /* texts that take the place of history's from there on; 0: all as it was */
	struct rehearsal_document {
		const char *kind; /* "rules", "shop" */
		const char *text;
	} documents[REHEARSAL_DOCUMENTS_MAX];
};

/* Borrows the plan. NULL: ret_why. One at a time in a process. */
struct rehearsal *rehearsal_new(const struct rehearsal_plan *plan, char ret_why[512]);
void rehearsal_free(struct rehearsal *rehearsal); /* takes NULL */

/* Every message of this shop, and of SHOP_OF_ALL, from plan->from_seq to the end, in order. */
void rehearsal_history(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload);
/* Then the same from the log's beginning, to the same end. */
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

/* Each step of which anything became in history or in the rehearsal, by cart and step. */
typedef void rehearsed_fn(const struct rehearsed *step, void *context);
void rehearsal_each(const struct rehearsal *rehearsal, rehearsed_fn *each, void *context);
/* The cart as the rehearsal left it; false: it knows none. */
bool rehearsal_cart(const struct rehearsal *rehearsal, const char *cart_id, CartState *ret);

/*
 * What the waiter would say if it looked now at a cart whose timer is set. Of a rehearsal whose window has not begun (from_seq
 * UINT64_MAX): everything is as the log has it.
 */
struct rehearsed_look {
	const char *cart_id, *action; /* the audit's word: "still_shopping", "first_reminder", "deferred" ... */
	uint64_t revision;
	int64_t due_us;  /* of the timer */
	int64_t next_us; /* the next look; 0: none */
	bool mails;      /* a reminder would go */
	uint32_t would_step;
	int64_t would_us;
};
typedef void rehearsed_look_fn(const struct rehearsed_look *look, void *context);
void rehearsal_view(struct rehearsal *rehearsal, int64_t now_us, rehearsed_look_fn *each, void *context);

/* How much of it was history's own, for the curious and for tests. */
struct rehearsal_counts {
	size_t messages, as_it_was, anew; /* heard; decisions at history's place; decisions of the rehearsal alone */
	size_t outages;                   /* times in which timers fired late */
};
struct rehearsal_counts rehearsal_counts(const struct rehearsal *rehearsal);

#endif

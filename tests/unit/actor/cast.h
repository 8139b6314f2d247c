/*
 * cast.h: the services that the conformance suite plays with
 *
 * clerk:  exclusive; keeps accounts. Hears cart.wake (cart_id: the account, due_us: what to add, revision: what is odd about it),
 *         says audit with the new balance, remembers audit.
 * postman: any number; hears link.clicked, and "delivers" it in an effect fenced by send.claim; says reminder.sent or released.
 * bell:   exclusive; lives by the clock: timer.set in, timer.fired out.
 * door:   a gateway: may have a spool.
 */
#ifndef TESTS_UNIT_ACTOR_CAST_H
#define TESTS_UNIT_ACTOR_CAST_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

extern const struct service clerk, postman, bell, door;
extern const struct service *const cast[]; /* NULL-terminated */

enum oddity {
	ODD_NOT,
	ODD_FAILS,       /* every time */
	ODD_NEVER,       /* cannot be decided on */
	ODD_BAD_FACT,    /* says its balance, and then something that the broker refuses */
	ODD_FAILS_ONCE,  /* the first time */
	ODD_SAYS_NOTHING /* TURN_DONE without a fact */
};

/* The world's side of postman: what left the house. One driver per instance, all noting in one ledger. */
struct ledger {
	struct delivered {
		char what[80]; /* cart_id/step */
		int times;
	} delivered[256];
	int count;
	bool hold_claim;    /* do not ask for the claim yet */
	bool hold_answer;   /* it left, but the answer does not come yet */
	int put_off;        /* so many are answered with "not now" */
	const char *poison; /* who starts this is to be killed: `struck` counts, nothing else happens */
	int struck;
	void (*at_work)(struct ledger *ledger, void *context); /* whenever the driver looks what there is to do */
	void *context;
	int started, claims, went, withdrawn, stopped;
};

struct effect_driver *const *courier_new(struct ledger *ledger);
void courier_free(struct effect_driver *const *drivers);
int ledger_times(const struct ledger *ledger, const char *what);

#endif

/*
 * plan.h: a week at two storefronts that share every id: which carts there are, what their shoppers do, and when
 *
 * A plan is made from a seed and nothing else; the test plays it to the simulated system as a gateway would, and judges by it.
 */
#ifndef TESTS_WEEK_PLAN_H
#define TESTS_WEEK_PLAN_H

#include "bus/actor/sim/sim.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"

#define WEEK_START_US (INT64_C(20593) * US_PER_DAY) /* Wednesday, 20 May 2026, midnight UTC */
#define WEEK_US (7 * US_PER_DAY)

enum fate {
	FATE_LEFT,           /* nothing more: two mails, then given up */
	FATE_BOUGHT,         /* by its cart token */
	FATE_BOUGHT_BY_TIE,  /* the order knows only the checkout token */
	FATE_BOUGHT_BY_MAIL, /* the order knows only the address */
	FATE_OPTED_OUT,
	FATE_CHANGED, /* its clock starts anew */
	FATE_EMPTIED,
	FATE_LATE_ADDRESS, /* given hours after it was left */
	FATE_NO_ADDRESS,
	FATE_DISORDERED, /* the same events twice, and an older one last */
	FATE_BY_OWNER,
	FATES
};

struct planned_cart {
	char shop[8], token[16], email[32], hash[16];
	enum fate fate;
	bool shares_address; /* with another cart of the same shop */
	int64_t left_us;
	int64_t stop_us; /* when its fate comes; 0: never */
	int64_t total_minor;
};

struct planned_event {
	int64_t at_us;
	int cart;
	int step; /* of this cart's fate, from 0 */
};

struct plan {
	int cart_count;
	struct planned_cart *carts;
	size_t event_count;
	struct planned_event *events; /* in order of time */
};

struct plan *plan_new(int carts, uint64_t seed);
void plan_free(struct plan *plan);

void plan_open_shops(struct sim *sim); /* rules, configuration, mode */
void plan_play(struct sim *sim, const struct plan *plan, const struct planned_event *event);

#endif

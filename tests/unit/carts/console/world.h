/* world.h: the pages' folds in a harness, and short words for the facts that they fold */
#ifndef TESTS_UNIT_CARTS_CONSOLE_WORLD_H
#define TESTS_UNIT_CARTS_CONSOLE_WORLD_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/console/show.h"
#include "tests/unit/cmocka_all.h"

#define DEMO "demo"
#define ZONE "America/New_York"
#define NOW_US (INT64_C(1795536000) * US_PER_S) /* 2026-11-24 16:00 UTC, 11:00 in New York */
#define NOON_US(days_ago) (NOW_US - (days_ago)*US_PER_DAY)

extern const struct service pages; /* it remembers what the console does of the carts */

/* A cart of demo; zero and NULL: a usual one. */
struct a_cart {
	const char *id;
	const char *email; /* "": none; its hash is "hash of " and the address */
	const char *title, *currency, *order, *merged_into, *merged_from, *token;
	int64_t left_us, total_minor;
	CartStatus status;
	ClosedReason closed_reason;
	int64_t bought_us, order_minor, refunded_minor, cancelled_us;
	uint64_t version;
	bool test;
};
/* The whole row, to be freed; versions count up if none is given. */
CartState *cart_of(const struct a_cart *cart);

struct harness *pages_new(void);
/* The shop's texts; its mode is live. `more` of [mail] of shop.conf. */
void given_shop(struct harness *h, const char *more);
void given_cart(struct harness *h, const struct a_cart *cart);
void given_sent(struct harness *h, const char *cart_id, uint32_t step, int64_t at_us);
void given_timer(struct harness *h, const char *cart_id, uint64_t revision, int64_t due_us);
struct page_asked asked_of(const struct harness *h);

json_int_t number_at(const json_t *json, const char *name);
const char *text_at(const json_t *json, const char *name);

#endif

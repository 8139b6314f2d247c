/* given.h: what the tests of the waiter begin with, and how they look at what it said */
#ifndef TESTS_WAITER_GIVEN_H
#define TESTS_WAITER_GIVEN_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/waiter/waiter.h"
#include "tests/unit/cmocka_all.h"

#define LEFT_US (INT64_C(20000) * US_PER_DAY)
#define H(hours) (LEFT_US + (int64_t)((hours)*US_PER_HOUR))

extern const char RULES[], SHOP[];

uint32_t given_document(struct harness *h, const char *kind, const char *text, const char *more);
void given_mode(struct harness *h, ShopMode mode);
CartState small_cart(void);
void given_cart(struct harness *h, const CartState *cart);
struct harness *given_all(ShopMode mode);
void when_woken(struct harness *h, int64_t now_us, uint64_t revision);
Audit audited(const struct harness *h);
CartWake next_wake(const struct harness *h, int64_t *ret_due_us);
int64_t next_us(const struct harness *h);
ClosedReason closed(const struct harness *h);
void given_sent(struct harness *h, uint32_t step, int64_t at_us);

#endif

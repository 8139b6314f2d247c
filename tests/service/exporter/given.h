/*
 * given.h: a shop of Berlin, its carts and its nights, of October 2026
 */
#ifndef TESTS_SERVICE_EXPORTER_GIVEN_H
#define TESTS_SERVICE_EXPORTER_GIVEN_H

#include "bus/actor/sim/harness.h"
#include "proto/cart_topics.h"
#include "services/carts/exporter/exporter.h"

extern struct exporter exporter_here; /* of every harness that is given here: given_shop begins it anew */
int64_t berlin(int day, int hour, int minute);
struct harness *given_shop(void);
struct harness *given_shop_with(const char *more); /* with these lines behind its shop.conf */
CartState cart_of(const char *id, int64_t abandoned_us);
void given_cart(struct harness *h, const CartState *cart);
enum verdict when_night(struct harness *h, int64_t due_us);

#endif

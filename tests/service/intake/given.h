/* given.h: what the tests of intake begin with */
#ifndef TESTS_SERVICE_INTAKE_GIVEN_H
#define TESTS_SERVICE_INTAKE_GIVEN_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/intake/intake.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define NOON_US (INT64_C(20000) * US_PER_DAY)
#define MINUTE(n) (NOON_US + (n)*US_PER_MINUTE)

/* One mug at 35.00 EUR in the cart with token t1, changed at that minute and heard a second later. */
CartChanged mug_at(int minute);
CartChanged mug_of_ann_at(int minute); /* with her address */
CartCheckout order_at(int minute);     /* of the cart with token t1 */

enum verdict when_changed(struct harness *h, const CartChanged *changed);
enum verdict when_bought(struct harness *h, const CartCheckout *checkout);

/* What the last turn said; it fails the test if there is none. */
const CartState *said_row(const struct harness *h);
const CartState *said_rows(const struct harness *h, size_t nth);
const TimerSet *said_timer(const struct harness *h);
const TimerCancel *said_cancel(const struct harness *h);
const Audit *said_audit(const struct harness *h, size_t nth);
void said_nothing(const struct harness *h);

#endif

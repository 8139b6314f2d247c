/*
 * failing_waiter.c: cartbus-failing-waiter: the waiter, but that it fails at every cart
 *
 * It takes the waiter's place in a running system, under its name.
 */
#include "bus/actor/process.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/waiter/waiter.h"
#include "services/kit/settings/settings.h"

#define AGAIN_US                                                                                                       \
	(3 * US_PER_MINUTE) /* of a clock that runs sixty times as fast: time for the test to put the real one back */

static enum verdict fail(const struct state *state, const CartWake *wake, struct turn *turn)
{
	(void)state, (void)wake;
	return turn_failed(turn, AGAIN_US, "as the test wants it");
}

int main(int argc, char **argv)
{
	static struct service failing;

	failing = waiter;
	failing.hears = HEARING(HEARS(cart_wake, fail));
	return process_main(argc, argv, &(struct process){ .service = &failing, .keys = settings_keys });
}

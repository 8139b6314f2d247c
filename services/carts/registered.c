/* registered.c: what of the carts' topics the processes say that all systems share (services/systems.cmake) */
#include "proto/cart_topics.h"
#include "services/kit/time/timer_setter.h"

extern const struct topic *const carts_timers[], *const carts_endpoint_topics[];
extern const struct timer_setter carts_timer_setters[];

/* What a timer may fire. */
const struct topic *const carts_timers[] = { &topic_cart_wake, NULL };
/* Who may have a cart looked at later. */
const struct timer_setter carts_timer_setters[] = { { "intake", &topic_cart_wake }, { "waiter", &topic_cart_wake },
	{ "sender", &topic_cart_wake }, { NULL, NULL } };

/* What webhooks and the links of reminders say at the gateway. */
const struct topic *const carts_endpoint_topics[] = { &topic_cart_changed, &topic_cart_checkout, &topic_link_clicked,
	NULL };

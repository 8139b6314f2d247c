/* registered.c: the carts' topics that the processes of all systems may publish (services/systems.cmake) */
#include "proto/cart_topics.h"
#include "services/kit/time/timer_setter.h"

extern const struct topic *const carts_timers[], *const carts_endpoint_topics[];
extern const struct timer_setter carts_timer_setters[];

/* The topics that a timer may fire. */
const struct topic *const carts_timers[] = { &topic_cart_wake, NULL };
/* The services that may set a timer for a cart. */
const struct timer_setter carts_timer_setters[] = { { "intake", &topic_cart_wake }, { "waiter", &topic_cart_wake },
	{ "sender", &topic_cart_wake }, { NULL, NULL } };

/* The topics that the gateway publishes for webhooks and for the links of reminders. */
const struct topic *const carts_endpoint_topics[] = { &topic_cart_changed, &topic_cart_checkout, &topic_link_clicked,
	NULL };

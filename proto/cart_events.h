/*
 * cart_events.h: events about carts and reminders, each kind with an id that stays: the journal's MESSAGE_ID
 *
 * X(name, id, title). Never change an id: admins have written it into their searches. A process that says a message tells the event
 * that has the name of the message's topic (cart_topics.h: CART_LOG_ROWS). deploy/journal/cartbus.catalog says for each event what it
 * means and what to do.
 */
#ifndef PROTO_CART_EVENTS_H
#define PROTO_CART_EVENTS_H

#include "bus/base/log.h"

#define CART_EVENTS(X)                                                                                                 \
	X(cart_wake, "d0eb7fe6330548db996d3af2c8adff6d", "a cart's timer fired")                                       \
	X(reminder_sent, "2f521da526bd4aebba557f89c13b449c", "a mail was sent")                                        \
	X(reminder_released, "2754f9b0775347d592148f32da50d4e9", "a mail did not go, and is tried again")              \
	X(reminder_refused, "cbbec4a00e774973967c06890c4223d8", "a mail was refused for good")                         \
	X(reminder_ambiguous, "346221c87bee455bb98f018083b13390", "of a mail nobody knows whether it went")            \
	X(reminder_skipped, "a2c8737129e14a3aaabd08a670a4c7ab", "a mail was not sent, on purpose")

CART_EVENTS(LOG_EVENT_DECLARE)

#endif

/*
 * log_events.h: what kinds of events the bus tells of, each with an id that stays: the journal's MESSAGE_ID
 *
 * X(name, id, title). Never change an id: admins have written it into their searches. proto/events.h holds those about carts.
 */
#ifndef BASE_LOG_EVENTS_H
#define BASE_LOG_EVENTS_H

#define BUS_EVENTS(X)                                                                                                  \
	X(decision_failed, "198ded7094424713813d7f63b8c9edd4", "a decision failed, and is tried again")                \
	X(given_up, "a10d6c5bd7d94687a93acb184c8bc192", "a message was given up: it is a dead letter now")             \
	X(said_before, "a6be04c3aae74e0b91e24a2b36831870", "a message came once more, and changed nothing")

#define LOG_EVENT_DECLARE(name, id, title) extern const char event_##name[];
#define LOG_EVENT_DEFINE(name, id, title) const char event_##name[] = id;
BUS_EVENTS(LOG_EVENT_DECLARE)

#endif

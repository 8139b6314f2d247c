/*
 * topics.h: the topics of all systems: for taps, traces and tools that meet every topic
 *
 * A service names the topics that it hears and says, and includes the header of its system instead (cart_topics.h).
 */
#ifndef PROTO_TOPICS_H
#define PROTO_TOPICS_H

#include "bus/actor/topic.h"

/* The systems' tables (face `topics` of services/systems.cmake), each ended by a NULL, and so is the list of them. */
extern const struct topic *const *const registered_topics[];

const struct topic *topic_nth(size_t n);                /* of all of them; NULL: there are no more */
const struct topic *topic_registered(const char *name); /* NULL: no system has a topic of this name */

#endif

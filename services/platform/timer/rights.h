/*
 * rights.h: which topics a timer may fire, and who may set such a timer
 *
 * The broker says of each message which service said it, and proves that name (bus/wire/gate.c). It cannot look into a timer.set, so
 * the timer holds that name against what the systems registered: else whoever may set a timer could have anything said.
 */
#ifndef PLATFORM_TIMER_RIGHTS_H
#define PLATFORM_TIMER_RIGHTS_H

#include "bus/actor/topic.h"

/* One of the topics that systems let timers fire; NULL: it is none of them. */
const struct topic *rights_topic(const char *name);
/* The timer itself: it sets each shop's ticks, and sets anew what others may set. */
bool rights_is_timer(const char *service);
/* May this service set and cancel timers that fire this topic? No for a topic that no system registered. */
bool rights_allow(const char *service, const char *topic);

#endif

/*
 * tell.h: an alarm on its ways to the admin
 */
#ifndef PLATFORM_MONITOR_TELL_H
#define PLATFORM_MONITOR_TELL_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

enum verdict tell_hear_alarm(const struct state *state, const Alarm *alarm, struct turn *turn);
enum verdict tell_hear_due(const struct state *state, const AlarmDue *due, struct turn *turn);

extern const struct effect_kind tell_mail_effect, tell_http_effect;

#endif

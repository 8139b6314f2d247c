/*
 * alarm.h: who asks a storefront says when it does not answer, or refuses our key; once, and once when it is over
 *
 * Two kinds, as they are mended in two ways: "storefront" (no answer) and "storefront-key" (401 or 403).
 */
#ifndef KIT_STOREFRONT_ALARM_H
#define KIT_STOREFRONT_ALARM_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/kit/http/http.h"

enum storefront_end { STOREFRONT_END_ANSWERED, STOREFRONT_END_SILENT, STOREFRONT_END_REFUSED };

bool storefront_refuses(const struct http_answer *answer); /* takes NULL */

/* For services that remember and say `alarm`. Of the shop of the turn's message; `why` in words, of an answer unused. */
void storefront_alarm_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void storefront_alarm_say(const struct state *state, struct turn *turn, enum storefront_end end, const char *why);

#endif

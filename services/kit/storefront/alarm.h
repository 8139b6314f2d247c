/*
 * alarm.h: raises an alarm once when a storefront does not answer or refuses our key, and ends it once when
 * that is over
 *
 * There are two kinds, because they have different remedies: "storefront" (no answer) and "storefront-key"
 * (401 or 403).
 */
#ifndef KIT_STOREFRONT_ALARM_H
#define KIT_STOREFRONT_ALARM_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/kit/http/http.h"

enum storefront_end { STOREFRONT_END_ANSWERED, STOREFRONT_END_SILENT, STOREFRONT_END_REFUSED };

bool storefront_refuses(const struct http_answer *answer); /* takes NULL */

/*
 * For services that remember and say `alarm`. They concern the shop of the turn's message. `why` gives the
 * reason in words; it is not used for an answer.
 */
void storefront_alarm_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void storefront_alarm_say(const struct state *state, struct turn *turn, enum storefront_end end, const char *why);

#endif

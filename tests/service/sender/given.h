/* given.h: a live shop with rules, a cart, and a reminder that is due */
#ifndef TESTS_SENDER_GIVEN_H
#define TESTS_SENDER_GIVEN_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/sender/sender.h"
#include "services/kit/mail/message.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define NOON_US (INT64_C(1795176000) * US_PER_S) /* Fri 20 Nov 2026, 12:00 UTC, 13:00 in Berlin */
#define GIVEN_QUIET "Quiet hours: 9 pm to 8 am.\n"

extern struct sender sender_here; /* of all harnesses that are given here: given_shop sets it up anew */

void given_live_shop(struct harness *h); /* what given_shop knows of it */
struct harness *given_shop(void);        /* "demo", live, without quiet hours; the clock stands at NOON_US */
void given_document(struct harness *h, const char *shop, const char *kind, const char *text);
void given_rules(struct harness *h, const char *more);  /* the usual waits, and these sentences */
void given_policy(struct harness *h, const char *more); /* the usual shop.conf, and these lines of [mail] and after */
void given_mode(struct harness *h, ShopMode mode);
void given_outcome(struct harness *h, const struct topic *topic, const char *cart_id, uint32_t step, int64_t at_us);
void given_claim(struct harness *h, uint64_t due_seq, const char *cart_id, uint32_t step, const char *owner);
void given_merge(struct harness *h, const char *loser, const char *winner);
void given_downtime(struct harness *h, const char *gateway, int64_t back_us, int64_t hold_until_us);
void given_checkout(struct harness *h);

ReminderDue due_reminder(uint32_t step); /* of cart c1, decided now */
enum verdict when_due(struct harness *h, const ReminderDue *due);
enum verdict when_sent(struct harness *h, enum mail_end end, const char *words); /* claimed, and this came of it */
ReminderOutcome said_outcome(struct harness *h, const struct topic *topic);
void said_audit(struct harness *h, const char *action);

#endif

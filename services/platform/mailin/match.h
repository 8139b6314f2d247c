/* match.h: finds the mail that a returned mail belongs to */
#ifndef PLATFORM_MAILIN_MATCH_H
#define PLATFORM_MAILIN_MATCH_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/kit/keys/keyring.h"
#include "services/platform/mailin/report.h"

void match_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome);

/*
 * true: the report proves which of our mails it concerns; ret_shop and *ret are filled, heard_us with
 * `now_us` (wall time).
 */
bool match_find(const struct state *state, const struct keyring *keys, int64_t now_us, const struct report *report,
	char ret_shop[64], MailFeedback *ret);

/* Does a shop receive bounces at this address's domain (shop.conf, [mail] bounce)? */
bool match_knows(const struct state *state, const char *address);
int match_shops_at(const struct state *state, const char *domain, char ret_first[64]); /* shops with this domain */
bool match_shop_has(const struct state *state, const char *shop, const char *domain);

#endif

/* summary_mails.h: the mails of a summary, one to each named receiver, each sent once */
#ifndef CARTS_SUMMARIZER_SUMMARY_MAILS_H
#define CARTS_SUMMARIZER_SUMMARY_MAILS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/kit/shop/shop.h"

STATE_TABLE(summaries, "summary", SummaryDone);

extern const struct effect_kind summary_mails_effect;

/* returns the number of receivers */
int summary_mails_say_due(const struct shop *shop, const char *month, struct turn *turn);
enum verdict summary_mails_hear_due(const struct state *state, const SummaryDue *due, struct turn *turn);

void summary_mails_remember_claim(struct state *state, const struct message_meta *said, const SummaryClaim *claim);
void summary_mails_remember_mailed(struct state *state, const struct message_meta *said, const SummaryMailed *mailed);
void summary_mails_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

#define SUMMARY_MAILS_REMEMBERED                                                                                       \
	REMEMBERS_FOR_A_WHILE(summary_claim, summary_mails_remember_claim),                                            \
		REMEMBERS(summary_mailed, summary_mails_remember_mailed),                                              \
		REMEMBERS(alarm, summary_mails_remember_alarm)

#endif

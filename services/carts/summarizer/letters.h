/*
 * letters.h: a summary's mails, one to each who is named, each once
 */
#ifndef CARTS_SUMMARIZER_LETTERS_H
#define CARTS_SUMMARIZER_LETTERS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/kit/shop/shop.h"

STATE_TABLE(summaries, "summary", SummaryDone);

extern const struct effect_kind letters_effect;

int letters_say_due(const struct shop *shop, const char *month, struct turn *turn); /* returns to how many */
enum verdict letters_hear_due(const struct state *state, const SummaryDue *due, struct turn *turn);

void letters_remember_claim(struct state *state, const struct message_meta *said, const SummaryClaim *claim);
void letters_remember_mailed(struct state *state, const struct message_meta *said, const SummaryMailed *mailed);
void letters_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

#define LETTERS_REMEMBERED                                                                                             \
	REMEMBERS_FOR_A_WHILE(summary_claim, letters_remember_claim),                                                  \
		REMEMBERS(summary_mailed, letters_remember_mailed), REMEMBERS(alarm, letters_remember_alarm)

#endif

/* reminder_mail.h: a reminder's mail as the request of an effect, with the data of its claim and outcome */
#ifndef CARTS_SENDER_REMINDER_MAIL_H
#define CARTS_SENDER_REMINDER_MAIL_H

#include "bus/base/list.h"
#include "services/carts/sender/may_send.h"
#include "services/carts/sender/polishing.h"
#include "services/carts/sender/sender.h"
#include "services/kit/effect/claims.h"
#include "services/kit/mail/message.h"

struct reminder_mail {
	struct mail mail; /* must be first, because the driver uses the request as a struct mail */
	struct claim_try attempt;
	bool to_owner;
	struct list hook; /* in the list of reminder_mail.c of running mails */
	bool claimed;
	bool was_asked; /* the storefront was asked before */
	enum storefront_end storefront_end;
	char note[240];           /* about that answer, for the record; may be "" */
	struct polished polished; /* the model's part in it */
};

/* The answers from before the mail is written. */
struct consulted {
	struct asked asked;
	struct polished polished;
};

/* -EINVAL: ret_why tells what in the cart or the shop's texts cannot be mailed. */
int reminder_mail_new(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct consulted *consulted, int64_t now_us, struct reminder_mail **ret, char ret_why[160]);
void reminder_mail_free(struct reminder_mail *reminder_mail);
/* How many mails of this shop (NULL: of all shops) this sender works on that are not claimed yet. */
uint32_t reminder_mails_under_way(const struct sender *context, const char *shop);
void reminder_mail_claimed(const struct reminder_mail *reminder_mail);
int64_t sender_boot_us(
	const struct state *state, int64_t wall_us); /* a span of the wall clock in boot time, as delays are given */

#endif

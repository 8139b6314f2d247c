/*
 * sender.h: the service that mails reminders
 */
#ifndef CARTS_SENDER_SENDER_H
#define CARTS_SENDER_SENDER_H

#include "bus/actor/service.h"
#include "bus/base/list.h"
#include "services/carts/sender/polishing.h"

extern const struct service sender;

/* What every decision of a sender shares and no message carries. sender_set_up fills it. */
struct sender {
	char public_url[256]; /* without a slash at its end */
	uint8_t link_key[128], bounce_key[128];
	size_t link_key_len, bounce_key_len;
	uint32_t most_a_minute, most_a_day; /* of all shops together; 0: no limit */
	struct model_use polish;
	double clock_rate;
	struct list *under_way,
		reminder_mails; /* mails that this sender has written and not given up; the first points to the second (reminder_mail.c) */
};
SERVICE_CONTEXT(sender, struct sender);

struct sender_setup {
	const char *public_url;             /* [gateway] public-url: where unsubscribe links lead */
	struct bytes link_key;              /* secret "link.key"; copied */
	struct bytes bounce_key;            /* secret "bounce.key"; copied. Empty: it follows from link_key */
	uint32_t most_a_minute, most_a_day; /* [mail] per-minute, per-day: of all shops together; 0: no limit */
	struct model_use polish;            /* all zero: no model */
	double clock_rate; /* of the wall clock: delays of the bus run at the true rate, a demo's hours do not */
};
/* `ret` stays where it is, and is all zero the first time. Later calls keep what is known of its mails. */
void sender_set_up(struct sender *ret, const struct sender_setup *setup);

#endif

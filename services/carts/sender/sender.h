/*
 * sender.h: the service that mails reminders
 */
#ifndef CARTS_SENDER_SENDER_H
#define CARTS_SENDER_SENDER_H

#include "bus/actor/service.h"
#include "bus/base/list.h"
#include "services/carts/sender/polishing.h"

extern const struct service sender;

/* The context of all decisions of a sender. sender_set_up fills it. */
struct sender {
	char public_url[256]; /* without a slash at its end */
	uint8_t link_key[128], bounce_key[128];
	size_t link_key_len, bounce_key_len;
	uint32_t most_a_minute, most_a_day; /* of all shops together; 0: no limit */
	struct model_use polish;
	double clock_rate;
	struct list *under_way,
		/*
		 * the mails that this sender has written and still works on; the first points to the second
		 * (reminder_mail.c)
		 */
		reminder_mails;
};
SERVICE_CONTEXT(sender, struct sender);

struct sender_setup {
	const char *public_url; /* [gateway] public-url: the base address of unsubscribe links */
	struct bytes link_key;  /* secret "link.key"; copied */
	/* secret "bounce.key"; copied. Empty: it is derived from link_key */
	struct bytes bounce_key;
	uint32_t most_a_minute, most_a_day; /* [mail] per-minute, per-day: of all shops together; 0: no limit */
	struct model_use polish;            /* all zero: no model */
	/* the rate of wall time: the bus's delays run at the true rate, the hours of a demo do not */
	double clock_rate;
};
/* `ret` must not move, and must be all zero at the first call. Later calls keep the list of its mails. */
void sender_set_up(struct sender *ret, const struct sender_setup *setup);

#endif

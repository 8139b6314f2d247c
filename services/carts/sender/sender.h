/*
 * sender.h: the service that mails reminders
 */
#ifndef CARTS_SENDER_SENDER_H
#define CARTS_SENDER_SENDER_H

#include "bus/actor/service.h"
#include "services/carts/sender/polishing.h"

extern const struct service sender;

/* What every decision of this installation shares and no message carries. Called once, before the first turn. */
struct sender_setup {
	const char *public_url;             /* [gateway] public-url: where unsubscribe links lead */
	struct bytes link_key;              /* secret "link.key"; copied */
	struct bytes bounce_key;            /* secret "bounce.key"; copied. Empty: it follows from link_key */
	uint32_t most_a_minute, most_a_day; /* [mail] per-minute, per-day: of all shops together; 0: no limit */
	struct model_use polish;            /* all zero: no model */
	double clock_rate; /* of the wall clock: delays of the bus run at the true rate, a demo's hours do not */
};
void sender_set_up(const struct sender_setup *setup);

#endif

/* outlook.h: when and why the next mail of a cart is sent, in words and as JSON */
#ifndef CARTBUS_WATCH_OUTLOOK_H
#define CARTBUS_WATCH_OUTLOOK_H

#include "services/cartbus/core/reading.h"
#include "services/cartbus/texts/scratch.h"
#include "services/carts/rehearsal/forecast.h"

struct outlook {
	const struct command *command;
	struct scratch scratch;
	struct forecast *forecast;
};

/* Complains and returns EXIT_NO. `where`: below which folder what is folded lies meanwhile. outlook_end takes either. */
int outlook_begin(const struct command *command, const char *where, struct outlook *ret);
void outlook_end(struct outlook *outlook);
void outlook_hear(struct outlook *outlook, const struct entry *entry); /* of the whole log, in order */

/* false: it is no cart's timer, or it belongs to an older state of the cart. */
bool outlook_line(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer,
	struct next_mail_line *ret);
/* NULL likewise. */
json_t *outlook_json(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer);

#endif

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

struct outlook_line {
	bool comes;  /* a mail does, as far as that is known; those count that are only observed, or held by a pause */
	char at[40]; /* "2026-11-22 08:00:00", "now", "when it is resumed", or "never" */
	char words[320]; /* "first reminder (quiet hours until 08:00)" */
};
/* false: it is no cart's timer, or it belongs to an older state of the cart. */
bool outlook_line(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer,
	struct outlook_line *ret);
/* NULL likewise. {"step", "at_us", "at", "observed", "with_sender", "why"}; no mail: step 0, and why there is none. */
json_t *outlook_json(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer);

#endif

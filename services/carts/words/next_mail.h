/* next_mail.h: the next mail of a cart, in words and as JSON */
#ifndef CARTS_WORDS_NEXT_MAIL_H
#define CARTS_WORDS_NEXT_MAIL_H

#include "services/carts/policy/plan.h"
#include <jansson.h>

struct foreseen {
	/* 1, 2: this reminder was decided at since_us and is at the sender; 0: none is, see plan */
	int with_sender;
	int64_t since_us;
	struct plan plan;
};

struct next_mail_line {
	bool comes;  /* a mail does, as far as that is known; those count that are only observed, or held by a pause */
	char at[40]; /* "2026-11-22 08:00:00", "now", "when it is resumed", or "never" */
	char words[320]; /* "first reminder (quiet hours until 08:00)" */
};
void next_mail_line(const struct foreseen *foreseen, const char *zone, struct next_mail_line *ret);
/* {"step", "at_us", "at", "observed", "with_sender", "why"}; no mail: step 0, and why there is none. */
json_t *next_mail_json(const struct foreseen *foreseen, const char *zone);

#endif

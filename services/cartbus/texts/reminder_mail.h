/*
 * reminder_mail.h: a reminder that somebody wants to see or try: from a cart of the log or a sample, in any language; and taken apart again
 */
#ifndef CARTBUS_TEXTS_REMINDER_MAIL_H
#define CARTBUS_TEXTS_REMINDER_MAIL_H

#include "bus/base/bytes.h"
#include "services/cartbus/core/reading.h"
#include "services/kit/mail/message.h"

struct mail_options {
	const char *shop;    /* its name */
	const char *cart;    /* as for cartbus trace; NULL: a sample */
	const char *step;    /* "1" or "2" */
	const char *locale;  /* instead of the cart's; NULL: the cart's */
	const char *voice;   /* a file that is not published; NULL: what the shopper would get */
	const char *to;      /* NULL: the cart's address */
	const char *test_id; /* NULL: the mail that the shopper would get */
};

enum { MAIL_WORDS_ROOM = 200 };

/* The mail, or an exit after a complaint. `client` may be NULL without a cart; ret_words says whose words it has, or is NULL. */
int reminder_mail_make(const struct command *command, struct client *client, const struct mail_options *options,
	struct mail **ret, char ret_words[MAIL_WORDS_ROOM]);
int mail_options_check(
	const struct command *command, const struct mail_options *options); /* EXIT_USAGE: it complained */

/*
 * ---- takes a mail of ours apart again, for people to look at ----
 *
 * It is for mails that kit/mail/compose.h wrote. Other people's mails are read by mailin.
 */

int mime_part(struct bytes mime, const char *type,
	struct buffer *ret); /* the first of the type, decoded, appended; -ENOENT */
int mime_header(struct bytes mime, const char *name, char *ret, size_t room); /* unfolded, decoded; -ENOENT */

#endif

/*
 * compose.h: makes a MIME message from its parts; the same parts give the same bytes
 *
 * Only for the kit; services call message.h.
 */
#ifndef KIT_MAIL_COMPOSE_H
#define KIT_MAIL_COMPOSE_H

#include "services/kit/mail/message.h"

struct mail_parts {
	const char *from;             /* as in a header: "Name <address>" or "address" */
	const char *to;               /* an address, never a list */
	const char *reply_to;         /* as `from`; "" or NULL: none */
	const char *bounce;           /* envelope sender; "" or NULL: the address of `from` */
	const char *subject;          /* UTF-8 */
	const char *message_id;       /* without angle brackets */
	const char *list_unsubscribe; /* a URL; NULL: neither List-Unsubscribe header */
	const char *list_id;          /* without angle brackets (RFC 2919); NULL: none */
	const char *text;             /* UTF-8, \n line ends */
	const char *html;             /* NULL: a plain text mail */
	int64_t now_us;
};

/* -EINVAL: ret_why names the invalid part. */
int mail_compose(const struct mail_parts *parts, struct mail **ret, char ret_why[160]);

/*
 * A transport checks this before it sends: line ends are CRLF, lines have at most 998 bytes, there is no NUL,
 * and the end is CRLF.
 */
bool mail_lines_valid(struct bytes mime);
/* Is it one bare address that is safe in an SMTP command? */
bool mail_envelope_valid(const char *address);

/* ---- header lines ---- */

/* Appends "Name: value\r\n", folded and with encoded words where needed (RFC 2047). -EINVAL: CR, LF, NUL or not UTF-8. */
int mail_header_text(struct buffer *ret, const char *name, const char *value);
/* Appends a value unchanged: printable ASCII on one line of at most 998 bytes; else -EINVAL. */
int mail_header_plain(struct buffer *ret, const char *name, const char *value);
/* Appends "Name <address>" or "address", with encoded words only in the name. */
int mail_header_mailbox(struct buffer *ret, const char *name, const char *mailbox);

/* Appends the text as quoted-printable: \n becomes CRLF, lines have at most 76 characters. */
void mail_quoted_printable(struct buffer *ret, const char *text);

#endif

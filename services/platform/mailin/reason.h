/*
 * reason.h: finds the reason of a returned mail from codes and words
 *
 * This alone decides if an address is mailed again, so in doubt the reason is REASON_UNCLEAR, which changes
 * nothing.
 */
#ifndef PLATFORM_MAILIN_REASON_H
#define PLATFORM_MAILIN_REASON_H

#include "bus/base/bytes.h"

enum reason {
	REASON_UNCLEAR,  /* unknown: counted as temporary */
	REASON_USER,     /* the mailbox does not exist */
	REASON_INACTIVE, /* the mailbox is closed for good */
	REASON_MOVED,    /* its owner has another address */
	REASON_HOST,     /* the domain does not exist, or takes no mail at all */
	REASON_FULL,     /* the mailbox or its disk is full */
	REASON_PASSING,  /* a server asks to try again */
	REASON_EXPIRED,  /* it was tried for too long */
	REASON_NETWORK,  /* a fault of the network: connections, loops, silent name servers */
	REASON_SYSTEM,   /* a fault of a mail server */
	REASON_SIZE,     /* the mail is too large */
	REASON_CONTENT,  /* spam, a virus, a form of mail that is not wanted */
	REASON_POLICY,   /* we are refused: blocklists, SPF, DKIM, DMARC, authentication, relaying */
	REASON_RATE,     /* too many mails at a time */
	REASON_SENDER,   /* our own address is refused */
	REASON_COUNT,
};

/* One recipient's refusal; each text may be empty. */
struct refusal {
	const char *status;     /* from the report: "5.1.1" */
	const char *diagnostic; /* after words_tidy: the server's answer, or the text of the whole mail */
	/* diagnostic is the text of a whole mail: uncertain words count only together with a code 5 */
	bool is_text;
	bool gave_up; /* the mail server will not try again, even if the code is temporary */
};

/* Do these words, tidied, quote a server's refusal: "550 "? */
bool reason_is_quoted(const char *words);
const char *reason_name(enum reason reason);
/* true: the address must not be mailed again. */
bool reason_is_permanent(enum reason reason);
/*
 * It is pure: the same refusal gives the same reason. ret_at (may be NULL) gets the deciding words in
 * `diagnostic`; NULL if a code decided.
 */
enum reason reason_of(const struct refusal *refusal, const char **ret_at);

extern const unsigned char phrases_text[]; /* the built-in phrases.txt */

#endif

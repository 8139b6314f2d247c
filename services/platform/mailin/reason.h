/*
 * reason.h: why a mail came back, told from codes and words
 *
 * Whether an address is mailed again hangs on this alone, so that in doubt an answer is one that changes nothing (REASON_UNCLEAR).
 */
#ifndef PLATFORM_MAILIN_REASON_H
#define PLATFORM_MAILIN_REASON_H

#include "bus/base/bytes.h"

enum reason {
	REASON_UNCLEAR,  /* nothing that we know: counted as passing */
	REASON_USER,     /* the mailbox does not exist */
	REASON_INACTIVE, /* it is closed for good */
	REASON_MOVED,    /* its owner has another address */
	REASON_HOST,     /* the domain does not exist, or takes no mail at all */
	REASON_FULL,     /* the mailbox or the disk below it */
	REASON_PASSING,  /* a server asks to come again */
	REASON_EXPIRED,  /* it was tried for too long */
	REASON_NETWORK,  /* the way there: connections, loops, name servers that do not answer */
	REASON_SYSTEM,   /* a fault of a mail server's own */
	REASON_SIZE,     /* the mail is too large */
	REASON_CONTENT,  /* spam, a virus, a form of mail that is not wanted */
	REASON_POLICY,   /* we are not let in: blocklists, SPF, DKIM, DMARC, authentication, relaying */
	REASON_RATE,     /* too much at once */
	REASON_SENDER,   /* our own address is refused */
	REASON_COUNT,
};

/* What is known of one recipient's refusal; each may be empty. */
struct refusal {
	const char *status;     /* of the report: "5.1.1" */
	const char *diagnostic; /* as tidied by words_tidy: what a server answered, or the text of the whole mail */
	bool is_text;           /* it is the text of a whole mail: words that are not sure count only beside a 5 */
	bool gave_up;           /* the mail server will not try again, also where the code says that it would */
};

/* Do these words, tidied, quote a server's refusal: "550 "? */
bool reason_is_quoted(const char *words);
const char *reason_name(enum reason reason);
/* The address must not be mailed again. */
bool reason_is_permanent(enum reason reason);
/* Pure: the same refusal, the same reason. ret_at, NULL or where to: the words in `diagnostic` that say so; NULL: a code does. */
enum reason reason_of(const struct refusal *refusal, const char **ret_at);

extern const unsigned char phrases_text[]; /* phrases.txt, as it was built in */

#endif

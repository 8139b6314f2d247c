/*
 * lmtp.h: one session of LMTP (RFC 2033), without its socket: bytes in, bytes out
 *
 * What a mail server on this machine delivers to: nothing is passed on to anybody, and a mail is answered, for each recipient, only
 * when the owner says what became of it.
 */
#ifndef PLATFORM_MAILIN_LMTP_H
#define PLATFORM_MAILIN_LMTP_H

#include "bus/base/bytes.h"
#include "services/kit/mail/address.h"

enum { LMTP_RECIPIENTS_MOST = 16 };

struct lmtp;

struct lmtp_mail {
	struct bytes bytes; /* dots taken off; every line ends with CR LF. Empty where it came in parts */
	const char *sender;
	int count;
	const char (*recipients)[ADDRESS_MAX + 1]; /* as address.h writes them */
};

enum lmtp_knows {
	LMTP_KNOWN,
	LMTP_UNKNOWN,
	LMTP_CANNOT_TELL,
	LMTP_TOO_LARGE, /* what the client said of the mail's size is more than this recipient takes */
	LMTP_ANOTHER    /* it goes elsewhere than the recipients before: the client sends it again for this one */
};

struct lmtp_owner {
	void *self;
	enum lmtp_knows (*knows)(void *self, const char *recipient);
	bool (*has_room)(void *self); /* for one more mail; NULL: always */
	size_t size_most;             /* of a mail to whomever, bytes; 0: REPORT_BYTES_MOST */
	/* Of the mail to the recipients that were known; NULL: size_most. */
	size_t (*bytes_most)(void *self);
	/*
	 * Is the mail to be handed over in parts while it comes, by `part`? Then `take` gets no bytes. A mail that does not come to its end, or
	 * is refused, is not taken: `begin_anew` follows. NULL: no.
	 */
	bool (*is_in_parts)(void *self);
	void (*part)(void *self, struct bytes part);
	void (*begin_anew)(void *self); /* the recipients are forgotten, and what came of a mail; NULL: nothing to do */
	/* Nothing more is heard until lmtp_answer, which may be called from inside. */
	void (*take)(void *self, const struct lmtp_mail *mail);
};

struct lmtp *lmtp_new(const struct lmtp_owner *owner); /* the greeting is to be sent */
void lmtp_free(struct lmtp *lmtp);                     /* takes NULL */
void lmtp_hear(struct lmtp *lmtp, struct bytes bytes); /* at most a few KB at a time, and none while it waits */
void lmtp_answer(
	struct lmtp *lmtp, const char *reply); /* "250 2.0.0 ok": of the mail that was taken, to each recipient */
void lmtp_bid_farewell(struct lmtp *lmtp, const char *reply); /* ends it */
struct buffer *lmtp_out(struct lmtp *lmtp);                   /* to be sent; the sender takes it off the front */
uint64_t lmtp_size_said(const struct lmtp *lmtp);             /* by the client, of the mail to come; 0: nothing */
bool lmtp_waits(const struct lmtp *lmtp);                     /* for lmtp_answer */
bool lmtp_holds_mail(const struct lmtp *lmtp);                /* is being sent one, or waits for its answer */
size_t lmtp_mail_bytes(const struct lmtp *lmtp);              /* of the mail that it holds in memory; 0: none */
bool lmtp_has_ended(const struct lmtp *lmtp);                 /* to be closed when all is sent */

#endif

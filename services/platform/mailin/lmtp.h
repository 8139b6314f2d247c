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
	struct bytes bytes; /* dots taken off; every line ends with CR LF */
	int count;
	const char (*recipients)[ADDRESS_MAX + 1]; /* as address.h writes them */
};

enum lmtp_knows { LMTP_KNOWN, LMTP_UNKNOWN, LMTP_CANNOT_TELL };

struct lmtp_owner {
	void *self;
	enum lmtp_knows (*knows)(void *self, const char *recipient);
	bool (*has_room)(void *self); /* for one more mail; NULL: always */
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
bool lmtp_waits(const struct lmtp *lmtp);                     /* for lmtp_answer */
bool lmtp_holds_mail(const struct lmtp *lmtp);                /* is being sent one, or waits for its answer */
size_t lmtp_mail_bytes(const struct lmtp *lmtp);              /* of the mail that it holds; 0: none */
bool lmtp_has_ended(const struct lmtp *lmtp);                 /* to be closed when all is sent */

#endif

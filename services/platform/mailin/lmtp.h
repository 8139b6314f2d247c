/*
 * lmtp.h: one session of LMTP (RFC 2033), without its socket: bytes in, bytes out
 *
 * A mail server on this machine delivers to it. Mails are not forwarded, and a mail is answered, for each
 * recipient, only when the owner gives the result.
 */
#ifndef PLATFORM_MAILIN_LMTP_H
#define PLATFORM_MAILIN_LMTP_H

#include "bus/base/bytes.h"
#include "services/kit/mail/address.h"

enum { LMTP_RECIPIENTS_MOST = 16 };

struct lmtp;

struct lmtp_mail {
	/* without doubled dots; every line ends with CR LF. Empty if the mail came in parts */
	struct bytes bytes;
	const char *sender;
	int count;
	const char (*recipients)[ADDRESS_MAX + 1]; /* normalised (address.h) */
};

enum lmtp_knows {
	LMTP_KNOWN,
	LMTP_UNKNOWN,
	LMTP_CANNOT_TELL,
	LMTP_TOO_LARGE, /* the announced size is too large for this recipient */
	/*
	 * it has another destination than the previous recipients: the client must send the mail again for
	 * this one
	 */
	LMTP_ANOTHER
};

struct lmtp_owner {
	void *self;
	enum lmtp_knows (*knows)(void *self, const char *recipient);
	bool (*has_room)(void *self); /* is there space for one more mail? NULL: always */
	size_t size_most;             /* of a mail to any recipient, bytes; 0: REPORT_BYTES_MOST */
	/* The largest size of a mail to the accepted recipients; NULL: size_most. */
	size_t (*bytes_most)(void *self);
	/*
	 * Should the mail be passed on in parts by `part` while it comes? Then `take` gets no bytes. If the
	 * mail is incomplete or refused, `begin_anew` is called instead of `take`. NULL: no.
	 */
	bool (*is_in_parts)(void *self);
	void (*part)(void *self, struct bytes part);
	/* forgets the recipients and the parts of a mail; NULL: nothing to do */
	void (*begin_anew)(void *self);
	/* Takes the mail. Nothing more is read until lmtp_answer, which may be called inside. */
	void (*take)(void *self, const struct lmtp_mail *mail);
};

struct lmtp *lmtp_new(const struct lmtp_owner *owner); /* lmtp_out has the greeting */
void lmtp_free(struct lmtp *lmtp);                     /* takes NULL */
/* reads at most a few KB at a time; must not be called while it waits */
void lmtp_hear(struct lmtp *lmtp, struct bytes bytes);
/* answers the taken mail for each recipient, such as "250 2.0.0 ok" */
void lmtp_answer(struct lmtp *lmtp, const char *reply);
void lmtp_bid_farewell(struct lmtp *lmtp, const char *reply); /* ends it */
/* bytes to send; the sender removes them from the front */
struct buffer *lmtp_out(struct lmtp *lmtp);
/* the size that the client announced for the next mail; 0: none */
uint64_t lmtp_size_said(const struct lmtp *lmtp);
bool lmtp_waits(const struct lmtp *lmtp); /* for lmtp_answer */
/* it is receiving a mail, or a mail waits for its answer */
bool lmtp_holds_mail(const struct lmtp *lmtp);
size_t lmtp_mail_bytes(const struct lmtp *lmtp); /* bytes of the mail in memory; 0: none */
bool lmtp_has_ended(const struct lmtp *lmtp);    /* true: close it when everything is sent */

#endif

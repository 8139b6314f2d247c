/*
 * message.h: one mail: composed as MIME, handed to a transport
 *
 * Composing is pure (compose.c); the transports are effect drivers (transport_*.c). The systems write the
 * texts of mails.
 */
#ifndef KIT_MAIL_MESSAGE_H
#define KIT_MAIL_MESSAGE_H

#include "bus/actor/effect.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "services/kit/effect/claim.h"
#include "services/kit/mail/address.h"

struct mail {
	char envelope_from[ADDRESS_MAX + 1];
	char envelope_to[ADDRESS_MAX + 1];
	char message_id[200]; /* without angle brackets */
	struct buffer mime;   /* whole message, CRLF line ends, no dot stuffing, no trailing dot */
	bool claim;           /* asks for a claim before its last byte */
};

void mail_free(struct mail *mail); /* takes NULL; frees itself */

/*
 * The part before the @ of a Message-ID: "<step>.<32 hex digits>". mail_local_make() makes it as 0.1.0 did,
 * from SHA-256 over shop, NUL, `about`, NUL, step, which anybody can compute. `about` is the id of the
 * subject, for a reminder the cart's. mail_local_sign() takes the first digits of HMAC-SHA256 with `key` over
 * a label and the same fields, so that only a receiver of the mail can name it.
 *
 * That part names the mail, and so does the message tag of a mail over SES, in which '-' replaces the dot.
 * mail_local_read() accepts that part, the tag, or the whole Message-ID with or without '<'. false: it is
 * none of them, and ret is "".
 */
#define MAIL_SES_TAG "cartbus-mail"
enum { MAIL_LOCAL_MAX = 40 };
void mail_local_sign(struct bytes key, const char *shop, const char *about, int step, char ret[MAIL_LOCAL_MAX]);
void mail_local_make(const char *shop, const char *about, int step, char ret[MAIL_LOCAL_MAX]);
bool mail_local_read(const char *name, char ret[MAIL_LOCAL_MAX]);

/* A plain note to the owner or admin. */
int mail_note(const char *from, const char *to, const char *subject, const char *body, const char *message_id,
	int64_t now_us, struct mail **ret, char ret_why[160]);

/* The same with an HTML part; `html` "" or NULL: none. */
int mail_pages(const char *from, const char *to, const char *subject, const char *text, const char *html,
	const char *message_id, int64_t now_us, struct mail **ret, char ret_why[160]);

enum mail_end {
	MAIL_SENT, /* the server (or the file system) took it */
	/* certainly not delivered: no connection, or dropped before the last byte; may be tried again */
	MAIL_NOT_SENT,
	MAIL_LATER,   /* the server said 4xx */
	MAIL_REFUSED, /* the server said 5xx */
	MAIL_UNKNOWN, /* the last byte was sent, and no answer came */
};

struct mail_result {
	enum mail_end end;
	char transport[16];
	char words[256]; /* what the server said; no addresses */
	/* of NOT_SENT: the server cannot be reached or does not admit us, which is no fault of this mail */
	bool no_server;
	bool no_mailbox; /* of REFUSED: there is no such mailbox */
};

/* The claim event of a mail's end (CLAIM_END_...). The caller must check no_server itself. */
enum claim_event mail_claim_event(enum mail_end end);

/* Makes a server's words safe for logs and facts: printable ASCII, without words that contain an address. */
void mail_words(const char *said, size_t len, char ret[256]);

/*
 * The driver named "mail": request struct mail, result struct mail_result. [mail] transport = maildir | smtp | ses | null decides.
 * die()s with a remedy on an unusable configuration.
 */
struct effect_driver *mail_driver_new(const struct config *config, const struct clock *clock);
/* Would mail_driver_new die? 0, or a negative errno with the same text in ret_why. Changes nothing. */
int mail_try(const struct config *config, char ret_why[512]);

#endif

/*
 * message.h: one mail: composed as MIME, handed to a transport
 *
 * Composing is pure (compose.c); the transports are effect drivers (transport_*.c). What a mail says is a system's.
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
 * The part before the @ of a Message-ID: "<step>.<32 hex digits>". mail_local_make() makes it as 0.1.0 did: of SHA-256 over shop, NUL,
 * `about`, NUL, step, which anybody can compute. `about` is the id of what the mail is about: of a reminder the cart's. mail_local_sign()
 * takes the first digits of HMAC-SHA256 with `key` over a label and the same, so that who can name the mail was given it.
 *
 * That part names the mail, and so does the message tag of a mail that goes over SES, where '-' stands for the dot. Reading takes that
 * part, the tag, or the whole Message-ID, with its '<' or without; false: it is none of them, and ret is "".
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
	MAIL_SENT,     /* the server (or the file system) took it */
	MAIL_NOT_SENT, /* defined not to be delivered: no connection, dropped before the last byte; may be tried again */
	MAIL_LATER,    /* the server said 4xx */
	MAIL_REFUSED,  /* the server said 5xx */
	MAIL_UNKNOWN,  /* the last byte went, the answer did not come */
};

struct mail_result {
	enum mail_end end;
	char transport[16];
	char words[256]; /* what the server said; no addresses */
	bool no_server; /* of MAIL_NOT_SENT: it cannot be reached, or does not let us in; that is no fault of this mail */
	bool no_mailbox; /* of MAIL_REFUSED: there is no such mailbox */
};

/* How a mail's end counts for its claim (CLAIM_END_...). That there was no server is the caller's to see. */
enum claim_event mail_claim_event(enum mail_end end);

/* What a server said, as it may stand in logs and facts: printable ASCII, and no word that contains an address. */
void mail_words(const char *said, size_t len, char ret[256]);

/*
 * The driver named "mail": request struct mail, result struct mail_result. [mail] transport = maildir | smtp | null decides.
 * die()s with a remedy on an unusable configuration.
 */
struct effect_driver *mail_driver_new(const struct config *config, const struct clock *clock);
/* Would it die? 0; a negative errno, and why, in the words that it would die with. Changes nothing. */
int mail_try(const struct config *config, char ret_why[512]);

#endif

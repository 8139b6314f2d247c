/*
 * mail.h: one mail: rendered from a cart, composed as MIME, handed to a transport
 *
 * Rendering and composing are pure (letter/render.c, compose.c); the transports are effect drivers (transport_*.c).
 */
#ifndef KIT_MAIL_MAIL_H
#define KIT_MAIL_MAIL_H

#include "bus/actor/effect.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "proto/topics.h"
#include "services/carts/letter/voice.h"
#include "services/kit/shop/shop.h"

struct mail {
	char envelope_from[ADDRESS_MAX + 1];
	char envelope_to[ADDRESS_MAX + 1];
	char message_id[200]; /* without angle brackets */
	struct buffer mime;   /* whole message, CRLF line ends, no dot stuffing, no trailing dot */
	bool claim;           /* asks for a claim before its last byte */
};

void mail_free(struct mail *mail); /* takes NULL; frees itself */

struct reminder { /* what a reminder is made of */
	const struct shop *shop;
	struct speech speech;
	const CartState *cart;
	int step;                    /* 1 or 2 */
	int64_t now_us;              /* the Date header */
	struct bytes id_key;         /* of the Message-ID; may be empty for a mail that nobody is sent */
	const char *unsubscribe_url; /* signed; may be NULL when to_owner */
	const char *opening;         /* instead of the voice's opening line, not marked up; NULL: that one */
	const char *return_url;      /* the way back to the basket; NULL: the storefront's own recovery URL */
	const char *to;              /* the shopper, or the owner in mode "mail me" */
	bool to_owner;               /* says so in the mail, and carries no List-Unsubscribe */
	const char *
		test_id; /* `cartbus send-test`: names this mail, which says that it is a test, as to_owner's does; NULL: none */
};

/*
 * The Message-ID of (shop, cart, step): "<step>.<32 hex digits>@<domain of the sender>", without angle brackets. The digits are the first
 * of HMAC-SHA256 with `key` (keyring.h, BOUNCE_KEY) over a label and what mail_local_make() digests, so that who can name the mail was
 * given it. Without a key it is what 0.1.0 wrote, which anybody can compute: for mails that nobody is sent.
 */
void mail_reminder_id(struct bytes key, const struct shop *shop, const char *cart_id, int step, char ret[200]);

/*
 * mail_local_make(): the part before the @ as 0.1.0 wrote it: "<step>.<first 32 hex digits of SHA-256 over shop, NUL, cart id, NUL, step>".
 *
 * The part before the @ names the reminder as well, and so does the message tag of a mail that goes over SES, where '-' stands for
 * the dot. Reading takes that part, the tag, or
 * the whole Message-ID, with its '<' or without; false: it is none of them, and ret is "".
 */
#define MAIL_SES_TAG "cartbus-mail"
enum { MAIL_LOCAL_MAX = 40 };
void mail_local_make(const char *shop, const char *cart_id, int step, char ret[MAIL_LOCAL_MAX]);
bool mail_local_read(const char *name, char ret[MAIL_LOCAL_MAX]);

/* Why a mail about this cart has nowhere to lead back to, as a constant; NULL: its recovery URL is fit. `shop` and `cart` are borrowed. */
const char *mail_return_trouble(const struct shop *shop, const CartState *cart);

/* -EINVAL: CR, LF or NUL where none may be, or nothing to return to; ret_why says what. Deterministic: same input, same bytes. */
int mail_reminder(const struct reminder *reminder, struct mail **ret, char ret_why[160]);
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
	bool no_server;  /* of NOT_SENT: it cannot be reached, or does not let us in; that is no fault of this mail */
	bool no_mailbox; /* of REFUSED: there is no such mailbox */
};

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

/*
 * reminder.h: the mail that reminds a shopper of a cart
 */
#ifndef CARTS_LETTER_REMINDER_H
#define CARTS_LETTER_REMINDER_H

#include "proto/cart_topics.h"
#include "services/carts/letter/voice.h"
#include "services/kit/mail/message.h"
#include "services/kit/shop/shop.h"

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

/* Why a mail about this cart has nowhere to lead back to, as a constant; NULL: its recovery URL is fit. `shop` and `cart` are borrowed. */
const char *mail_return_trouble(const struct shop *shop, const CartState *cart);

/* -EINVAL: CR, LF or NUL where none may be, or nothing to return to; ret_why says what. Deterministic: same input, same bytes. */
int mail_reminder(const struct reminder *reminder, struct mail **ret, char ret_why[160]);

#endif

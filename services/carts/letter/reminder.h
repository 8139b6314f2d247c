/*
 * reminder.h: the mail that reminds a shopper of a cart
 */
#ifndef CARTS_LETTER_REMINDER_H
#define CARTS_LETTER_REMINDER_H

#include "proto/cart_topics.h"
#include "services/carts/letter/voice.h"
#include "services/kit/mail/message.h"
#include "services/kit/shop/shop.h"

struct reminder { /* the input of a reminder */
	const struct shop *shop;
	struct speech speech;
	const CartState *cart;
	int step;                    /* 1 or 2 */
	int64_t now_us;              /* the Date header */
	struct bytes id_key;         /* signs the Message-ID; may be empty for a mail that is not sent */
	const char *unsubscribe_url; /* a signed link; may be NULL if to_owner */
	/* plain text instead of the voice's opening line; NULL: the voice's line */
	const char *opening;
	const char *return_url; /* the way back to the basket; NULL: the storefront's own recovery URL */
	const char *to;         /* the shopper, or the owner in mode "mail me" */
	/* the mail tells that it is a copy for the owner, and has no List-Unsubscribe */
	bool to_owner;
	/*
	 * for `cartbus send-test`: names this mail, which then says that it is a test, as the owner's copy
	 * does; NULL: no test
	 */
	const char *test_id;
};

/*
 * The Message-ID of (shop, cart, step): "<step>.<32 hex digits>@<domain of the sender>", without angle
 * brackets. The digits are the first of HMAC-SHA256 with `key` (keyring.h, BOUNCE_KEY) over a label and what
 * mail_local_make() digests, so only a receiver of the mail can name it. Without a key it is the id of 0.1.0,
 * which anybody can compute; use that only for mails that are not sent.
 */
void mail_reminder_id(struct bytes key, const struct shop *shop, const char *cart_id, int step, char ret[200]);

/*
 * Why the recovery URL of this cart cannot be used in a mail, as a constant; NULL: it can. `shop` and `cart`
 * are borrowed.
 */
const char *mail_return_trouble(const struct shop *shop, const CartState *cart);

/*
 * Makes the mail. -EINVAL: a forbidden CR, LF or NUL, or no usable way back; ret_why tells which. The same
 * input gives the same bytes.
 */
int mail_reminder(const struct reminder *reminder, struct mail **ret, char ret_why[160]);

#endif

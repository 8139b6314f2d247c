/*
 * render.h: renders a reminder as text and as HTML from one source
 *
 * Only for this library; other code calls reminder.h.
 */
#ifndef CARTS_LETTER_RENDER_H
#define CARTS_LETTER_RENDER_H

#include "services/carts/letter/reminder.h"
#include "services/kit/template/template.h"

enum { MAIL_ITEMS_MAX = sizeof((CartState){ 0 }.items) / sizeof(Item), MAIL_ITEM_PRICE_ROOM = 80 };

/*
 * The values of one mail, without control characters and direction marks. All else is borrowed from
 * `reminder`.
 */
struct mail_words {
	const struct reminder *reminder;
	const struct voice_mail *voice;
	const struct template *footer; /* the voice's, or the built-in one of its language */
	char locale[LOCALE_ROOM];      /* for amounts and numbers: the cart's locale, else the shop's */
	bool rtl;                      /* the words are written from right to left */
	char shop[100], first_name[100], total[80] /* "": not given */, count[40], discount_code[64],
		postal_address[300];
	/* when the basket was left, in the shop's zone; "": the texts do not use it */
	char date[80], weekday[80];
	/* the price of each item, for all its pieces; "": not given */
	char prices[MAIL_ITEMS_MAX][MAIL_ITEM_PRICE_ROOM];
	uint64_t pieces;
};

void mail_words_fill(const struct reminder *reminder, struct mail_words *ret);
/* Appends a value to plain text, isolated, because its direction may differ from that of the line. */
void mail_words_isolate(const struct mail_words *words, const char *value, struct buffer *ret);
bool mail_words_has(const struct mail_words *words, enum value value);
/* For every value except items and links: the value, else `label`, else "". */
const char *mail_words_value(const struct mail_words *words, enum value value, const char *label);
/* "" if there is none to show; the owner's copy has none, because it must not unsubscribe the shopper. */
const char *mail_words_link(const struct mail_words *words, enum value value);
void mail_item_title(const Item *item, char ret[320]); /* with the variant; never empty */
void mail_item_count(const struct mail_words *words, const Item *item, char ret[40]);
const char *mail_words_plural(const struct mail_words *words, enum value value);
/* The note above the mail for the owner or a tester; "" for a shopper's mail. */
void mail_words_note(const struct mail_words *words, char ret[500]);
/* may a link of the owner's text lead there: only to the shop's own hosts */
bool mail_words_may_link(const struct mail_words *words, const char *url);

/* Appends the opening line as text, the polished one if there is one; false: this voice has none. */
bool mail_render_opening(const struct mail_words *words, struct buffer *ret);
void mail_render_text(const struct mail_words *words, struct buffer *ret);
void mail_render_html(const struct mail_words *words, const char *subject, struct buffer *ret);

#endif

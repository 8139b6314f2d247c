/*
 * render.h: what a reminder says, as text and as HTML, from one source
 *
 * Inside this library only; others call reminder.h.
 */
#ifndef CARTS_LETTER_RENDER_H
#define CARTS_LETTER_RENDER_H

#include "services/carts/letter/reminder.h"
#include "services/kit/template/template.h"

enum { MAIL_ITEMS_MAX = sizeof((CartState){ 0 }.items) / sizeof(Item), MAIL_ITEM_PRICE_ROOM = 80 };

/* The values of one mail, cleaned of controls and of marks that turn the text around them; borrowed from `reminder` else. */
struct mail_words {
	const struct reminder *reminder;
	const struct voice_mail *voice;
	const struct template *footer; /* the voice's, or the built-in one of its language */
	char locale[LOCALE_ROOM];      /* of amounts and numbers: the cart's, else the shop's */
	bool rtl;                      /* the words are written from right to left */
	char shop[100], first_name[100], total[80] /* "": not given */, count[40], discount_code[64],
		postal_address[300];
	char date[80], weekday[80]; /* when the basket was left, in the shop's zone; "": nothing mentions it */
	char prices[MAIL_ITEMS_MAX][MAIL_ITEM_PRICE_ROOM]; /* of each item, for all pieces of it; "": not given */
	uint64_t pieces;
};

void mail_words_fill(const struct reminder *reminder, struct mail_words *ret);
/* Appends a value to text that is not marked up: it may run the other way than the line it stands in. */
void mail_words_isolate(const struct mail_words *words, const char *value, struct buffer *ret);
bool mail_words_has(const struct mail_words *words, enum value value);
/* Of anything but items and links: the value, else `label`, else "". */
const char *mail_words_value(const struct mail_words *words, enum value value, const char *label);
/* "" when there is none to show: the owner's copy must not unsubscribe the shopper. */
const char *mail_words_link(const struct mail_words *words, enum value value);
void mail_item_title(const Item *item, char ret[320]); /* with the variant; never empty */
void mail_item_count(const struct mail_words *words, const Item *item, char ret[40]);
const char *mail_words_plural(const struct mail_words *words, enum value value);
/* What the owner or a tester reads above the mail; "": it is a shopper's. */
void mail_words_note(const struct mail_words *words, char ret[500]);
bool mail_words_may_link(
	const struct mail_words *words, const char *url); /* to what the owner wrote: the shop's own hosts */

/* The opening line as text, the polished one if there is one; false: this voice has none. */
bool mail_render_opening(const struct mail_words *words, struct buffer *ret);
void mail_render_text(const struct mail_words *words, struct buffer *ret);
void mail_render_html(const struct mail_words *words, const char *subject, struct buffer *ret);

#endif

/*
 * mail_render.h: what a reminder says, as text and as HTML, from one source
 *
 * Inside the kit only; services call mail.h.
 */
#ifndef KIT_MAIL_RENDER_H
#define KIT_MAIL_RENDER_H

#include "services/kit/mail.h"
#include "services/kit/template.h"

/* The values of one mail, cleaned of controls and of marks that turn the text around them; borrowed from `reminder` else. */
struct mail_words {
	const struct reminder *reminder;
	const struct voice_mail *voice;
	const char *locale; /* of amounts: the cart's, else the shop's */
	char shop[100], first_name[100], total[80], count[16], discount_code[64], postal_address[300];
};

enum { MAIL_ITEM_PRICE_ROOM = 80 };

bool mail_words_has(const struct mail_words *words, enum value value);
/* Of anything but items and links: the value, else `label`, else "". */
const char *mail_words_value(const struct mail_words *words, enum value value, const char *label);
/* "" when there is none to show: the owner's copy must not unsubscribe the shopper. */
const char *mail_words_link(const struct mail_words *words, enum value value);
void mail_item_title(const Item *item, char ret[320]); /* with the variant; never empty */
void mail_item_price(
	const struct mail_words *words, const Item *item, char ret[MAIL_ITEM_PRICE_ROOM]); /* of all pieces */
bool mail_url_safe(const char *url); /* https, and nothing that ends an attribute */

void mail_render_text(const struct mail_words *words, struct buffer *ret);
void mail_render_html(const struct mail_words *words, const char *subject, struct buffer *ret);

#endif

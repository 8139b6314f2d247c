/* show.h: what several pages show of a cart, as JSON with raw data */
#ifndef CARTS_CONSOLE_SHOW_H
#define CARTS_CONSOLE_SHOW_H

#include "services/carts/console/lines.h"
#include "services/carts/words/next_mail.h"
#include <jansson.h>

/* Who asks, about which shop, when. */
struct page_asked {
	const struct state *state;
	const char *shop, *zone;
	int64_t now_us;
};

json_t *show_text(const char *text); /* also of a text that is not UTF-8 */
json_t *show_time(int64_t us);       /* 0: null */
json_t *show_word(const char *word); /* "": null */
/*
 * {"at_us", "step", "words", "held", "observed", "with_sender"}. at_us is null if no mail is to come, or if the shop is paused ("held").
 */
json_t *show_next(const struct foreseen *foreseen, const char *zone);
/* The next mail of a cart; null: it is not open, or no timer is set for it. */
json_t *show_next_of(const struct page_asked *asked, const char *cart_id, const struct cart_line *line);
/* {"cart", "left_us", "address", "first_item", "items", "total_minor", "currency", "state", "closed_reason", "mails", "next"} */
json_t *show_line(const struct page_asked *asked, const char *cart_id, const struct cart_line *line);

#endif

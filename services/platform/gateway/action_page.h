/* action_page.h: the pages behind the owner's links of the export */
#ifndef PLATFORM_GATEWAY_ACTION_PAGE_H
#define PLATFORM_GATEWAY_ACTION_PAGE_H

#include "bus/base/bytes.h"
#include "services/kit/web/admin_link.h"

/*
 * ---- the texts of these pages in each of their languages, with the formal address if a language has one
 */

struct action_words {
	const char *ask, *button, *done;
};

/* "{moment}" is replaced by a day and a time with its zone; all else is plain text. */
struct action_texts {
	const char *language;       /* as of the attribute lang */
	const char *cart, *shopper; /* before their ids */
	struct action_words suppress, write_off, unsubscribe, lift;
	const char *why, *reason_missing; /* the reason, which lift needs */
	const char *until;
	const char *done_head;
	const char *used_head, *used_at;
	const char *expired_head, *expired, *expired_at;
	const char *bad_head, *bad;
	const char *later_head, *later;
};

/* `locale` is the shop's; "": unknown. English if nothing fits. */
const struct action_texts *action_texts_for(const char *locale);

extern const struct action_texts action_texts[]; /* of action_texts/<language>.txt; ends with one without a language */

enum action_page {
	ACTION_ASK,        /* what the link will do, and the button */
	ACTION_ASK_REASON, /* the same, with a note that the reason is missing or invalid */
	ACTION_DONE,
	ACTION_USED,
	ACTION_EXPIRED,
	ACTION_BAD_LINK,
	ACTION_NOT_NOW,
};

struct action_view {
	const struct admin_link *link; /* not set for ACTION_BAD_LINK */
	const char *shop;              /* its title; escaped here */
	const char *zone;              /* the shop's zone for times; "": unknown, then UTC */
	const char *locale;            /* the shop's: the page's language; NULL or "": English */
	const char *accent;            /* of the button (accent.h); NULL or "": the plain one */
	int64_t used_us;               /* of ACTION_USED: when it was used; 0: unknown */
};

enum { ACTION_REASON_MAX = 200 };

/* Appends a whole HTML document; it names no address. */
void action_page_write(enum action_page page, const struct action_view *view, struct buffer *ret);

#endif

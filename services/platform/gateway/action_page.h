/*
 * action_page.h: what the owner sees behind a link of the export
 */
#ifndef PLATFORM_GATEWAY_ACTION_PAGE_H
#define PLATFORM_GATEWAY_ACTION_PAGE_H

#include "bus/base/bytes.h"
#include "services/kit/web/admin_link.h"

enum action_page {
	ACTION_ASK,        /* what it will do, and the button */
	ACTION_ASK_REASON, /* the same, and that the reason is missing or unfit */
	ACTION_DONE,
	ACTION_USED,
	ACTION_EXPIRED,
	ACTION_BAD_LINK,
	ACTION_NOT_NOW,
};

struct action_view {
	const struct admin_link *link; /* not of ACTION_BAD_LINK */
	const char *shop;              /* its title; escaped here */
	const char *zone;              /* the shop's, in which times are told; "": unknown, UTC is */
	const char *locale;            /* the shop's: the page's language; NULL or "": English */
	const char *accent;            /* of the button (accent.h); NULL or "": the plain one */
	int64_t used_us;               /* of ACTION_USED; 0: not known */
};

enum { ACTION_REASON_MAX = 200 };

/* Appends a whole HTML document; it names no address. */
void action_page_write(enum action_page page, const struct action_view *view, struct buffer *ret);

#endif

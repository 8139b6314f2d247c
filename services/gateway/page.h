/*
 * page.h: the unsubscribe page, and what is said of links that do not work
 *
 * A GET shows a page with a button and changes nothing: mail scanners follow links. A POST does it: from the button, or by a
 * mailbox with RFC 8058's body. Works without scripts; nothing is loaded from anywhere.
 */
#ifndef GATEWAY_PAGE_H
#define GATEWAY_PAGE_H

#include "bus/base/bytes.h"

enum page { PAGE_ASK, PAGE_DONE, PAGE_NOT_NOW, PAGE_BAD_LINK, PAGE_BAD_RETURN };

/* `shop` is the name shown; escaped here. Appends a whole HTML document. */
void page_write(enum page page, const char *shop, struct buffer *ret);

enum page_post {
	POST_NOTHING,   /* neither: nothing is done */
	POST_BUTTON,    /* the page's own form */
	POST_ONE_CLICK, /* List-Unsubscribe=One-Click, as a urlencoded form or as multipart/form-data */
};
enum page_post page_posted(const char *content_type, struct bytes body);

#endif

/*
 * page.h: the unsubscribe page
 *
 * A GET shows a page with a button and changes nothing, because mail scanners follow links. A POST
 * unsubscribes: from the button, or by a mailbox with the body of RFC 8058. A POST from the page that follows
 * takes it back. The page works without scripts and loads nothing.
 */
#ifndef KIT_ENDPOINT_PAGE_H
#define KIT_ENDPOINT_PAGE_H

#include "bus/base/bytes.h"
#include "services/kit/shop/accent.h"
#include "services/kit/web/request.h"

/*
 * ---- the texts of the unsubscribe page, in each of its languages, with the formal address if a language has
 * one
 */

/* "{shop}" is replaced by the shop's name; the rest is plain text. */
struct page_texts {
	const char *language; /* as of the attribute lang */
	const char *title;
	const char *ask_head, *ask, *ask_button;
	const char *done_head, *done, *undo, *undo_button;
	const char *back_head, *back;
	const char *fixed_head, *fixed;
	const char *later_head, *later, *later_button;
	const char *bad_head, *bad_link, *bad_return;
};

/* `accept` is the header Accept-Language or NULL; `locale` is the shop's. English if nothing fits. */
const struct page_texts *page_texts_for(const char *accept, const char *locale);

extern const struct page_texts page_texts[]; /* of page_texts/<language>.txt; ends with one without a language */

enum page {
	PAGE_ASK,
	PAGE_DONE,
	PAGE_BACK,    /* taken back */
	PAGE_FIXED,   /* cannot be taken back here */
	PAGE_NOT_NOW, /* nothing was recorded; its button repeats the request */
	PAGE_BAD_LINK,
	PAGE_BAD_RETURN, /* of the way back to the basket */
};

struct page_view {
	const struct page_texts *texts;
	const char *shop;   /* the name shown; escaped here */
	const char *accent; /* of the button (accent.h); NULL: the plain one */
	/*
	 * of PAGE_DONE: wall time up to which a listing may be taken back; of PAGE_NOT_NOW: the same of the
	 * failed request. 0: none
	 */
	int64_t undo_us;
};

/* Appends a whole HTML document. */
void page_write(enum page page, const struct page_view *view, struct buffer *ret);
/* The beginning and the end of every page of ours. `accent` NULL: the plain colour. */
void page_begin(const char *language, const char *title, const char *accent, struct buffer *ret);
void page_end(struct buffer *ret);

/* 404 with PAGE_BAD_LINK or PAGE_BAD_RETURN, in the reader's language. */
void page_answer_bad_link(enum page page, const struct request *request, struct answer *answer);

struct shop_branding { /* how a shop shows itself on a page */
	char title[100];
	char locale[24];
	char accent[ACCENT_ROOM]; /* "": the plain one */
	char zone[40];            /* "": unknown */
};
/* Reads the shop's shop.conf. If that cannot be read: only the plain name of the shop. */
void shop_branding_read(const char *shops_folder, const char *shop, struct shop_branding *ret);

enum page_post {
	POST_NOTHING,   /* none of these; nothing is done */
	POST_BUTTON,    /* the page's own form */
	POST_ONE_CLICK, /* List-Unsubscribe=One-Click, as a urlencoded form or as multipart/form-data */
	POST_UNDO,      /* the form of the page that said it was done */
};
/* `ret_undo_us`: of POST_UNDO. */
enum page_post page_posted(const char *content_type, struct bytes body, int64_t *ret_undo_us);

#endif

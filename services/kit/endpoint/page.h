/*
 * page.h: the unsubscribe page
 *
 * A GET shows a page with a button and changes nothing: mail scanners follow links. A POST does it: from the button, or by a
 * mailbox with RFC 8058's body; and one from the page that then comes takes it back. Works without scripts; nothing is loaded from
 * anywhere.
 */
#ifndef KIT_ENDPOINT_PAGE_H
#define KIT_ENDPOINT_PAGE_H

#include "bus/base/bytes.h"
#include "services/kit/shop/accent.h"
#include "services/kit/web/request.h"

/* ---- what the unsubscribe page says, in each of its languages. Formal address where a language tells it apart. ---- */

/* "{shop}" stands for the shop's name; all else is plain text. */
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

/* `accept` is the header Accept-Language or NULL; `locale` the shop's. English where nothing fits. */
const struct page_texts *page_texts_for(const char *accept, const char *locale);

extern const struct page_texts page_texts[]; /* of page_texts/<language>.txt; ends with one without a language */

enum page {
	PAGE_ASK,
	PAGE_DONE,
	PAGE_BACK,    /* taken back */
	PAGE_FIXED,   /* cannot be taken back here */
	PAGE_NOT_NOW, /* nothing was recorded; its button does what was asked for once more */
	PAGE_BAD_LINK,
	PAGE_BAD_RETURN, /* of the way back to the basket */
};

struct page_view {
	const struct page_texts *texts;
	const char *shop;   /* the name shown; escaped here */
	const char *accent; /* of the button (accent.h); NULL: the plain one */
	int64_t undo_us; /* of PAGE_DONE: what was listed up to then may be taken back; of PAGE_NOT_NOW: was to be. 0: not */
};

/* Appends a whole HTML document. */
void page_write(enum page page, const struct page_view *view, struct buffer *ret);
/* What every page of ours begins with, and ends with. `accent` NULL: the plain one. */
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
/* Reads its shop.conf. While that cannot be read: the plain name of the shop, and nothing else. */
void shop_branding_read(const char *shops_folder, const char *shop, struct shop_branding *ret);

enum page_post {
	POST_NOTHING,   /* none of these: nothing is done */
	POST_BUTTON,    /* the page's own form */
	POST_ONE_CLICK, /* List-Unsubscribe=One-Click, as a urlencoded form or as multipart/form-data */
	POST_UNDO,      /* the form of the page that said it was done */
};
/* `ret_undo_us`: of POST_UNDO. */
enum page_post page_posted(const char *content_type, struct bytes body, int64_t *ret_undo_us);

/* The value of a field of a urlencoded form, decoded; false: it is not there, or longer. */
bool form_value(struct bytes body, const char *name, char *ret, size_t room);

#endif

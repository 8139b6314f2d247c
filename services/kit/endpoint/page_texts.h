/*
 * page_texts.h: what the unsubscribe page says, in each of its languages. Formal address where a language tells it apart.
 */
#ifndef KIT_ENDPOINT_PAGE_TEXTS_H
#define KIT_ENDPOINT_PAGE_TEXTS_H

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

#endif

/*
 * voice.h: how the shop speaks: voice.txt and voice.<language>.txt, a small template language, per step
 *
 *     First reminder
 *     Subject: You left something at {shop}
 *     Opening: Hello {first name or "there"}, your basket is still here.
 *     Body:
 *     any lines, with {items}, {total}, {return link} ...
 *
 * The whole language is described in voice.md beside this file. HTML and text parts are made from the same source; values are
 * escaped for the part they go into.
 */
#ifndef CARTS_LETTER_VOICE_H
#define CARTS_LETTER_VOICE_H

#include "bus/actor/state.h"
#include "bus/base/bytes.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/locale/locale.h"
#include "services/kit/template/template.h"

/* ---- what may stand between the braces of a voice ---- */

/* In the order in which an error names them. */
enum value {
	VALUE_SHOP,
	VALUE_FIRST_NAME,
	VALUE_ITEMS,
	VALUE_ITEM_COUNT,
	VALUE_TOTAL,
	VALUE_DISCOUNT_CODE,
	VALUE_DATE,
	VALUE_WEEKDAY,
	VALUE_RETURN_LINK,
	VALUE_SHOP_LINK,
	VALUE_UNSUBSCRIBE_LINK,
	VALUE_POSTAL_ADDRESS,
	VALUE_COUNT
};

extern const struct template_words voice_values; /* a row for each enum value */

bool value_is_link(enum value value);

struct voice;

int voice_parse(const char *text, struct voice **ret, struct text_error *ret_error);
void voice_free(struct voice *voice);
/* Does every [words](https://...) lead to a host of this shop? -EINVAL: ret_error says which does not, and what helps. */
struct shop;
int voice_check_links(const struct voice *voice, const struct shop *shop, struct text_error *ret_error);

/* For the renderer: the templates of one mail. */
struct voice_mail {
	struct template *subject, *body;
	struct template *preview, *opening; /* may be NULL */
	struct template *footer;            /* NULL: the built-in one of the language */
};
const struct voice_mail *voice_mail(const struct voice *voice, int step); /* 1 or 2 */

/* ---- which words a shopper gets ---- */

enum { VOICE_KIND_ROOM = DOCUMENT_KIND_ROOM }; /* "voice", "voice.pt-BR" */

/* The words of a mail, and the language they are in. */
struct speech {
	const struct voice *voice;
	char language[LOCALE_ROOM]; /* a tag: "de" */
	char kind[VOICE_KIND_ROOM]; /* where the words are from; "": built in */
};

/* The owner's words of this kind; NULL: none, or none of his own (voice_is_own). */
typedef const struct voice *voice_find_fn(void *context, const char *kind);
/*
 * For a shopper whose storefront said `locale` (any spelling, or ""): the owner's words of that locale, then of its language, then
 * voice.txt, which is in the shop's language; and if the owner wrote none of these, the built-in ones of the shopper's language,
 * the shop's, or English.
 */
void voice_choose(
	const char *locale, const char *shops_locale, voice_find_fn *find, void *context, struct speech *ret_speech);
/* false: blank, or as it was made, letter by letter: then shoppers are better served in their own language. */
bool voice_is_own(const char *text);

const char *voice_builtin_text(const char *language); /* "de-AT" gets German; NULL: there is none */
const struct voice *voice_builtin(const char *language);

/* false: ret_why says how the language would be spelled right. */
bool voice_kind_valid(const char *kind, char ret_why[160]);

/* What shops say whose owners wrote nothing: voices/<language>.txt; ended by a NULL. */
extern const struct text_resource voice_texts[];

/* ---- the voices as documents ---- */

extern const struct document_kind voice_document;

/* "voice", "voice.pt-BR"; false: no name of a voice. Whether the language exists is voice_kind_valid's. */
bool voice_kind_of_file(const char *file, char ret_kind[VOICE_KIND_ROOM]);

/* ---- the words of a shop for one shopper, as a service has folded them from `document` ---- */

/*
 * `locale`: the shopper's, as the storefront said it; "": it did not. The built-in words where the owner gave none. Borrowed until a
 * newer document of the shop is read.
 */
struct speech speech_of(const struct state *state, const char *shop, const char *locale);

#endif

/*
 * voice.h: the shop's texts for mails: voice.txt and voice.<language>.txt, in a small template language, for
 * each step
 *
 *     First reminder
 *     Subject: You left something at {shop}
 *     Opening: Hello {first name or "there"}, your basket is still here.
 *     Body:
 *     any lines, with {items}, {total}, {return link} ...
 *
 * voice.md beside this file describes the whole language. HTML and text parts are made from the same source;
 * values are escaped for their part.
 */
#ifndef CARTS_LETTER_VOICE_H
#define CARTS_LETTER_VOICE_H

#include "bus/actor/state.h"
#include "bus/base/bytes.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/locale/locale.h"
#include "services/kit/template/template.h"

/* ---- the words that are allowed between the braces of a voice ---- */

/* Error messages name them in this order. */
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
/*
 * Does every [words](https://...) lead to a host of this shop? -EINVAL: ret_error names the one that does
 * not, and the remedy.
 */
struct shop;
int voice_check_links(const struct voice *voice, const struct shop *shop, struct text_error *ret_error);

/* For the renderer: the templates of one mail. */
struct voice_mail {
	struct template *subject, *body;
	struct template *preview, *opening; /* may be NULL */
	struct template *footer;            /* NULL: the built-in one of the language */
};
const struct voice_mail *voice_mail(const struct voice *voice, int step); /* 1 or 2 */

/* ---- the choice of the words for a shopper ---- */

enum { VOICE_KIND_ROOM = DOCUMENT_KIND_ROOM }; /* "voice", "voice.pt-BR" */

/* The words of a mail, and their language. */
struct speech {
	const struct voice *voice;
	char language[LOCALE_ROOM]; /* a tag: "de" */
	char kind[VOICE_KIND_ROOM]; /* the document of the words; "": the built-in words */
};

/*
 * Finds the owner's words of this kind; NULL: there are none, or they are not the owner's own (voice_is_own).
 */
typedef const struct voice *voice_find_fn(void *context, const char *kind);
/*
 * Chooses the words for a shopper with this `locale` (any spelling, or ""): the owner's words of that locale,
 * then of its language, then voice.txt, which is in the shop's language. If the owner wrote none of these:
 * the built-in words of the shopper's language, then of the shop's, then English.
 */
void voice_choose(
	const char *locale, const char *shops_locale, voice_find_fn *find, void *context, struct speech *ret_speech);
/*
 * false: the text is blank, or still exactly the generated one. Then shoppers get the built-in words of their
 * own language.
 */
bool voice_is_own(const char *text);

const char *voice_builtin_text(const char *language); /* "de-AT" gives German; NULL: there is none */
const struct voice *voice_builtin(const char *language);

/* false: ret_why gives the right spelling of the language. */
bool voice_kind_valid(const char *kind, char ret_why[160]);

/* The built-in words, for shops whose owners wrote none: voices/<language>.txt; ends with NULL. */
extern const struct text_resource voice_texts[];

/* ---- the voices as documents ---- */

extern const struct document_kind voice_document;

/*
 * Gives the kind, "voice" or "voice.pt-BR"; false: the file is no voice. voice_kind_valid checks if the
 * language exists.
 */
bool voice_kind_of_file(const char *file, char ret_kind[VOICE_KIND_ROOM]);

/* ---- the words of a shop for one shopper, as a service has folded them from `document` ---- */

/*
 * `locale`: the shopper's, from the storefront; "": unknown. The built-in words if the owner gave none.
 * Borrowed until a newer document of the shop is read.
 */
struct speech speech_of(const struct state *state, const char *shop, const char *locale);

#endif

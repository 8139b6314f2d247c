/*
 * words.c: the words of reports in the language of a locale; the words themselves are in words/<language>.txt
 *
 * Read next: print.c, html.c
 */
#include "services/carts/report/words.h"
#include "services/kit/locale/language.h"

const struct figures_words *figures_words_for(const char *locale, char ret_tag[LOCALE_ROOM])
{
	const struct figures_words *words;
	char tag[LOCALE_ROOM];

	locale_canonical(locale, tag);
	words = language_row(figures_words, sizeof(*figures_words), NULL, tag);
	locale_blend(words->language, tag, ret_tag);
	return words;
}

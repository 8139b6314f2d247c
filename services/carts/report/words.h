/*
 * words.h: what reports say, in each of their languages. Formal address where a language tells it apart; plural forms
 * are those of ICU.
 */
#ifndef CARTS_REPORT_WORDS_H
#define CARTS_REPORT_WORDS_H

#include "services/kit/locale/locale.h"

enum figures_line { /* the counts, in the order in which reports show them */
	LINE_SEEN,
	LINE_MAILED,
	LINE_FIRST,
	LINE_SECOND,
	LINE_CLICKED,
	LINE_CLICKED_BOUGHT,
	LINE_MAILED_BOUGHT,
	LINE_BOUGHT_ANYWAY,
	LINE_TAKEN_BACK,
	LINE_GAVE_UP,
	LINE_WRITTEN_OFF,
	LINE_NO_ADDRESS,
	LINE_OPTED_OUT,
	LINE_COMPLAINTS,
	LINE_BOUNCES,
	LINE_TO_OWNER,
	LINE_REFUSED,
	LINE_AMBIGUOUS,
	FIGURES_LINES
};

struct figures_words {
	const char *language;
	const char *labels[FIGURES_LINES];
	const char *before; /* the column of the period before */
	const char *won, *of_it_back, *in_it_clicked;
	const char *title; /* an ICU message pattern as those below: {0} the shop, {1} the period */
	/* Sentences. seen: {0} carts seen and {1} reminded, {2} and {3} before; bought: {0} clicked, {1} mailed, {2} anyway; won_sum:
	 * {0} the amounts; opted_out: {0} opt-outs, {1} complaints. */
	const char *seen, *bought, *won_nothing, *won_sum, *opted_out;
	const char *between; /* sentences */
	const char *footnote;
};
extern const struct figures_words figures_words[]; /* of words/<language>.txt; ends with one without a language */

/* Of a locale's language, else English; ret_tag: for ICU, the words' language and the locale's habits ("en-SE"). */
const struct figures_words *figures_words_for(const char *locale, char ret_tag[LOCALE_ROOM]);

#endif

/* report.h: the figures of a period, counted from the report fold */
#ifndef CARTS_REPORT_REPORT_H
#define CARTS_REPORT_REPORT_H

#include "services/carts/report/report_fold.h"
#include "services/kit/locale/locale.h"
#include "services/kit/time/period.h"

/*
 * ---- the texts of reports, in each of their languages, with the formal address if a language has one;
 * plural forms are ICU's.
 */

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
	REPORT_LINES
};

struct report_words {
	const char *language;
	const char *labels[REPORT_LINES];
	const char *before; /* the heading of the previous period's column */
	const char *won, *of_it_back, *in_it_clicked;
	const char *title; /* an ICU message pattern as those below: {0} the shop, {1} the period */
	/* Sentences. seen: {0} carts seen and {1} reminded, {2} and {3} before; bought: {0} clicked, {1} mailed, {2} anyway; won_sum:
	 * {0} the amounts; opted_out: {0} opt-outs, {1} complaints. */
	const char *seen, *bought, *won_nothing, *won_sum, *opted_out;
	const char *between; /* sentences */
	const char *footnote;
};
extern const struct report_words report_words[]; /* of words/<language>.txt; ends with one without a language */

/*
 * The words of the locale's language, else English. ret_tag is for ICU: the language of the words and the
 * habits of the locale ("en-SE").
 */
const struct report_words *report_words_for(const char *locale, char ret_tag[LOCALE_ROOM]);

enum {
	REPORT_CURRENCIES_MAX = 16, /* of a class; with more a summary would not fit its message */
	REPORT_AMOUNT_ROOM = 80
};

struct report_figures {
	uint32_t seen;                        /* new carts */
	uint32_t mailed, first, second;       /* carts that got a mail, and mails */
	uint32_t clicked;                     /* carts whose link was clicked */
	uint32_t orders[ATTRIBUTION_CLASSES]; /* orders of known carts, without those taken back */
	uint32_t taken_back;
	uint32_t gave_up, written_off;
	/* of `seen`: carts without an address, open or closed for that reason */
	uint32_t no_address;
	uint32_t opted_out, complaints, bounces; /* people */
	uint32_t to_owner, refused, ambiguous;   /* mails */
	/* orders whose money is in no sum, because their class already has REPORT_CURRENCIES_MAX currencies */
	uint32_t sums_left_out;
	struct report_figures_sum {
		char currency[4];
		int64_t total_minor, back_minor;
	} sums[ATTRIBUTION_CLASSES][REPORT_CURRENCIES_MAX]; /* in order of currency; "" ends a list */
};

/*
 * Counts the figures of a period. Purchases count at their own time, with the refunds until now. It is pure.
 */
void report_figures_count(
	const struct state *state, const struct shop *shop, const struct period *period, struct report_figures *ret);
/* The net sums of clicked and mailed together, per currency; returns how many currencies. */
int report_figures_won(const struct report_figures *figures, struct report_figures_sum ret[REPORT_CURRENCIES_MAX]);
/* Of this currency; all zero: there is none in the list. */
const struct report_figures_sum *report_figures_sum_in(
	const struct report_figures_sum list[REPORT_CURRENCIES_MAX], const char *currency);

/* The counts one by one, in the order in which reports show them. */
struct report_count {
	const char *key, *label; /* for programs; for people */
	uint32_t now, before;
	bool opens_group; /* it begins a new group */
};
typedef void report_figures_fn(const struct report_count *count, void *context);
void report_figures_each(const struct report_figures *now, const struct report_figures *before,
	const struct report_words *words, report_figures_fn *each, void *context);

/* ---- print.c: in the language of the shop's locale if it is one of ours, else in English ---- */

struct report {
	const struct shop *shop;
	struct period period, before;
	struct report_figures now, then; /* then: of the previous period */
	const struct report_words *words;
	char locale[LOCALE_ROOM]; /* for numbers, money and days */
	const char *paragraph;    /* replaces the template's paragraph; NULL: the template's is used */
};
/* false: the shop's zone does not exist. */
bool report_make(const struct state *state, const struct shop *shop, const struct period *period, struct report *ret);
void report_text(const struct report *report, struct buffer *ret); /* with the paragraph */
void report_html(const struct report *report, struct buffer *ret); /* html.c */
void report_subject(const struct report *report, char ret[160]);
/*
 * Appends a few sentences, the same for the same figures. A model's text may replace them (narrate.h), but
 * never the figures below.
 */
void report_paragraph(const struct report *report, struct buffer *ret);

/* The figures as lines of (label, now, before), for both text and HTML. */
struct report_line {
	const char *label, *now, *before;
	bool indented, opens_group;
};
typedef void report_line_fn(const struct report_line *line, void *context);
void report_counts(const struct report *report, report_line_fn *each, void *context);
void report_money(const struct report *report, report_line_fn *each, void *context);

#endif

/*
 * figures.h: what a stretch of time came to, counted from the ledger
 */
#ifndef KIT_FIGURES_H
#define KIT_FIGURES_H

#include "services/kit/attribution.h"
#include "services/kit/period.h"

enum { FIGURES_CURRENCIES_MAX = 16 };

struct figures {
	uint32_t seen;                        /* carts first heard of */
	uint32_t mailed, first, second;       /* carts that got a mail, and mails */
	uint32_t clicked;                     /* carts whose link was followed */
	uint32_t orders[ATTRIBUTION_CLASSES]; /* of carts we knew; what was taken back is not among them */
	uint32_t taken_back;
	uint32_t gave_up, written_off, no_address;
	uint32_t opted_out, complaints, bounces; /* people */
	uint32_t to_owner, refused, ambiguous;   /* mails */
	struct figures_sum {
		char currency[4];
		int64_t total_minor, back_minor;
	} sums[ATTRIBUTION_CLASSES][FIGURES_CURRENCIES_MAX]; /* in order of currency; "" ends a list */
};

/* Purchases count for when they were made, with what went back of them until now. Pure. */
void figures_count(
	const struct state *state, const struct shop *shop, const struct period *period, struct figures *ret);
uint32_t figures_recovered(const struct figures *figures); /* clicked or mailed, then bought */
/* Clicked and mailed together, net, per currency; returns how many currencies. */
int figures_won(const struct figures *figures, struct figures_sum ret[FIGURES_CURRENCIES_MAX]);

/* The counts one by one, in the order in which reports show them; `label` in English or German by the locale's language. */
typedef void figures_fn(const char *key, const char *label, uint32_t now, uint32_t before, void *context);
void figures_each(
	const struct figures *now, const struct figures *before, const char *locale, figures_fn *each, void *context);

/* ---- figures_print.c ---- */

struct report {
	const struct shop *shop;
	struct period period, before;
	struct figures now, then; /* then: of the period before */
};
/* false: no such zone. */
bool report_make(const struct state *state, const struct shop *shop, const struct period *period, struct report *ret);
void report_text(const struct report *report, struct buffer *ret); /* with the paragraph */
void report_html(const struct report *report, struct buffer *ret);
void report_subject(const struct report *report, char ret[160]);
/* A few sentences, the same for the same figures. A model's may stand in its place one day; the figures below never are its. */
void report_paragraph(const struct report *report, struct buffer *ret);

#endif

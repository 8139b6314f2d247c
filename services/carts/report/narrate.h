/*
 * narrate.h: the paragraph of a summary, written by a model
 *
 * The model is given the figures of the shop as the summary shows them, in words and numbers, and the template's paragraph: counts and
 * sums, nothing of any shopper. What it answers counts only if each of its numbers is one of them (model_paragraph_fault); else the
 * template's paragraph goes. The figures below it are never a model's.
 */
#ifndef CARTS_REPORT_NARRATE_H
#define CARTS_REPORT_NARRATE_H

#include "services/carts/report/report.h"
#include "services/kit/model/model.h"

#define NARRATE_MODEL "summary" /* the name of these questions: [model summary] */

/* false: it cannot be put into words. The caller clears *ret. */
bool narrate_ask(const struct report *report, struct model_request *ret);
/* NULL: the answer's text is to stand in the paragraph's place; else why it is not, in a few words. `answer`: NULL: none in time. */
const char *narrate_fault(const struct report *report, const struct model_answer *answer);

#endif

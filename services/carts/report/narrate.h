/*
 * narrate.h: the paragraph of a summary, written by a model
 *
 * The model gets the shop's report figures as the summary shows them, in words and numbers, and the
 * template's paragraph: only counts and sums, no data of shoppers. Its answer is used only if each of its
 * numbers is one of these (model_paragraph_fault); otherwise the template's paragraph is used. The figures
 * below the paragraph never come from a model.
 */
#ifndef CARTS_REPORT_NARRATE_H
#define CARTS_REPORT_NARRATE_H

#include "services/carts/report/report.h"
#include "services/kit/model/model.h"

#define NARRATE_MODEL "summary" /* the name of these questions: [model summary] */

/* Makes the request, which the caller must clear. false: the figures cannot be put into words. */
bool narrate_ask(const struct report *report, struct model_request *ret);
/*
 * NULL: the answer's text replaces the paragraph. Otherwise the reason why it does not, in a few words.
 * `answer` NULL: none came in time.
 */
const char *narrate_fault(const struct report *report, const struct model_answer *answer);

#endif

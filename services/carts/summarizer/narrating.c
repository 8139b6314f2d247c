/*
 * narrating.c: a model is asked for a summary's paragraph
 *
 * Promises:  asked once for a summary, within a deadline; nothing that comes of it decides whether a summary goes, or changes a
 *            figure; what it cost is said with the summary. A process that dies between the two loses that figure.
 * Read next: services/carts/report/narrate.h, summarizer.c
 */
#include "services/carts/summarizer/narrating.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/carts/report/narrate.h"
#include <stdlib.h>

struct narrating *narrating_new(const struct model_use *use, const struct state *state, const struct report *report,
	bool more, const struct turn *turn)
{
	struct narrating *narrating;

	if (!report->shop->narrate || turn_failures(turn) > 0 || !model_use_allows(use, state, turn_now_us(turn)))
		return NULL;
	narrating = memory_new(sizeof(*narrating));
	narrating->period = report->period;
	narrating->more = more;
	if (narrate_ask(report, &narrating->model))
		return narrating;
	narrating_free(narrating);
	return NULL;
}

void narrating_free(void *request)
{
	struct narrating *narrating = request;

	if (narrating)
		model_request_clear(&narrating->model);
	free(narrating);
}

void narrating_hear(const struct model_use *use, const struct report *report, const struct model_answer *answer,
	struct narrated *ret)
{
	const char *fault = narrate_fault(report, answer);

	*ret = (struct narrated){ .was_asked = true, .used = model_use_told(use, answer, NARRATE_MODEL, fault) };
	if (!fault)
		TEXT_COPY(ret->paragraph, answer->text);
}

void narrating_say(struct turn *turn, const struct narrated *narrated, const char *period)
{
	ModelUsed used = narrated->used;

	if (!narrated->was_asked)
		return;
	used.at_us = turn_now_us(turn);
	SAY(turn, model_used, &used, .shop = turn_message(turn)->shop, .key = period);
}

/*
 * summarizer.c: summarises the past month on the first Monday, and the past week each Monday if the shop
 * wants it
 *
 * Hears:     tick.monthly, tick.weekly, summary.due
 * Remembers: document, cart.state, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped,
 *            link.clicked, mail.feedback, suppression, summary.done, summary.claim, summary.mailed, alarm,
 *            send.claim, reminder.released, model.used
 * Says:      summary.done, summary.due, summary.claim, summary.mailed, model.used, alarm, audit
 * Promises:  a month or week is summarised once; one that was missed is summarised later. The file is durable
 *            before the mails are due, and the mails say the same. A model never delays a summary for longer
 *            than its deadline.
 * Fails by:  trying again if the folder cannot be written, and then by a dead letter.
 * Read next: summary_mails.c (the mails), services/carts/report/narrate.h (the paragraph),
 *            services/carts/report/report.h, services/carts/report/report_fold.h
 */
#include "services/carts/summarizer/summarizer.h"
#include "bus/actor/turn.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/carts/report/narrate.h"
#include "services/carts/report/report.h"
#include "services/carts/report/report_fold.h"
#include "services/carts/summarizer/summary_mails.h"
#include "services/kit/documents/docs.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/model/spend.h"
#include "services/kit/time/period.h"
#include <stdio.h>
#include <stdlib.h>

/*
 * The model's paragraph for a summary
 *
 * Promises:  a model is asked once for a summary, within a deadline. Its answer never decides whether a
 *            summary is made, and never changes a figure. The cost is published with the summary, and is lost
 *            if the process dies before.
 */

static const char SHOP_GONE[] = "the shop's configuration is not readable any more";

struct narrating {                  /* the request of the effect "model" */
	struct model_request model; /* must be first, because the driver uses the request as this struct */
	struct period period;       /* of the summary */
	bool more;                  /* more periods were missed */
};

/* The result of the question, until it can be published. */
struct narrated {
	bool was_asked;
	char paragraph[MODEL_TEXT_MAX]; /* "": the template's paragraph is used */
	ModelUsed used;
};

/* takes NULL */
static void narrating_free(void *request)
{
	struct narrating *narrating = request;

	if (narrating)
		model_request_clear(&narrating->model);
	free(narrating);
}

/*
 * NULL: the model is not asked, because there is none, the shop does not want it, the month's budget is used
 * up, or this summary failed once already: a full disk must not cost more than one question.
 */
static struct narrating *narrating_new(const struct model_use *use, const struct state *state,
	const struct report *report, bool more, const struct turn *turn)
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

/* `report` NULL: there is nothing to use the answer for. */
static void narrating_hear(const struct model_use *use, const struct report *report, const struct model_answer *answer,
	struct narrated *ret)
{
	const char *fault = report ? narrate_fault(report, answer) : SHOP_GONE;

	*ret = (struct narrated){ .was_asked = true, .used = model_use_told(use, answer, NARRATE_MODEL, fault) };
	if (!fault)
		TEXT_COPY(ret->paragraph, answer->text);
}

/*
 * In a turn that ends: publishes the cost, and whether the paragraph was used. Nothing if the model was not
 * asked.
 */
static void narrating_say(struct turn *turn, const struct narrated *narrated, const char *period)
{
	ModelUsed used = narrated->used;

	if (!narrated->was_asked)
		return;
	used.at_us = turn_now_us(turn);
	SAY(turn, model_used, &used, .shop = turn_message(turn)->shop, .key = period);
}

STATE_NUMBERS(summarised, "summarised");

#define RETRY_US (5 * US_PER_MINUTE)
#define KEPT_US                                                                                                        \
	(110 * US_PER_DAY) /* two months and their comparison; a cart that did not change since is in no later one */
#define WRITE_DEADLINE_US (2 * US_PER_MINUTE)
#define MODEL_DEADLINE_US (2 * US_PER_MINUTE) /* above any deadline in cartbus.conf */
/*
 * A month is summarised on the first Monday of the next month, and not on its first day. That Monday is at
 * most this long after that day.
 */
#define FIRST_MONDAY_US (6 * US_PER_DAY)

struct summary {
	struct file_request file; /* must be first, because the driver uses the request as this struct */
	SummaryDone done;         /* all fields except the time of writing */
	bool more;                /* more periods were missed */
	uint32_t sums_left_out;   /* orders without a place in the sums */
	struct narrated narrated; /* the model's part in it */
};

static void summary_free(void *request)
{
	struct summary *summary = request;
	if (summary)
		buffer_free(&summary->file.content);
	free(summary);
}

/* ---- the file ---- */

static const struct effect_kind write_effect, narrate_effect;

static void fill(const struct summarizer *context, const struct report *report, struct summary *summary)
{
	struct buffer html = { 0 };
	report_text(report, &summary->file.content);
	report_html(report, &html);
	report_subject(report, summary->done.subject);
	summary->sums_left_out = report->now.sums_left_out;
	TEXT_COPY(summary->done.month, report->period.name);
	TEXT_COPY(summary->done.text, buffer_text(&summary->file.content));
	if (!TEXT_COPY(summary->done.html, buffer_text(&html)))
		summary->done.html[0] = 0;
	snprintf(summary->file.path, sizeof(summary->file.path), "%s/%s/summary-%s.txt", context->folder,
		report->shop->name, report->period.name);
	TEXT_COPY(summary->done.path, summary->file.path);
	buffer_free(&html);
}

/* `narrated` NULL: no model was asked. */
static enum verdict write_report(const struct summarizer *context, struct report *report, bool more,
	const struct narrated *narrated, struct turn *turn)
{
	struct summary *summary = memory_new(sizeof(*summary));
	summary->more = more;
	if (narrated)
		summary->narrated = *narrated;
	if (summary->narrated.paragraph[0])
		report->paragraph = summary->narrated.paragraph;
	fill(context, report, summary);
	return turn_effect(turn, &write_effect, (void **)&summary);
}

/* ---- its paragraph ---- */

static enum verdict narrate_report(const struct state *state, struct report *report, bool more, struct turn *turn)
{
	const struct summarizer *context = summarizer_context(state);
	struct narrating *narrating = narrating_new(&context->model, state, report, more, turn);
	if (narrating)
		return turn_effect(turn, &narrate_effect, (void **)&narrating);
	return write_report(context, report, more, NULL, turn);
}

static enum verdict narrate_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const struct summarizer *context = summarizer_context(state);
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	const struct narrating *narrating = request;
	struct report *report = memory_new(sizeof(*report));
	struct narrated *narrated = memory_new(sizeof(*narrated));
	enum verdict verdict;
	(void)message, (void)claimed;
	if (shop && report_make(state, shop, &narrating->period, report)) {
		narrating_hear(&context->model, report, result, narrated);
		verdict = write_report(context, report, narrating->more, narrated, turn);
	} else {
		narrating_hear(&context->model, NULL, result, narrated);
		narrating_say(turn, narrated, narrating->period.name);
		verdict = turn_failed(turn, RETRY_US, SHOP_GONE);
	}
	free(narrated);
	free(report);
	return verdict;
}

static const struct effect_kind narrate_effect = {
	.name = "model", .request_free = narrating_free, .deadline_us = MODEL_DEADLINE_US, .decide = narrate_decide
};

/* ---- the period ---- */

static int64_t ticked_us(const struct turn *turn, const Tick *tick)
{
	return tick->due_us ? tick->due_us : turn_message(turn)->time_us;
}

static enum verdict summarise(const struct state *state, enum period_kind kind, const Tick *tick, struct turn *turn)
{
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	struct period period;
	bool more;
	int found = -1;
	if (shop)
		found = missed_find(state,
			&(struct missed){ STATE_HANDLE(summarised), shop->name, shop->zone, kind, ticked_us(turn, tick),
				turn_now_us(turn) - (kind == PERIOD_MONTH ? FIRST_MONDAY_US : 0) },
			&period, &more);
	if (found < 0)
		return turn_failed(turn, RETRY_US, "the shop's configuration is not readable");
	if (found == 0 || (kind == PERIOD_WEEK && !shop->weekly))
		return TURN_DONE;
	struct report *report = memory_new(sizeof(*report));
	enum verdict verdict;
	if (report_make(state, shop, &period, report))
		verdict = narrate_report(state, report, more, turn);
	else
		verdict = turn_failed(turn, RETRY_US, "the period is not one of this shop's calendar");
	free(report);
	return verdict;
}

static enum verdict hear_monthly(const struct state *state, const Tick *tick, struct turn *turn)
{
	return summarise(state, PERIOD_MONTH, tick, turn);
}

static enum verdict hear_weekly(const struct state *state, const Tick *tick, struct turn *turn)
{
	return summarise(state, PERIOD_WEEK, tick, turn);
}

static void say_audit(struct turn *turn, const struct summary *summary, int mails)
{
	const SummaryDone *done = &summary->done;
	const struct narrated *narrated = &summary->narrated;
	const char *shop = turn_message(turn)->shop;
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	char left_out[100] = "", grounds[700]; /* more than an audit has room for: TEXT_COPY cuts at a character */
	TEXT_COPY(audit.action, "summarised");
	TEXT_COPY(audit.who, "system");
	if (summary->sums_left_out)
		snprintf(left_out, sizeof(left_out), "; %u orders are in no sum: a report has room for %d currencies",
			(unsigned)summary->sums_left_out, REPORT_CURRENCIES_MAX);
	snprintf(grounds, sizeof(grounds), "%s, in %s; %s%d to mail%s%s%s", done->month, done->path,
		mails ? "" : "[mail] owner and [report] to are not given: ", mails, left_out,
		!narrated->was_asked             ? ""
			: narrated->paragraph[0] ? "; a model wrote the paragraph"
						 : "; the template's paragraph, the model's was not used: ",
		narrated->was_asked && !narrated->paragraph[0] ? narrated->used.outcome : "");
	TEXT_COPY(audit.grounds, grounds);
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
}

static enum verdict write_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const struct message_meta *said = turn_message(turn);
	const struct shop *shop = docs_shop(state, said->shop);
	const struct summary *summary = request;
	(void)message, (void)claimed;
	narrating_say(turn, &summary->narrated, summary->done.month);
	if (!result || *(const int *)result < 0)
		return turn_failed(
			turn, RETRY_US, result ? strerror(-*(const int *)result) : "the file was not written in time");
	if (!shop)
		return turn_failed(turn, RETRY_US, SHOP_GONE);
	SummaryDone *done = memory_new(sizeof(*done));
	*done = summary->done;
	done->at_us = turn_now_us(turn);
	SAY(turn, summary_done, done, .shop = said->shop, .key = done->month);
	say_audit(turn, summary, summary_mails_say_due(shop, done->month, turn));
	free(done);
	return summary->more ? turn_wait(turn, 0, "the next one that was missed") : TURN_DONE;
}

static const struct effect_kind write_effect = {
	.name = "file", .request_free = summary_free, .deadline_us = WRITE_DEADLINE_US, .decide = write_decide
};

static void remember_done(struct state *state, const struct message_meta *said, const SummaryDone *done)
{
	STATE_PUT_NUMBER(state, summarised, said->shop, done->month, said->seq);
	STATE_PUT(state, summaries, said->shop, done->month, done);
	report_fold_forget(state, said->shop, done->at_us - KEPT_US);
}

const struct service summarizer = {
	.name = "summarizer",
	.batch_projections = true,
	.layout = 3,
	.exclusive = true,
	.hears = HEARING(HEARS(tick_monthly, hear_monthly), HEARS(tick_weekly, hear_weekly),
		HEARS(summary_due, summary_mails_hear_due)),
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember), REPORT_FOLD_REMEMBERED,
		REPORT_FOLD_REMEMBERED_OF_PEOPLE, REMEMBERS(summary_done, remember_done), SUMMARY_MAILS_REMEMBERED,
		REMEMBERS(send_claim, spend_remember_claim), REMEMBERS(reminder_released, spend_remember_released),
		REMEMBERS(model_used, spend_remember_model)),
	.says = SAYING(SAYS(summary_done), SAYS(summary_due), SAYS(summary_claim), SAYS(summary_mailed),
		SAYS(model_used), SAYS(alarm), SAYS(audit)),
	.effects = RUNNING(&narrate_effect, &write_effect, &summary_mails_effect),
};

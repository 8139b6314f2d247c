/*
 * summarizer.c: on the first Monday, how the past month went, as a file and as a mail to the owner
 *
 * Hears:     tick.monthly
 * Remembers: document, cart.state, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped, summary.done
 * Says:      summary.done, audit
 * Promises:  a month is summarised once; the file is durable before the mail goes; a mail that may have gone is not sent again.
 * Fails by:  trying again, and the dead letters, when the folder cannot be written or no mail server takes the mail.
 * Read next: month.c, services/kit/ledger.h
 */
#include "services/summarizer/summarizer.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/docs.h"
#include "services/kit/file_driver.h"
#include "services/kit/ledger.h"
#include "services/kit/mail.h"
#include "services/summarizer/month.h"
#include <stdio.h>

#define RETRY_US (5 * US_PER_MINUTE)
#define KEPT_US (70 * US_PER_DAY) /* a cart that was left alone for longer is in no later summary */
#define WRITE_DEADLINE_US (2 * US_PER_MINUTE)
#define MAIL_DEADLINE_US (12 * US_PER_MINUTE)

static char summary_folder[256] = "/var/lib/cartbus/export";

void summarizer_set_up(const char *folder)
{
	TEXT_COPY(summary_folder, folder);
}

static int month_of(const struct shop *shop, const struct said *said, const Tick *tick, struct month *ret)
{
	return month_before(shop->zone, tick->due_us ? tick->due_us : said->time_us, ret);
}

static const struct effect_kind write_effect, mail_effect;

static enum verdict hear_monthly(const struct state *state, const Tick *tick, struct turn *turn)
{
	const struct said *said = turn_message(turn);
	const struct shop *shop = docs_shop(state, said->shop);
	struct month month;
	if (!shop || month_of(shop, said, tick, &month) < 0)
		return turn_failed(turn, RETRY_US, "the shop's configuration is not readable");
	if (state_has(state, "summarised", said->shop, month.name))
		return DONE;
	struct file_request *file = memory_new(sizeof(*file));
	month_text(state, shop, &month, &file->content);
	snprintf(file->path, sizeof(file->path), "%s/%s/summary-%s.txt", summary_folder, said->shop, month.name);
	return turn_effect(turn, &write_effect, (void **)&file);
}

/* ---- the end, and the mail before it ---- */

struct summary {
	struct mail mail; /* first: what the mail driver takes */
	char path[256];
	char *text;
};

static void summary_free(void *request)
{
	struct summary *summary = request;
	if (!summary)
		return;
	buffer_free(&summary->mail.mime);
	free(summary->text);
	free(summary);
}

static enum verdict say_done(const struct state *state, const Tick *tick, const char *path, const char *text,
	const char *mailed, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	SummaryDone done = { .at_us = turn_now_us(turn) };
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	struct month month;
	if (month_of(docs_shop(state, shop), turn_message(turn), tick, &month) < 0)
		return turn_failed(turn, RETRY_US, "the shop's configuration is not readable");
	TEXT_COPY(done.month, month.name);
	TEXT_COPY(done.path, path);
	TEXT_COPY(done.text, text);
	SAY(turn, summary_done, &done, .shop = shop, .key = done.month);
	TEXT_COPY(audit.action, "summarised");
	TEXT_COPY(audit.who, "system");
	snprintf(audit.grounds, sizeof(audit.grounds), "%s, in %s; %s", month.name, path, mailed);
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
	return DONE;
}

static enum verdict mail_summary(
	const struct shop *shop, const struct file_request *file, const Tick *tick, struct turn *turn)
{
	char why[160], id[200], subject[160];
	struct month month;
	struct mail *mail;
	if (month_of(shop, turn_message(turn), tick, &month) < 0)
		return turn_failed(turn, RETRY_US, "the shop's configuration is not readable");
	snprintf(id, sizeof(id), "summary.%s.%s@%.100s", month.name, shop->name, address_domain(shop->from_address));
	snprintf(subject, sizeof(subject), "%s: carts in %s", shop->title, month.name);
	struct summary *summary = memory_new(sizeof(*summary));
	TEXT_COPY(summary->path, file->path);
	summary->text = memory_copy(BYTES(file->content.data, file->content.len));
	if (mail_note(shop->from, shop->owner, subject, summary->text, id, turn_now_us(turn), &mail, why) < 0) {
		summary_free(summary);
		return turn_never(turn, why);
	}
	summary->mail = *mail;
	mail->mime = (struct buffer){ 0 };
	mail_free(mail);
	return turn_effect(turn, &mail_effect, (void **)&summary);
}

static enum verdict write_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	const struct file_request *file = request;
	(void)claimed;
	if (!result || *(const int *)result < 0)
		return turn_failed(
			turn, RETRY_US, result ? strerror(-*(const int *)result) : "the file was not written in time");
	if (shop->owner[0])
		return mail_summary(shop, file, message, turn);
	_cleanup_(buffer_free) struct buffer text = { 0 };
	buffer_add(&text, file->content.data, file->content.len);
	return say_done(state, message, file->path, buffer_text(&text), "not mailed: [mail] owner is not given", turn);
}

static enum verdict mail_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const struct summary *summary = request;
	const struct mail_result *mail = result;
	(void)claimed;
	switch (mail ? mail->end : MAIL_UNKNOWN) {
	case MAIL_NOT_SENT:
	case MAIL_LATER:
		return turn_failed(turn, RETRY_US, mail->words);
	case MAIL_SENT:
		return say_done(state, message, summary->path, summary->text, "mailed to the owner", turn);
	case MAIL_REFUSED:
		return say_done(
			state, message, summary->path, summary->text, "the owner's mail server refused it", turn);
	case MAIL_UNKNOWN:
		break;
	}
	return say_done(state, message, summary->path, summary->text, "mailed, but nobody confirmed it", turn);
}

static const struct effect_kind write_effect = {
	.name = "file", .request_free = file_request_free, .deadline_us = WRITE_DEADLINE_US, .decide = write_decide
};
static const struct effect_kind mail_effect = {
	.name = "mail", .request_free = summary_free, .deadline_us = MAIL_DEADLINE_US, .decide = mail_decide
};

static void remember_done(struct state *state, const struct said *said, const SummaryDone *done)
{
	state_put_number(state, "summarised", said->shop, done->month, said->seq);
	ledger_forget(state, said->shop, done->at_us - KEPT_US);
}

const struct service summarizer = {
	.name = "summarizer",
	.exclusive = true,
	.hears = { HEARS(tick_monthly, hear_monthly) },
	.remembers = { REMEMBERS(document, docs_remember), LEDGER_REMEMBERED, REMEMBERS(summary_done, remember_done) },
	.says = { SAYS(summary_done), SAYS(audit) },
	.effects = { &write_effect, &mail_effect },
};

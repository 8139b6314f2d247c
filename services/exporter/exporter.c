/*
 * exporter.c: every night, the carts of the day that ended, as a file for the owner
 *
 * Hears:     tick.nightly
 * Remembers: document, cart.state, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped, export.done
 * Says:      export.done, audit
 * Promises:  a day is exported once, at 02:00 in the shop's zone; the file is whole and durable before that is said.
 * Fails by:  trying again, and the dead letters, when the folder cannot be written.
 * Read next: day_csv.c, services/kit/ledger.h
 */
#include "services/exporter/exporter.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/exporter/day_csv.h"
#include "services/kit/docs.h"
#include "services/kit/file_driver.h"
#include "services/kit/ledger.h"
#include <stdio.h>

#define RETRY_US US_PER_MINUTE
#define KEPT_US (70 * US_PER_DAY) /* a cart that was left alone for longer is in no later report */
#define WRITE_DEADLINE_US (2 * US_PER_MINUTE)

static char export_folder[256] = "/var/lib/cartbus/export";

void exporter_set_up(const char *folder)
{
	TEXT_COPY(export_folder, folder);
}

struct export
{
	struct file_request file; /* first: what the driver takes */
	struct day day;
};

static const struct effect_kind write_effect;

static enum verdict hear_nightly(const struct state *state, const Tick *tick, struct turn *turn)
{
	const struct said *said = turn_message(turn);
	const struct shop *shop = docs_shop(state, said->shop);
	struct day day;
	if (!shop || day_before(shop->zone, tick->due_us ? tick->due_us : said->time_us, &day) < 0)
		return turn_failed(turn, RETRY_US, "the shop's configuration is not readable");
	if (state_has(state, "exported", said->shop, day.name))
		return DONE;
	struct export *export = memory_new(sizeof(*export));
	day_csv(state, shop, &day, &export->file.content);
	export->day = day;
	snprintf(export->file.path, sizeof(export->file.path), "%s/%s/%s.csv", export_folder, said->shop, day.name);
	return turn_effect(turn, &write_effect, (void **)&export);
}

static void say_audit(struct turn *turn, const ExportDone *done)
{
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	TEXT_COPY(audit.action, "exported");
	TEXT_COPY(audit.who, "system");
	snprintf(audit.grounds, sizeof(audit.grounds), "%s: %u carts, %u mails, in %s", done->day,
		(unsigned)done->carts, (unsigned)done->mails, done->path);
	SAY(turn, audit, &audit, .shop = turn_message(turn)->shop, .key = turn_message(turn)->shop);
}

static enum verdict write_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const struct export *export = request;
	(void)state, (void)message, (void)claimed;
	if (!result || *(const int *)result < 0)
		return turn_failed(
			turn, RETRY_US, result ? strerror(-*(const int *)result) : "the file was not written in time");
	ExportDone done = { .carts = export->day.carts, .mails = export->day.mails, .at_us = turn_now_us(turn) };
	TEXT_COPY(done.day, export->day.name);
	TEXT_COPY(done.path, export->file.path);
	SAY(turn, export_done, &done, .shop = turn_message(turn)->shop, .key = done.day);
	say_audit(turn, &done);
	return DONE;
}

static const struct effect_kind write_effect = {
	.name = "file", .request_free = file_request_free, .deadline_us = WRITE_DEADLINE_US, .decide = write_decide
};

static void remember_done(struct state *state, const struct said *said, const ExportDone *done)
{
	state_put_number(state, "exported", said->shop, done->day, said->seq);
	ledger_forget(state, said->shop, done->at_us - KEPT_US);
}

const struct service exporter = {
	.name = "exporter",
	.exclusive = true,
	.hears = { HEARS(tick_nightly, hear_nightly) },
	.remembers = { REMEMBERS(document, docs_remember), LEDGER_REMEMBERED, REMEMBERS(export_done, remember_done) },
	.says = { SAYS(export_done), SAYS(audit) },
	.effects = { &write_effect },
};

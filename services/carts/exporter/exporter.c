/*
 * exporter.c: writes the carts of each day that ended to a file for the owner, every night
 *
 * Hears:     tick.nightly, sheet.due
 * Remembers: document, cart.state, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped,
 *            link.clicked, audit, export.done, sheet.claim, sheet.done, alarm
 * Says:      export.done, sheet.due, sheet.claim, sheet.done, audit, alarm
 * Promises:  a day is exported once, at 02:00 in the shop's zone; a day that was missed is exported later.
 *            The file is complete and durable before export.done is said. A change to a file is never read
 *            back.
 * Fails by:  trying again if the folder cannot be written, and then by a dead letter.
 * Read next: day_csv.c, next.c, sheet.c, services/carts/report/report_fold.h
 */
#include "services/carts/exporter/exporter.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/exporter/day_csv.h"
#include "services/carts/exporter/next.h"
#include "services/carts/exporter/sheet.h"
#include "services/carts/policy/rules_document.h"
#include "services/carts/report/report_fold.h"
#include "services/kit/documents/docs.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/time/period.h"
#include <stdio.h>

STATE_NUMBERS(exported, "exported");

#define RETRY_US US_PER_MINUTE
/*
 * A day is exported at 02:00 and not at midnight. So a tick that comes late makes up only for days that ended
 * at least this long ago.
 */
#define NIGHT_US (3 * US_PER_HOUR)
#define KEPT_US (70 * US_PER_DAY) /* a cart that did not change for longer is in no later report */
#define WRITE_DEADLINE_US (2 * US_PER_MINUTE)

struct exporter exporter_of(const char *folder, const char *public_url, struct bytes admin_key)
{
	struct exporter context = { .sheets_url = "https://sheets.googleapis.com" };
	struct day_links *links = &context.links;

	TEXT_COPY(context.folder, folder);
	TEXT_COPY(links->public_url, public_url);
	links->key_len = admin_key.len < sizeof(links->key) ? admin_key.len : sizeof(links->key);
	if (links->key_len)
		memcpy(links->key, admin_key.data, links->key_len);
	return context;
}

struct export
{
	struct file_request file; /* must be first, because the driver uses the request as this struct */
	struct day day;
	bool more; /* more days were missed */
};

static const struct effect_kind write_effect;

static enum verdict hear_nightly(const struct state *state, const Tick *tick, struct turn *turn)
{
	const struct exporter *context = exporter_context(state);
	const struct message_meta *said = turn_message(turn);
	const struct shop *shop = docs_shop(state, said->shop);
	struct day day = { 0 };
	uint32_t version;
	bool more;
	int found = -1;
	if (shop)
		found = missed_find(state,
			&(struct missed){ STATE_HANDLE(exported), shop->name, shop->zone, PERIOD_DAY,
				tick->due_us ? tick->due_us : said->time_us, turn_now_us(turn) - NIGHT_US },
			&day.period, &more);
	if (found < 0)
		return turn_failed(turn, RETRY_US, "the shop's configuration is not readable");
	if (found == 0)
		return TURN_DONE;
	struct export *export = memory_new(sizeof(*export));
	day_csv(state, shop, rules_in_use(state, shop->name, &version), &context->links, &day, &export->file.content);
	export->day = day;
	export->more = more;
	snprintf(export->file.path, sizeof(export->file.path), "%s/%s/%s.csv", context->folder, said->shop,
		day.period.name);
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
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	(void)message, (void)claimed;
	if (!result || *(const int *)result < 0)
		return turn_failed(
			turn, RETRY_US, result ? strerror(-*(const int *)result) : "the file was not written in time");
	ExportDone done = { .carts = export->day.carts, .mails = export->day.mails, .at_us = turn_now_us(turn) };
	TEXT_COPY(done.day, export->day.period.name);
	TEXT_COPY(done.path, export->file.path);
	SAY(turn, export_done, &done, .shop = turn_message(turn)->shop, .key = done.day);
	say_audit(turn, &done);
	if (shop)
		sheet_say_due(shop, &export->day.period, turn);
	return export->more ? turn_wait(turn, 0, "the next one that was missed") : TURN_DONE;
}

static const struct effect_kind write_effect = {
	.name = "file", .request_free = file_request_free, .deadline_us = WRITE_DEADLINE_US, .decide = write_decide
};

static void remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
{
	report_fold_remember_cart(state, said, cart);
	next_remember_cart(state, said, cart);
}

static void remember_done(struct state *state, const struct message_meta *said, const ExportDone *done)
{
	STATE_PUT_NUMBER(state, exported, said->shop, done->day, said->seq);
	report_fold_forget(state, said->shop, done->at_us - KEPT_US);
	last_forget(state, said->shop);
	next_forget(state, said->shop);
}

const struct service exporter = {
	.name = "exporter",
	.batch_projections = true,
	.layout = 3,
	.exclusive = true,
	.hears = HEARING(HEARS(tick_nightly, hear_nightly), HEARS(sheet_due, sheet_hear_due)),
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember), REPORT_FOLD_REMEMBERED_BY(remember_cart),
		REMEMBERS_FOR_A_WHILE(audit, last_remember), REMEMBERS(export_done, remember_done),
		REMEMBERS(sheet_claim, sheet_remember_claim), REMEMBERS(sheet_done, sheet_remember_done),
		REMEMBERS(alarm, sheet_remember_alarm)),
	.says = SAYING(
		SAYS(export_done), SAYS(sheet_due), SAYS(sheet_claim), SAYS(sheet_done), SAYS(audit), SAYS(alarm)),
	.effects = RUNNING(&write_effect, &sheet_look_effect, &sheet_append_effect),
};

/*
 * sheet.c: appends a day's rows to the owner's Google spreadsheet, once
 *
 * Owns:      the tables sheet (shop, day -> struct sheet_row) and sheet.alarm (shop -> raised).
 * Promises:  before each append the sheet is read for rows of this shop and day: what is there is not appended again, also when
 *            our own state was lost. The last byte of an append leaves only behind a fresh claim. After an append of which nobody knows
 *            what became, absence is believed only when Google would no longer be at it.
 * Fails by:  trying again for three days; an alarm when Google refuses, or after five attempts; taken back when it goes through.
 * Read next: sheet_rows.c, exporter.c, services/kit/google/google.h, services/carts/summarizer/letters.c (the same for mails)
 */
#include "services/carts/exporter/sheet.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/exporter/sheet_rows.h"
#include "services/kit/documents/docs.h"
#include "services/kit/google/google.h"
#include "services/kit/state/row.h"
#include <stdio.h>
#include <stdlib.h>

#define NO_SHOP_US (10 * US_PER_S)
#define ANSWER_WITHIN_US US_PER_MINUTE
#define EFFECT_DEADLINE_US (2 * US_PER_MINUTE) /* above those of token and request together */
/* Google gives up on a request after 180 s ("Usage limits" of the Sheets API). */
#define APPEND_OVER_US (4 * US_PER_MINUTE)
#define GIVE_UP_US (3 * US_PER_DAY)
#define RETRY_MOST_US US_PER_HOUR
static const int64_t backoff_us[] = { 10 * US_PER_S, US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE,
	US_PER_HOUR };
enum { BACKOFFS = sizeof(backoff_us) / sizeof(backoff_us[0]), LOOK_BYTES_MOST = 16 << 20, URL_ROOM = 256 };

static const char *const alarm_kind = "sheet-not-appended";

static const char *api_url = "https://sheets.googleapis.com";
static const struct day_links *day_links;

void sheet_set_api(const char *api)
{
	api_url = api;
}

void sheet_set_links(const struct day_links *links)
{
	day_links = links;
}

enum sheet_phase { SHEET_NEW, SHEET_FREE, SHEET_CLAIMED, SHEET_SETTLED };

struct sheet_row {
	uint32_t attempt;
	enum sheet_phase phase;
	int64_t claimed_us; /* of CLAIMED: since when nobody knows */
};

static struct sheet_row row_of(const struct state *state, const char *shop, const char *day)
{
	struct sheet_row row;

	row_get(state, "sheet", shop, day, &row, sizeof(row));
	return row;
}

/* ---- what was said ---- */

static void remember(struct state *state, const char *shop, const char *day, const struct sheet_row *said)
{
	struct sheet_row row = row_of(state, shop, day);

	if (said->attempt >= row.attempt && row.phase != SHEET_SETTLED)
		ROW_PUT(state, "sheet", shop, day, said);
}

void sheet_remember_claim(struct state *state, const struct message_meta *said, const SheetClaim *claim)
{
	struct sheet_row row;

	memset(&row, 0, sizeof(row));
	row.attempt = claim->attempt;
	row.phase = SHEET_CLAIMED;
	row.claimed_us = claim->claimed_us;
	remember(state, said->shop, claim->day, &row);
}

void sheet_remember_done(struct state *state, const struct message_meta *said, const SheetDone *done)
{
	static const enum sheet_phase phases[] = { [SHEET_APPENDED] = SHEET_SETTLED,
		[SHEET_RELEASED] = SHEET_FREE,
		[SHEET_UNKNOWN] = SHEET_CLAIMED,
		[SHEET_GIVEN_UP] = SHEET_SETTLED };
	struct sheet_row row;

	memset(&row, 0, sizeof(row));
	row.attempt = done->attempt;
	row.phase = phases[done->end];
	row.claimed_us = row.phase == SHEET_CLAIMED ? done->at_us : 0;
	remember(state, said->shop, done->day, &row);
}

void sheet_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, alarm_kind) == 0)
		state_put_number(state, "sheet.alarm", said->shop, "", alarm->raised);
}

void sheet_say_due(const struct shop *shop, const struct period *day, struct turn *turn)
{
	SheetDue due = { .from_us = day->from_us, .to_us = day->to_us, .at_us = turn_now_us(turn) };

	if (!shop->google.sheet[0])
		return;
	TEXT_COPY(due.day, day->name);
	SAY(turn, sheet_due, &due, .shop = shop->name, .key = due.day);
}

/* ---- how it ended ---- */

static void say_done(const SheetDue *due, const SheetDone *end, struct turn *turn)
{
	SheetDone done = *end;

	done.at_us = turn_now_us(turn);
	TEXT_COPY(done.day, due->day);
	SAY(turn, sheet_done, &done, .shop = turn_message(turn)->shop, .key = done.day);
}

static void say_audit(const SheetDue *due, const char *action, const char *words, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };

	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, "system");
	snprintf(audit.grounds, sizeof(audit.grounds), "%s: %.200s", due->day, words);
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
}

static void say_alarm(const SheetDue *due, bool raised, const char *words, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .raised = raised, .at_us = turn_now_us(turn) };

	TEXT_COPY(alarm.kind, alarm_kind);
	snprintf(alarm.text, sizeof(alarm.text), "the spreadsheet of shop %s, %s: %.250s", shop, due->day, words);
	if (raised)
		TEXT_COPY(alarm.remedy,
			"share the sheet with the service account as an editor, and check [export] sheet and tab; it "
			"is "
			"tried for three days, and the file is there");
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm_kind, .version = (uint64_t)alarm.at_us);
}

static enum verdict settled(const SheetDue *due, uint32_t attempt, uint32_t rows, const char *words, struct turn *turn)
{
	SheetDone done = { .attempt = attempt, .end = SHEET_APPENDED, .rows = rows };

	TEXT_COPY(done.reason, words);
	say_done(due, &done, turn);
	say_audit(due, "sheet_appended", words, turn);
	return TURN_DONE;
}

static enum verdict appended(const struct state *state, const SheetDue *due, uint32_t attempt, uint32_t rows,
	const char *words, struct turn *turn)
{
	if (state_number(state, "sheet.alarm", turn_message(turn)->shop, ""))
		say_alarm(due, false, words, turn);
	return settled(due, attempt, rows, words, turn);
}

static void raise_once(const struct state *state, const SheetDue *due, const char *words, struct turn *turn)
{
	if (!state_number(state, "sheet.alarm", turn_message(turn)->shop, ""))
		say_alarm(due, true, words, turn);
}

struct failure {
	uint32_t attempt;
	bool may_have_happened, is_refusal;
	const char *words;
	int64_t wait_us; /* 0: by the table */
};

static enum verdict failed(
	const struct state *state, const SheetDue *due, const struct failure *failure, struct turn *turn)
{
	SheetDone done = { .attempt = failure->attempt,
		.end = failure->may_have_happened ? SHEET_UNKNOWN : SHEET_RELEASED };
	uint32_t nth = failure->attempt > 0 ? failure->attempt : 1;
	int64_t wait_us = backoff_us[nth < BACKOFFS ? nth - 1 : BACKOFFS - 1];
	bool is_over = turn_now_us(turn) - due->at_us > GIVE_UP_US;

	TEXT_COPY(done.reason, failure->words);
	if (is_over)
		done.end = SHEET_GIVEN_UP;
	say_done(due, &done, turn);
	if (is_over || failure->is_refusal || nth >= BACKOFFS)
		raise_once(state, due, failure->words, turn);
	if (is_over) {
		say_audit(due, "sheet_given_up", failure->words, turn);
		return TURN_DONE;
	}
	return turn_wait(turn, failure->wait_us ? failure->wait_us : wait_us, failure->words);
}

/* Of an answer that is not the one that was wished for. */
static enum verdict answered_badly(const struct state *state, const SheetDue *due, uint32_t attempt,
	bool may_have_happened, const struct http_answer *answer, struct turn *turn)
{
	bool is_later = answer->status == 401 || answer->status == 408 || answer->status == 429;
	bool is_refusal = answer->end == HTTP_BARRED ||
		(answer->end == HTTP_ANSWERED && answer->status >= 300 && answer->status < 500 && !is_later);
	const struct failure failure = { .attempt = attempt,
		.may_have_happened = may_have_happened,
		.is_refusal = is_refusal,
		.words = answer->words,
		.wait_us = http_answer_retry_us(answer, is_refusal ? RETRY_MOST_US : 0, RETRY_MOST_US) };

	return failed(state, due, &failure, turn);
}

/* ---- the requests ---- */

struct sheet_request {
	struct google_request google; /* first: what the driver takes */
	uint32_t attempt, rows;
};

static void sheet_request_free(void *request)
{
	struct sheet_request *sheet = request;

	if (sheet)
		http_request_clear(&sheet->google.http);
	free(sheet);
}

/* A1 notation: 'My tab'!A:B, with each ' doubled, percent-encoded. */
static void range_of(const struct shop *shop, const char *cells, char ret[6 * SHEET_TAB_MAX + 40])
{
	char range[2 * SHEET_TAB_MAX + 16] = "", *to = range;

	if (shop->google.tab[0]) {
		*to++ = '\'';
		for (const char *c = shop->google.tab; *c; c++) {
			if (*c == '\'')
				*to++ = '\'';
			*to++ = *c;
		}
		*to++ = '\'';
		*to++ = '!';
	}
	snprintf(to, 8, "%s", cells);
	google_encode(range, ret, 6 * SHEET_TAB_MAX + 40);
}

static struct sheet_request *request_new(
	const struct shop *shop, const char *method, const char *cells, const char *how)
{
	struct sheet_request *request = memory_new(sizeof(*request));
	struct http_request *http = &request->google.http;
	char range[6 * SHEET_TAB_MAX + 40];

	range_of(shop, cells, range);
	http_request_init(
		http, method, "%.*s/v4/spreadsheets/%s/values/%s%s", URL_ROOM, api_url, shop->google.sheet, range, how);
	http->reach = HTTP_REACH_ADMIN;
	http->deadline_us = ANSWER_WITHIN_US;
	http->wanted[0] = "Retry-After";
	request->google.scope = GOOGLE_SCOPE_SHEETS;
	return request;
}

/* ---- first: is it there? ---- */

static enum verdict look(const struct shop *shop, struct turn *turn)
{
	struct sheet_request *request = request_new(shop, "GET", "A:B", "?majorDimension=COLUMNS");

	request->google.http.most_bytes = LOOK_BYTES_MOST;
	return turn_effect(turn, &sheet_look_effect, (void **)&request);
}

static enum verdict append(
	const struct state *state, const struct shop *shop, const SheetDue *due, bool with_header, struct turn *turn)
{
	struct buffer csv = { 0 };
	struct day day = { .period = { .kind = PERIOD_DAY, .from_us = due->from_us, .to_us = due->to_us } };
	uint32_t version, attempt = row_of(state, shop->name, due->day).attempt + 1;

	TEXT_COPY(day.period.name, due->day);
	day_csv(state, shop, docs_rules(state, shop->name, &version), day_links, &day, &csv);
	if (day.carts == 0) {
		buffer_free(&csv);
		return settled(due, attempt, 0, "nothing happened that day", turn); /* shows nothing about writing */
	}
	struct sheet_request *request =
		request_new(shop, "POST", "A1", ":append?valueInputOption=RAW&insertDataOption=INSERT_ROWS");
	struct http_request *http = &request->google.http;
	http_request_header(http, "Content-Type", "application/json");
	request->rows = sheet_rows(buffer_bytes(&csv), shop->name, due->day, with_header, &http->body);
	request->attempt = attempt;
	http->holds = true;
	buffer_free(&csv);
	return turn_effect(turn, &sheet_append_effect, (void **)&request);
}

enum verdict sheet_hear_due(const struct state *state, const SheetDue *due, struct turn *turn)
{
	const char *name = turn_message(turn)->shop;
	const struct shop *shop = docs_shop(state, name);

	if (row_of(state, name, due->day).phase == SHEET_SETTLED)
		return TURN_DONE;
	if (!shop)
		return turn_failed(turn, NO_SHOP_US, "the shop's configuration is not readable");
	if (!shop->google.sheet[0])
		return TURN_DONE; /* it is not wanted any more */
	return look(shop, turn);
}

static enum verdict look_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const SheetDue *due = message;
	const struct http_answer *answer = result;
	const struct http_answer none = { .end = HTTP_UNKNOWN, .words = "no answer within the deadline" };
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	struct sheet_row row = row_of(state, turn_message(turn)->shop, due->day);
	(void)request, (void)claimed;

	if (!shop || !shop->google.sheet[0])
		return sheet_hear_due(state, due, turn);
	if (!answer || answer->end != HTTP_ANSWERED || answer->status != 200)
		return answered_badly(
			state, due, row.attempt + 1, row.phase == SHEET_CLAIMED, answer ? answer : &none, turn);
	enum sheet_look found = sheet_look(answer->body, shop->name, due->day);
	if (found == SHEET_WITH)
		return appended(state, due, row.attempt, 0, "its rows are there", turn);
	if (found == SHEET_UNREADABLE)
		return failed(state, due,
			&(struct failure){ .attempt = row.attempt + 1,
				.may_have_happened = row.phase == SHEET_CLAIMED,
				.words = "what came is no answer of the Sheets API" },
			turn);
	int64_t left_us = row.phase == SHEET_CLAIMED ? row.claimed_us + APPEND_OVER_US - turn_now_us(turn) : 0;
	if (left_us > 0)
		return turn_wait(turn, left_us, "appended perhaps; it is not there yet");
	return append(state, shop, due, found == SHEET_EMPTY, turn);
}

const struct effect_kind sheet_look_effect = {
	.name = "google", .request_free = sheet_request_free, .deadline_us = EFFECT_DEADLINE_US, .decide = look_decide
};

/* ---- then: append ---- */

static void append_claim(const struct state *state, const void *message, const void *request, struct turn *turn)
{
	const SheetDue *due = message;
	const struct sheet_request *sheet = request;
	SheetClaim claim = { .attempt = sheet->attempt, .claimed_us = turn_now_us(turn) };
	char idem[40];
	(void)state;

	TEXT_COPY(claim.day, due->day);
	TEXT_COPY(claim.owner, turn_run(turn));
	snprintf(idem, sizeof(idem), "%s/%u", claim.day, (unsigned)claim.attempt);
	SAY(turn, sheet_claim, &claim, .shop = turn_message(turn)->shop, .key = claim.day, .idem = idem,
		.version = claim.attempt);
}

static bool append_may_proceed(const struct state *state, const void *message, const void *request, int64_t now_us)
{
	(void)state, (void)message, (void)request, (void)now_us;
	return true;
}

/* A 5xx is no promise that nothing was written. */
static bool may_have_happened(const struct http_answer *answer)
{
	return answer->end == HTTP_UNKNOWN ||
		(answer->end == HTTP_ANSWERED && (answer->status >= 500 || answer->status == 408));
}

static enum verdict append_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const SheetDue *due = message;
	const struct sheet_request *sheet = request;
	const struct http_answer *answer = result;
	const struct http_answer none = { .end = claimed == CLAIM_FRESH ? HTTP_UNKNOWN : HTTP_NOT_SENT,
		.words = "no answer within the deadline" };
	char words[80];

	if (claimed == CLAIM_DUPLICATE)
		return turn_wait(turn, backoff_us[0], "claimed by another");
	if (claimed == CLAIM_REFUSED)
		return turn_failed(turn, NO_SHOP_US, "the claim was refused");
	if (!answer)
		answer = &none;
	if (answer->end != HTTP_ANSWERED || answer->status < 200 || answer->status > 299)
		return answered_badly(state, due, sheet->attempt, may_have_happened(answer), answer, turn);
	snprintf(words, sizeof(words), "%u rows appended", (unsigned)sheet->rows);
	return appended(state, due, sheet->attempt, sheet->rows, words, turn);
}

const struct effect_kind sheet_append_effect = { .name = "google",
	.request_free = sheet_request_free,
	.deadline_us = EFFECT_DEADLINE_US,
	.claim = append_claim,
	.may_proceed = append_may_proceed,
	.decide = append_decide };

/*
 * sheet.c: appends a day's rows to the owner's Google spreadsheet, once
 *
 * Owns:      the tables sheet (shop, day -> struct claim_row) and sheet.alarm (shop -> raised).
 * Promises:  before each append the sheet is searched for rows of this shop and day. Rows that are there are
 *            not appended again, even if our own state was lost. The last byte of an append leaves only after
 *            a fresh claim. After an append with an unknown result, the absence of its rows counts only when
 *            Google cannot be working on it any more.
 * Fails by:  trying again for three days; an alarm if Google refuses, or after five attempts. The alarm ends
 *            when an append succeeds.
 * Read next: sheet_rows.c, exporter.c, services/kit/google/google.h, services/kit/effect/claims.h (runs the
 *            state machine of a claim)
 */
#include "services/carts/exporter/sheet.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/exporter/exporter.h"
#include "services/carts/policy/rules_document.h"
#include "services/kit/documents/docs.h"
#include "services/kit/effect/claims.h"
#include "services/kit/google/google.h"
#include <stdio.h>
#include <stdlib.h>

#define NO_SHOP_US (10 * US_PER_S)
#define ANSWER_WITHIN_US US_PER_MINUTE
#define EFFECT_DEADLINE_US (2 * US_PER_MINUTE) /* above the deadlines of token and request together */
/* Google gives up on a request after 180 s ("Usage limits" of the Sheets API). */
#define APPEND_OVER_US (4 * US_PER_MINUTE)
#define GIVE_UP_US (3 * US_PER_DAY)
#define RETRY_MOST_US US_PER_HOUR
static const int64_t backoff_us[] = { 10 * US_PER_S, US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE,
	US_PER_HOUR };
enum { BACKOFFS = sizeof(backoff_us) / sizeof(backoff_us[0]), LOOK_BYTES_MOST = 16 << 20, URL_ROOM = 256 };

static const char NO_ANSWER[] = "no answer within the deadline";

static const char *const alarm_kind = "sheet-not-appended";

STATE_STRUCTS(sheet, "sheet", struct claim_row);
STATE_NUMBERS(sheet_alarm, "sheet.alarm");

/* ---- the folds ---- */

void sheet_remember_claim(struct state *state, const struct message_meta *said, const SheetClaim *claim)
{
	const struct claim_fact fact = { .event = CLAIM_FACT_CLAIMED,
		.attempt = claim->attempt,
		.at_us = claim->claimed_us,
		.owner = claim->owner };

	claims_remember(state, CLAIMS_TABLE(sheet), said->shop, claim->day, &fact);
}

/* An end that only a newer release knows may mean that rows were appended. */
static enum claim_event event_of_end(SheetEnd end)
{
	switch (end) {
	case SHEET_APPENDED:
		return CLAIM_FACT_DONE;
	case SHEET_RELEASED:
		return CLAIM_FACT_RELEASED;
	case SHEET_GIVEN_UP:
		return CLAIM_FACT_REFUSED;
	case SHEET_UNKNOWN:
		break;
	}
	return CLAIM_FACT_UNCERTAIN;
}

void sheet_remember_done(struct state *state, const struct message_meta *said, const SheetDone *done)
{
	const struct claim_fact fact = {
		.event = event_of_end(done->end), .attempt = done->attempt, .at_us = done->at_us
	};

	claims_remember(state, CLAIMS_TABLE(sheet), said->shop, done->day, &fact);
}

void sheet_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, alarm_kind) == 0)
		STATE_PUT_NUMBER(state, sheet_alarm, said->shop, "", alarm->raised);
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

enum { SAID_ROOM = 600 }; /* more than a record has room for: TEXT_COPY cuts at a character */

static void say_audit(const SheetDue *due, const char *action, const char *words, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	char grounds[SAID_ROOM];

	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, "system");
	snprintf(grounds, sizeof(grounds), "%s: %s", due->day, words);
	TEXT_COPY(audit.grounds, grounds);
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
}

static void say_alarm(const SheetDue *due, bool raised, const char *words, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .raised = raised, .at_us = turn_now_us(turn) };
	char text[SAID_ROOM];

	TEXT_COPY(alarm.kind, alarm_kind);
	snprintf(text, sizeof(text), "the spreadsheet of shop %s, %s: %s", shop, due->day, words);
	TEXT_COPY(alarm.text, text);
	if (raised)
		TEXT_COPY(alarm.remedy,
			"share the sheet with the service account as an editor, and check [export] sheet and tab; it "
			"is tried for three days, and the file is there");
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm_kind, .version = (uint64_t)alarm.at_us);
}

static void say_appended(const SheetDue *due, uint32_t attempt, uint32_t rows, const char *words, struct turn *turn)
{
	SheetDone done = { .attempt = attempt, .end = SHEET_APPENDED, .rows = rows };

	TEXT_COPY(done.reason, words);
	say_done(due, &done, turn);
	say_audit(due, "sheet_appended", words, turn);
}

static bool is_alarm_raised(const struct state *state, const struct turn *turn)
{
	return STATE_NUMBER(state, sheet_alarm, turn_message(turn)->shop, "") != 0;
}

/* true: Google refuses the request, and would refuse it in a minute too. */
static bool is_refusal(const struct http_answer *answer)
{
	bool is_later = answer->status == 401 || answer->status == 408 || answer->status == 429;

	return answer->end == HTTP_BARRED ||
		(answer->end == HTTP_ANSWERED && answer->status >= 300 && answer->status < 500 && !is_later);
}

static int64_t wait_of(const struct http_answer *answer)
{
	return http_answer_retry_us(answer, is_refusal(answer) ? RETRY_MOST_US : 0, RETRY_MOST_US);
}

static void say_failure(
	const struct state *state, const SheetDue *due, const struct claim_outcome *outcome, struct turn *turn)
{
	const struct http_answer *answer = outcome->result;
	const char *words = answer || outcome->event != CLAIM_END_NONE ? outcome->words : NO_ANSWER;
	bool is_over = outcome->state == CLAIM_IS_REFUSED;
	SheetDone done = { .attempt = outcome->attempt,
		.end = is_over                                 ? SHEET_GIVEN_UP
			: outcome->state == CLAIM_IS_UNCERTAIN ? SHEET_UNKNOWN
							       : SHEET_RELEASED };

	TEXT_COPY(done.reason, words);
	say_done(due, &done, turn);
	if ((is_over || outcome->attempt >= BACKOFFS || (answer && is_refusal(answer))) &&
		!is_alarm_raised(state, turn))
		say_alarm(due, true, words, turn);
	if (is_over)
		say_audit(due, "sheet_given_up", words, turn);
}

/* ---- the requests ---- */

struct sheet_request {
	struct google_request google; /* must be first, because the driver uses the request as this struct */
	struct claim_try attempt;
	uint32_t rows;
};

static const struct claims sheet_claims;

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
	const char *api_url, const struct shop *shop, const char *method, const char *cells, const char *how)
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

/* ---- first: are the rows there? ---- */

static enum verdict look(const struct state *state, const void *message, struct turn *turn)
{
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	(void)message;

	if (!shop)
		return turn_failed(turn, NO_SHOP_US, "the shop's configuration is not readable");
	if (!shop->google.sheet[0])
		return TURN_DONE; /* it is not wanted any more */
	struct sheet_request *request =
		request_new(exporter_context(state)->sheets_url, shop, "GET", "A:B", "?majorDimension=COLUMNS");

	request->google.http.most_bytes = LOOK_BYTES_MOST;
	return turn_effect(turn, &sheet_look_effect, (void **)&request);
}

/* `found`: points to an enum sheet_look. */
static enum verdict append(
	const struct state *state, const void *message, uint32_t attempt, const void *found, struct turn *turn)
{
	const SheetDue *due = message;
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	bool with_header = *(const enum sheet_look *)found == SHEET_EMPTY;
	const struct exporter *context = exporter_context(state);
	struct buffer csv = { 0 };
	struct day day = { .period = { .kind = PERIOD_DAY, .from_us = due->from_us, .to_us = due->to_us } };
	uint32_t version;

	TEXT_COPY(day.period.name, due->day);
	day_csv(state, shop, rules_in_use(state, shop->name, &version), &context->links, &day, &csv);
	if (day.carts == 0) {
		buffer_free(&csv);
		say_appended(due, attempt, 0, "nothing happened that day", turn); /* no write: an alarm stays */
		return TURN_DONE;
	}
	struct sheet_request *request = request_new(
		context->sheets_url, shop, "POST", "A1", ":append?valueInputOption=RAW&insertDataOption=INSERT_ROWS");
	struct http_request *http = &request->google.http;
	http_request_header(http, "Content-Type", "application/json");
	request->rows = sheet_rows(buffer_bytes(&csv), shop->name, due->day, with_header, &http->body);
	request->attempt.attempt = attempt;
	TEXT_COPY(request->attempt.shop, shop->name);
	TEXT_COPY(request->attempt.key, due->day);
	http->holds = true;
	buffer_free(&csv);
	return turn_effect(turn, &sheet_append_effect, (void **)&request);
}

enum verdict sheet_hear_due(const struct state *state, const SheetDue *due, struct turn *turn)
{
	return claims_meet(&sheet_claims, state, due, turn);
}

/* `ret_found`: what the look found, for append(). */
static struct claim_reply read_look(
	const struct http_answer *answer, const struct shop *shop, const SheetDue *due, enum sheet_look *ret_found)
{
	if (!answer)
		return (struct claim_reply){ .event = CLAIM_LOOK_FAILED, .words = NO_ANSWER };
	if (answer->end != HTTP_ANSWERED || answer->status != 200)
		return (struct claim_reply){
			.event = CLAIM_LOOK_FAILED, .words = answer->words, .wait_us = wait_of(answer)
		};
	*ret_found = sheet_look(answer->body, shop->name, due->day);
	if (*ret_found == SHEET_WITH)
		return (struct claim_reply){ .event = CLAIM_LOOK_FOUND, .words = "its rows are there" };
	if (*ret_found == SHEET_UNREADABLE)
		return (struct claim_reply){ .event = CLAIM_LOOK_FAILED,
			.words = "what came is no answer of the Sheets API" };
	return (struct claim_reply){ .event = CLAIM_LOOK_ABSENT, .found = ret_found };
}

static enum verdict look_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const SheetDue *due = message;
	const struct http_answer *answer = result;
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	enum sheet_look found = SHEET_UNREADABLE;
	(void)request, (void)claimed;

	if (!shop || !shop->google.sheet[0])
		return sheet_hear_due(state, due, turn);
	struct claim_reply reply = read_look(answer, shop, due, &found);
	bool was_answered = answer && answer->end == HTTP_ANSWERED && answer->status == 200;
	return claims_looked(&sheet_claims, state, due, &reply, was_answered ? NULL : answer, turn);
}

const struct effect_kind sheet_look_effect = {
	.name = "google", .request_free = sheet_request_free, .deadline_us = EFFECT_DEADLINE_US, .decide = look_decide
};

/* ---- then: append ---- */

static const struct claim_try *attempt_of_append(const void *request)
{
	return &((const struct sheet_request *)request)->attempt;
}

static void say_append_claim(const void *message, const void *request, struct turn *turn)
{
	const struct claim_try *claimed = attempt_of_append(request);
	SheetClaim claim = { .attempt = claimed->attempt, .claimed_us = turn_now_us(turn) };
	char idem[CLAIM_KEY_MAX + 12];
	(void)message;

	TEXT_COPY(claim.day, claimed->key);
	TEXT_COPY(claim.owner, turn_run(turn));
	snprintf(idem, sizeof(idem), "%s/%u", claim.day, (unsigned)claim.attempt);
	SAY(turn, sheet_claim, &claim, .shop = claimed->shop, .key = claim.day, .idem = idem, .version = claim.attempt);
}

static void say_append_outcome(
	const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn)
{
	const SheetDue *due = message;
	const struct sheet_request *request = outcome->request;
	uint32_t rows = request ? request->rows : 0;
	char words[80];

	if (outcome->state != CLAIM_IS_DONE) {
		say_failure(state, due, outcome, turn);
		return;
	}
	snprintf(words, sizeof(words), "%u rows appended", (unsigned)rows);
	const char *reason = outcome->event == CLAIM_END_DONE ? words : outcome->words;
	if (is_alarm_raised(state, turn))
		say_alarm(due, false, reason, turn);
	say_appended(due, outcome->attempt, rows, reason, turn);
}

/*
 * After a 5xx the rows may have been written. A 4xx is tried again, because the owner may share the sheet
 * meanwhile.
 */
static struct claim_reply read_append(const void *message, const void *request, const void *result)
{
	const struct http_answer *answer = result;
	struct claim_reply reply = { .event = CLAIM_END_NOT_DONE, .words = answer->words, .wait_us = wait_of(answer) };
	(void)message, (void)request;

	if (answer->end == HTTP_UNKNOWN)
		reply.event = CLAIM_END_UNKNOWN;
	else if (answer->end == HTTP_ANSWERED && answer->status >= 200 && answer->status <= 299)
		reply.event = CLAIM_END_DONE;
	else if (answer->end == HTTP_ANSWERED && (answer->status >= 500 || answer->status == 408))
		reply.event = CLAIM_END_UNKNOWN;
	return reply;
}

static bool is_given_up(const void *message, int64_t now_us)
{
	return now_us - ((const SheetDue *)message)->at_us > GIVE_UP_US;
}

static enum verdict wait_for_other(const struct state *state, const void *message, struct turn *turn)
{
	(void)state, (void)message;
	return turn_wait(turn, backoff_us[0], "claimed by another");
}

static void key_of_due(const void *message, char ret[CLAIM_KEY_MAX])
{
	snprintf(ret, CLAIM_KEY_MAX, "%s", ((const SheetDue *)message)->day);
}

static const struct claims sheet_claims = { .table = CLAIMS_TABLE(sheet),
	.reading = CLAIM_READS_FIRST,
	CLAIMS_PATIENCE,
	.uncertain_us = APPEND_OVER_US,
	.backoff_us = backoff_us,
	.backoffs = BACKOFFS,
	.key = key_of_due,
	.open = append,
	.look = look,
	.meet = wait_for_other,
	.attempt_of = attempt_of_append,
	.say_claim = say_append_claim,
	.say_outcome = say_append_outcome,
	.read = read_append,
	.is_over = is_given_up };

CLAIMS_FUNCTIONS(append, sheet_claims)

const struct effect_kind sheet_append_effect = { .name = "google",
	.request_free = sheet_request_free,
	.deadline_us = EFFECT_DEADLINE_US,
	CLAIMS_DECIDED_BY(append) };

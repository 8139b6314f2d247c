/* test_sheet.c: the rows of a day in the owner's spreadsheet, once */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "tests/service/exporter/given.h"
#include "tests/unit/cmocka_all.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SHEET "1SheetOfTheOwner"

static struct http_answer answer_of(long status, const char *body)
{
	struct http_answer answer = { .end = HTTP_ANSWERED, .status = status, .body = bytes_of(body) };
	snprintf(answer.words, sizeof(answer.words), "HTTP %ld", status);
	return answer;
}

static enum verdict when_sheet(struct harness *h)
{
	SheetDue due = {
		.day = "2026-10-24", .from_us = berlin(24, 0, 0), .to_us = berlin(25, 0, 0), .at_us = berlin(25, 2, 0)
	};
	return WHEN(h, sheet_due, &due, .shop = "demo", .key = due.day);
}

/* The same for a day on which nothing happened. */
static enum verdict when_sheet_of_nothing(struct harness *h)
{
	SheetDue due = {
		.day = "2026-10-26", .from_us = berlin(26, 0, 0), .to_us = berlin(27, 0, 0), .at_us = berlin(27, 2, 0)
	};
	return WHEN(h, sheet_due, &due, .shop = "demo", .key = due.day);
}

static enum verdict answers(struct harness *h, long status, const char *body, enum claim_answer claimed)
{
	struct http_answer answer = answer_of(status, body);
	return harness_result(h, &answer, claimed);
}

static const char *asked(struct harness *h)
{
	const struct http_request *request = harness_effect_request(h);
	return request ? request->url : "";
}

static struct harness *given_sheet(void)
{
	struct harness *h = given_shop_with("[export]\nsheet = " SHEET "\n");
	CartState cart = cart_of("=c", berlin(24, 9, 0));
	given_cart(h, &cart);
	return h;
}

static void given_end(struct harness *h, uint32_t attempt, SheetEnd end)
{
	SheetDone done = { .day = "2026-10-24", .attempt = attempt, .end = end, .at_us = berlin(25, 2, 2) };
	GIVEN(h, sheet_done, &done, .shop = "demo", .key = done.day);
}

static void given_claim(struct harness *h, uint32_t attempt)
{
	SheetClaim claim = { .day = "2026-10-24", .attempt = attempt, .claimed_us = berlin(25, 2, 0) };
	GIVEN(h, sheet_claim, &claim, .shop = "demo", .key = claim.day, .version = attempt);
}

#define NOTHING "{\"range\":\"A1:B1\",\"majorDimension\":\"COLUMNS\"}"
#define OTHERS                                                                                                         \
	"{\"range\":\"A1:B2\",\"values\":[[\"shop\",\"other\",\"demo\"],[\"day\",\"2026-10-24\",\"2026-10-23\"]]}"
#define OURS "{\"range\":\"A1:B2\",\"values\":[[\"shop\",\"demo\"],[\"day\",\"2026-10-24\"]]}"

static void rows_go_below_others_with_a_header_only_on_top(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct harness *h = given_sheet();
		assert_int_equal(when_sheet(h), TURN_PENDING);
		assert_string_equal(asked(h),
			"https://sheets.googleapis.com/v4/spreadsheets/" SHEET "/values/A%3AB?majorDimension=COLUMNS");
		assert_int_equal(answers(h, 200, i ? OTHERS : NOTHING, CLAIM_NONE), TURN_PENDING);
		const struct http_request *request = harness_effect_request(h);
		const char *body = buffer_text((struct buffer *)&request->body);
		assert_true(request->holds);
		assert_non_null(strstr(request->url, ":append?valueInputOption=RAW&"));
		assert_int_equal(strstr(body, "{\"values\":[[\"shop\",\"day\",\"cart\",") != NULL, i == 0);
		assert_non_null(strstr(body, "[\"demo\",\"2026-10-24\",\"'=c\",\"open\","));
		assert_non_null(strstr(body, ",12.5,\"EUR\","));
		assert_int_equal(answers(h, 200, "{}", CLAIM_FRESH), TURN_DONE);
		assert_int_equal(when_sheet(h), TURN_DONE);
		harness_free(h);
	}
}

/* A release before this one cut texts in the middle of a character, and its records are still in the log. */
static void a_text_that_is_no_utf8_moves_no_other_cell(void **state)
{
	struct harness *h = given_sheet();
	Audit audit = { .at_us = berlin(24, 10, 0), .action = "deferred", .cart_id = "=c", .grounds = "caf\xc3" };
	(void)state;
	GIVEN(h, audit, &audit, .shop = "demo", .key = "=c");
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, NOTHING, CLAIM_NONE), TURN_PENDING);
	const struct http_request *request = harness_effect_request(h);
	json_t *body = json_loadb((const char *)request->body.data, request->body.len, 0, NULL);
	const json_t *rows = json_object_get(body, "values");
	const json_t *header = json_array_get(rows, 0), *row = json_array_get(rows, 1);
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(json_array_size(row), json_array_size(header));
	for (size_t i = 0; i < json_array_size(header); i++) {
		const char *name = json_string_value(json_array_get(header, i));
		if (strcmp(name, "reason") == 0)
			assert_memory_equal(json_string_value(json_array_get(row, i)), "caf?", 4);
		if (strcmp(name, "currency") == 0)
			assert_string_equal(json_string_value(json_array_get(row, i)), "EUR");
	}
	json_decref(body);
	harness_free(h);
}

static void what_is_there_is_not_appended_again(void **state)
{
	struct harness *h = given_sheet();
	SheetDone done;
	(void)state;
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OURS, CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_sheet_done, 0, &done, NULL));
	assert_int_equal(done.end, SHEET_APPENDED);
	harness_free(h);
}

static void a_lost_append_is_made_again_only_when_google_is_no_longer_at_it(void **state)
{
	struct harness *h = given_sheet();
	(void)state;
	given_claim(h, 1);
	harness_now(h, berlin(25, 2, 3));
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_RETRY);
	assert_true(harness_delay_us(h) == US_PER_MINUTE);
	harness_now(h, berlin(25, 2, 4));
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_PENDING);
	assert_int_equal(answers(h, 500, "", CLAIM_FRESH), TURN_RETRY); /* which is no "no" either */
	harness_now(h, berlin(25, 2, 7));
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OURS, CLAIM_NONE), TURN_DONE);
	harness_free(h);
}

/* What failed before anything was asked for is let go of; whether rows were appended is not known until somebody looked. */
static void google_away_is_asked_again_after_longer_waits_and_what_may_be_there_stays_claimed(void **state)
{
	static const int64_t waits_us[] = { 10 * US_PER_S, US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE };
	(void)state;
	for (int claimed = 0; claimed < 2; claimed++) {
		struct harness *h = given_sheet();
		SheetDone done;
		if (claimed)
			given_claim(h, 1);
		harness_now(h, berlin(25, 2, 30));
		for (uint32_t i = 0; i < sizeof(waits_us) / sizeof(waits_us[0]); i++) {
			assert_int_equal(when_sheet(h), TURN_PENDING);
			assert_int_equal(answers(h, 503, "", CLAIM_NONE), TURN_RETRY);
			if (!claimed)
				assert_int_equal(harness_delay_us(h), waits_us[i]);
			assert_true(harness_said(h, &topic_sheet_done, 0, &done, NULL));
			assert_int_equal(done.end, claimed ? SHEET_UNKNOWN : SHEET_RELEASED);
			assert_string_equal(done.day, "2026-10-24");
		}
		harness_free(h);
	}
}

static void a_refusal_alarms_once_and_is_given_up_after_three_days(void **state)
{
	struct harness *h = given_sheet();
	SheetDone done;
	Alarm alarm;
	(void)state;
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 403, "", CLAIM_NONE), TURN_RETRY);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_true(alarm.raised && strstr(alarm.text, "HTTP 403"));
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 403, "", CLAIM_NONE), TURN_RETRY);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_now(h, berlin(25, 2, 0) + 3 * US_PER_DAY);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 403, "", CLAIM_NONE), TURN_RETRY);
	harness_now(h, berlin(25, 2, 0) + 3 * US_PER_DAY + 1);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 403, "", CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_sheet_done, 0, &done, NULL));
	assert_int_equal(done.end, SHEET_GIVEN_UP);
	assert_int_equal(harness_count(h, &topic_audit), 1);
	assert_int_equal(when_sheet(h), TURN_DONE);
	harness_free(h);
}

static void words_of_a_peer_are_recorded_as_whole_characters(void **state)
{
	struct http_answer refusal = { .end = HTTP_BARRED, .words = "x" };
	struct harness *h = given_sheet();
	Alarm alarm;
	Audit audit;
	(void)state;
	while (strlen(refusal.words) + 2 < sizeof(refusal.words))
		strcat(refusal.words, "ö");
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(harness_result(h, &refusal, CLAIM_NONE), TURN_RETRY);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_non_null(strstr(alarm.text, "öö"));
	assert_true(text_is_utf8(bytes_of(alarm.text)));
	harness_now(h, berlin(25, 2, 0) + 3 * US_PER_DAY + 1);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(harness_result(h, &refusal, CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_non_null(strstr(audit.grounds, "xöö"));
	assert_true(text_is_utf8(bytes_of(audit.grounds)));
	harness_free(h);
}

static void a_day_on_which_nothing_happened_ends_no_alarm_of_another(void **state)
{
	struct harness *h = given_sheet();
	Alarm alarm;
	(void)state;
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, NOTHING, CLAIM_NONE), TURN_PENDING);
	assert_int_equal(answers(h, 403, "", CLAIM_FRESH), TURN_RETRY);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL) && alarm.raised);
	harness_now(h, berlin(27, 2, 0));
	assert_int_equal(when_sheet_of_nothing(h), TURN_PENDING);
	assert_int_equal(
		answers(h, 200, NOTHING, CLAIM_NONE), TURN_DONE); /* that it may read shows nothing about writing */
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

/* The rows of the day, read and not found, are on their way. */
static struct harness *given_append(void)
{
	struct harness *h = given_sheet();
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_PENDING);
	assert_true(harness_may_proceed(h));
	return h;
}

/* Of what never happened nothing is there: it is free at once. What may have happened is read back first. */
static void what_became_of_an_append_follows_from_the_answer(void **state)
{
	static const struct {
		enum http_end end;
		long status;
		const char *retry_after;
		SheetEnd became;
		bool alarms;
		int64_t wait_us; /* 0: it is done */
	} cases[] = {
		{ HTTP_ANSWERED, 200, NULL, SHEET_APPENDED, false, 0 },
		{ HTTP_ANSWERED, 299, NULL, SHEET_APPENDED, false, 0 },
		{ HTTP_ANSWERED, 199, NULL, SHEET_RELEASED, false, 10 * US_PER_S },
		{ HTTP_ANSWERED, 300, NULL, SHEET_RELEASED, true, US_PER_HOUR },
		{ HTTP_ANSWERED, 400, NULL, SHEET_RELEASED, true, US_PER_HOUR },
		{ HTTP_ANSWERED, 404, "90", SHEET_RELEASED, true, 90 * US_PER_S },
		{ HTTP_ANSWERED, 499, NULL, SHEET_RELEASED, true, US_PER_HOUR },
		{ HTTP_ANSWERED, 401, NULL, SHEET_RELEASED, false, 10 * US_PER_S },
		{ HTTP_ANSWERED, 429, NULL, SHEET_RELEASED, false, 10 * US_PER_S },
		{ HTTP_ANSWERED, 429, "120", SHEET_RELEASED, false, 120 * US_PER_S },
		{ HTTP_ANSWERED, 429, "100000", SHEET_RELEASED, false, US_PER_HOUR },
		{ HTTP_ANSWERED, 408, NULL, SHEET_UNKNOWN, false, 10 * US_PER_S },
		{ HTTP_ANSWERED, 500, NULL, SHEET_UNKNOWN, false, 10 * US_PER_S },
		{ HTTP_ANSWERED, 503, "60", SHEET_UNKNOWN, false, 60 * US_PER_S },
		{ HTTP_UNKNOWN, 0, NULL, SHEET_UNKNOWN, false, 10 * US_PER_S },
		{ HTTP_NOT_SENT, 0, NULL, SHEET_RELEASED, false, 10 * US_PER_S },
		{ HTTP_BARRED, 0, NULL, SHEET_RELEASED, true, US_PER_HOUR },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_append();
		struct http_answer answer = answer_of(cases[i].status, "");
		SheetDone done;
		answer.end = cases[i].end;
		answer.headers[0].name = "Retry-After";
		TEXT_COPY(answer.headers[0].value, cases[i].retry_after ? cases[i].retry_after : "");
		assert_int_equal(harness_result(h, &answer, CLAIM_FRESH), cases[i].wait_us ? TURN_RETRY : TURN_DONE);
		assert_int_equal(harness_delay_us(h), cases[i].wait_us);
		assert_true(harness_said(h, &topic_sheet_done, 0, &done, NULL));
		assert_int_equal(done.end, cases[i].became);
		assert_int_equal(done.attempt, 1);
		assert_int_equal(done.rows, cases[i].wait_us ? 0 : 1);
		assert_int_equal(harness_count(h, &topic_alarm), cases[i].alarms);
		assert_int_equal(harness_count(h, &topic_audit), cases[i].wait_us ? 0 : 1);
		harness_free(h);
	}
}

static void without_an_answer_it_depends_on_the_claim(void **state)
{
	static const struct {
		enum claim_answer claimed;
		bool is_said;
		SheetEnd became;
	} cases[] = {
		{ CLAIM_FRESH, true, SHEET_UNKNOWN },
		{ CLAIM_UNUSED, true, SHEET_RELEASED },
		{ CLAIM_NONE, true, SHEET_RELEASED },
		{ CLAIM_DUPLICATE, false, 0 }, /* another one says what became of it */
		{ CLAIM_REFUSED, false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_append();
		SheetDone done;
		assert_int_equal(harness_result(h, NULL, cases[i].claimed), TURN_RETRY);
		assert_int_equal(harness_delay_us(h), 10 * US_PER_S);
		assert_int_equal(harness_said(h, &topic_sheet_done, 0, &done, NULL), cases[i].is_said);
		if (cases[i].is_said) {
			assert_int_equal(done.end, cases[i].became);
			assert_string_equal(done.reason, "no answer within the deadline");
		}
		harness_free(h);
	}
}

/* What is said late, by another or behind a redrive, does not undo what is known of a later attempt. */
static void the_latest_attempt_counts_and_the_end_is_final(void **state)
{
	struct harness *h = given_sheet();
	SheetClaim claim;
	struct message_meta how;
	(void)state;
	harness_now(h, berlin(25, 2, 3));
	given_claim(h, 2);
	given_end(h, 1, SHEET_RELEASED);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), US_PER_MINUTE);
	given_end(h, 2, SHEET_UNKNOWN); /* two minutes later nobody knew either */
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), 3 * US_PER_MINUTE);
	given_end(h, 2, SHEET_RELEASED);
	given_claim(h, 1);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_PENDING);
	assert_true(harness_may_proceed(h));
	assert_true(harness_said(h, &topic_sheet_claim, 0, &claim, &how));
	assert_int_equal(claim.attempt, 3);
	assert_string_equal(claim.day, "2026-10-24");
	assert_string_equal(claim.owner, "harness");
	assert_int_equal(claim.claimed_us, berlin(25, 2, 3));
	assert_string_equal(how.idem, "2026-10-24/3");
	assert_string_equal(how.key, "2026-10-24");
	assert_int_equal(how.version, 3);
	given_end(h, 3, SHEET_APPENDED);
	given_claim(h, 4);
	given_end(h, 4, SHEET_RELEASED);
	assert_int_equal(when_sheet(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* Also of an attempt that was long believed lost: the rows are there. */
static void that_rows_were_appended_is_final_whichever_attempt_did_it(void **state)
{
	struct harness *h = given_sheet();
	(void)state;
	given_claim(h, 1);
	given_end(h, 1, SHEET_RELEASED);
	given_claim(h, 2);
	given_end(h, 1, SHEET_APPENDED);
	assert_int_equal(when_sheet(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void nothing_is_appended_whose_claim_does_not_hold_any_more(void **state)
{
	struct harness *h = given_append();
	(void)state;
	given_end(h, 1, SHEET_APPENDED);
	assert_false(harness_may_proceed(h));
	harness_free(h);
}

static void an_end_that_a_newer_release_says_is_read_back(void **state)
{
	struct harness *h = given_sheet();
	(void)state;
	given_claim(h, 1);
	given_end(h, 1, (SheetEnd)77);
	harness_now(h, berlin(25, 2, 3));
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), 3 * US_PER_MINUTE);
	harness_free(h);
}

static void the_fifth_failure_alarms_and_success_takes_it_back(void **state)
{
	struct harness *h = given_sheet();
	Alarm alarm, other = { .kind = "export-failed", .raised = true };
	struct message_meta how;
	(void)state;
	GIVEN(h, alarm, &other, .shop = "demo", .key = other.kind, .version = 1);
	for (int nth = 1; nth <= 6; nth++) {
		assert_int_equal(when_sheet(h), TURN_PENDING);
		assert_int_equal(answers(h, 503, "", CLAIM_NONE), TURN_RETRY);
		assert_int_equal(harness_count(h, &topic_alarm), nth == 5);
		if (nth >= 5)
			assert_int_equal(harness_delay_us(h), US_PER_HOUR);
		if (nth != 5)
			continue;
		assert_true(harness_said(h, &topic_alarm, 0, &alarm, &how) && alarm.raised && alarm.remedy[0]);
		assert_string_equal(alarm.kind, "sheet-not-appended");
		assert_string_equal(alarm.text, "the spreadsheet of shop demo, 2026-10-24: HTTP 503");
		assert_string_equal(how.key, "sheet-not-appended");
		assert_int_equal(how.version, berlin(25, 2, 0));
	}
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OURS, CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_false(alarm.raised);
	assert_string_equal(alarm.remedy, "");
	harness_free(h);
}

static void a_sheet_that_cannot_be_read_is_tried_again_and_one_that_nobody_wants_is_not(void **state)
{
	struct harness *h = given_sheet();
	SheetDue due = { .day = "2026-10-24" };
	SheetDone done;
	(void)state;
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, "<html>", CLAIM_NONE), TURN_RETRY);
	assert_string_equal(harness_reason(h), "what came is no answer of the Sheets API");
	assert_true(harness_said(h, &topic_sheet_done, 0, &done, NULL));
	assert_int_equal(done.end, SHEET_RELEASED);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), TURN_RETRY);
	assert_string_equal(harness_reason(h), "no answer within the deadline");
	assert_int_equal(harness_delay_us(h), US_PER_MINUTE); /* it is the second time */
	assert_int_equal(WHEN(h, sheet_due, &due, .shop = "unknown", .key = due.day), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), 10 * US_PER_S);
	harness_free(h);
	h = given_shop();
	assert_int_equal(when_sheet(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* A1 notation: in quotes, with each quote doubled. */
static void a_tab_is_named_in_the_range(void **state)
{
	struct harness *h = given_shop_with("[export]\nsheet = " SHEET "\ntab = Ada's carts\n");
	(void)state;
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_string_equal(asked(h),
		"https://sheets.googleapis.com/v4/spreadsheets/" SHEET
		"/values/%27Ada%27%27s%20carts%27%21A%3AB?majorDimension=COLUMNS");
	harness_free(h);
}

/* ---- the record ---- */

static void expect_ended(struct harness *h, SheetEnd end, uint32_t attempt, uint32_t rows, const char *words)
{
	SheetDone done;
	assert_true(harness_said(h, &topic_sheet_done, 0, &done, NULL));
	assert_int_equal(done.end, end);
	assert_int_equal(done.attempt, attempt);
	assert_int_equal(done.rows, rows);
	assert_string_equal(done.reason, words);
}

static void expect_audit(struct harness *h, const char *action, const char *grounds)
{
	Audit audit;
	struct message_meta how;
	assert_true(harness_said(h, &topic_audit, 0, &audit, &how));
	assert_string_equal(audit.action, action);
	assert_string_equal(audit.grounds, grounds);
	assert_string_equal(audit.who, "system");
	assert_true(audit.decided_on >= harness_message_seq(h));
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "demo");
}

static void each_end_is_on_record_with_its_attempt_and_its_rows(void **state)
{
	struct harness *h = given_append();
	(void)state;
	assert_int_equal(answers(h, 200, "{}", CLAIM_FRESH), TURN_DONE);
	expect_ended(h, SHEET_APPENDED, 1, 1, "1 rows appended");
	expect_audit(h, "sheet_appended", "2026-10-24: 1 rows appended");
	assert_int_equal(when_sheet_of_nothing(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_DONE);
	expect_ended(h, SHEET_APPENDED, 1, 0, "nothing happened that day");
	expect_audit(h, "sheet_appended", "2026-10-26: nothing happened that day");
	harness_free(h);
	h = given_sheet();
	given_claim(h, 2);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 200, OURS, CLAIM_NONE), TURN_DONE);
	expect_ended(h, SHEET_APPENDED, 2, 0, "its rows are there");
	expect_audit(h, "sheet_appended", "2026-10-24: its rows are there");
	harness_free(h);
	h = given_sheet();
	harness_now(h, berlin(25, 2, 0) + 3 * US_PER_DAY + 1);
	assert_int_equal(when_sheet(h), TURN_PENDING);
	assert_int_equal(answers(h, 503, "", CLAIM_NONE), TURN_DONE);
	expect_ended(h, SHEET_GIVEN_UP, 1, 0, "HTTP 503");
	expect_audit(h, "sheet_given_up", "2026-10-24: HTTP 503");
	harness_free(h);
}

static void an_append_is_json_posted_to_the_api(void **state)
{
	struct harness *h = given_append();
	const struct http_request *request = harness_effect_request(h);
	(void)state;
	assert_string_equal(request->method, "POST");
	assert_string_equal(request->url,
		"https://sheets.googleapis.com/v4/spreadsheets/" SHEET
		"/values/A1:append?valueInputOption=RAW&insertDataOption=INSERT_ROWS");
	assert_non_null(strstr(buffer_text((struct buffer *)&request->headers), "Content-Type: application/json"));
	harness_free(h);
}

/* The shop may take its sheet back, or its shop.conf may be gone, while Google is asked. */
static void a_sheet_that_is_taken_back_meanwhile_is_left_alone(void **state)
{
	static Document document = { .version = 2, .kind = "shop", .digest = "d2" };
	struct harness *h = given_sheet();
	(void)state;
	assert_int_equal(when_sheet(h), TURN_PENDING);
	TEXT_COPY(document.text,
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = "
		"https://demo.example\n[mail]\nfrom = Demo <shop@demo.example>\nowner = owner@demo.example\nbounce = "
		"bounce@demo.example\nreply-to = shop@demo.example\npostal-address = 1 Main Street\n");
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = 2);
	assert_int_equal(answers(h, 200, OTHERS, CLAIM_NONE), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void without_a_sheet_nothing_is_due_and_with_one_each_day_is(void **state)
{
	struct harness *h = given_shop();
	struct message_meta how;
	SheetDue due;
	(void)state;
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_sheet_due), 0);
	harness_free(h);
	h = given_sheet();
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_sheet_due), 1);
	assert_true(harness_said(h, &topic_sheet_due, 0, &due, &how));
	assert_string_equal(due.day, "2026-10-24");
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "2026-10-24");
	assert_int_equal(due.from_us, berlin(24, 0, 0));
	assert_int_equal(due.to_us, berlin(25, 0, 0));
	assert_int_equal(due.at_us, berlin(25, 2, 0));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_go_below_others_with_a_header_only_on_top),
		cmocka_unit_test(a_text_that_is_no_utf8_moves_no_other_cell),
		cmocka_unit_test(what_is_there_is_not_appended_again),
		cmocka_unit_test(a_lost_append_is_made_again_only_when_google_is_no_longer_at_it),
		cmocka_unit_test(google_away_is_asked_again_after_longer_waits_and_what_may_be_there_stays_claimed),
		cmocka_unit_test(a_refusal_alarms_once_and_is_given_up_after_three_days),
		cmocka_unit_test(words_of_a_peer_are_recorded_as_whole_characters),
		cmocka_unit_test(a_day_on_which_nothing_happened_ends_no_alarm_of_another),
		cmocka_unit_test(what_became_of_an_append_follows_from_the_answer),
		cmocka_unit_test(without_an_answer_it_depends_on_the_claim),
		cmocka_unit_test(the_latest_attempt_counts_and_the_end_is_final),
		cmocka_unit_test(that_rows_were_appended_is_final_whichever_attempt_did_it),
		cmocka_unit_test(nothing_is_appended_whose_claim_does_not_hold_any_more),
		cmocka_unit_test(an_end_that_a_newer_release_says_is_read_back),
		cmocka_unit_test(the_fifth_failure_alarms_and_success_takes_it_back),
		cmocka_unit_test(a_sheet_that_cannot_be_read_is_tried_again_and_one_that_nobody_wants_is_not),
		cmocka_unit_test(a_tab_is_named_in_the_range),
		cmocka_unit_test(each_end_is_on_record_with_its_attempt_and_its_rows),
		cmocka_unit_test(an_append_is_json_posted_to_the_api),
		cmocka_unit_test(a_sheet_that_is_taken_back_meanwhile_is_left_alone),
		cmocka_unit_test(without_a_sheet_nothing_is_due_and_with_one_each_day_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * letters.c: mails a summary to each who is named, once
 *
 * Owns:      the tables letters (shop, month/recipient -> struct letter_row) and letters.alarm (shop -> raised).
 * Promises:  as a reminder, a letter's last byte leaves only behind a fresh claim; what may have gone is not sent again, and raises
 *            an alarm that names the file; what did not go is tried until it does.
 * Fails by:  an alarm when a mail server refuses it for good.
 * Read next: summarizer.c, services/carts/sender/sender.c (the same for reminders), bus/actor/effect.h
 */
#include "services/carts/summarizer/letters.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/docs.h"
#include "services/kit/mail/message.h"
#include "services/kit/state/row.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SHOP_US (10 * US_PER_S)
#define MAIL_DEADLINE_US (12 * US_PER_MINUTE) /* above the transport's own, so that it can say what happened */
/* A claim of a run that is gone: an outcome that it still says comes within seconds. Of this run: the effect may be at it. */
#define CLAIM_OF_OTHERS_US (15 * US_PER_S)
#define CLAIM_OF_OURS_US (15 * US_PER_MINUTE)
#define LOOK_AGAIN_US (2 * US_PER_S)
static const int64_t backoff_us[] = { US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE, US_PER_HOUR };
enum { BACKOFFS = sizeof(backoff_us) / sizeof(backoff_us[0]) };

static const char *const alarm_kind = "summary-not-mailed";

enum letter_phase { LETTER_NONE, LETTER_CLAIMED, LETTER_RELEASED, LETTER_SETTLED };

struct letter_row {
	uint32_t attempt;
	enum letter_phase phase;
	int64_t claimed_us;
	char owner[40];
};

enum { KEY_MAX = 40, RECIPIENT_MAX = 20 };

static void recipient_of(const char *address, char ret[RECIPIENT_MAX])
{
	snprintf(ret, RECIPIENT_MAX, "%016" PRIx64, text_hash(bytes_of(address)));
}

static void key_of(const char *month, const char *recipient, char ret[KEY_MAX])
{
	snprintf(ret, KEY_MAX, "%s/%s", month, recipient);
}

static struct letter_row row_of(const struct state *state, const char *shop, const char *month, const char *to)
{
	struct letter_row row;
	char key[KEY_MAX], recipient[RECIPIENT_MAX];
	recipient_of(to, recipient);
	key_of(month, recipient, key);
	row_get(state, "letters", shop, key, &row, sizeof(row));
	return row;
}

/* ---- what was said ---- */

static void remember(struct state *state, const char *shop, const char *key, const struct letter_row *said)
{
	struct letter_row row;
	row_get(state, "letters", shop, key, &row, sizeof(row));
	if (said->attempt < row.attempt || row.phase == LETTER_SETTLED)
		return;
	ROW_PUT(state, "letters", shop, key, said);
}

void letters_remember_claim(struct state *state, const struct message_meta *said, const SummaryClaim *claim)
{
	struct letter_row row;
	char key[KEY_MAX];
	memset(&row, 0, sizeof(row));
	row.attempt = claim->attempt;
	row.phase = LETTER_CLAIMED;
	row.claimed_us = claim->claimed_us;
	TEXT_COPY(row.owner, claim->owner);
	key_of(claim->month, claim->recipient, key);
	remember(state, said->shop, key, &row);
}

void letters_remember_mailed(struct state *state, const struct message_meta *said, const SummaryMailed *mailed)
{
	struct letter_row row;
	char key[KEY_MAX];
	memset(&row, 0, sizeof(row));
	row.attempt = mailed->attempt;
	row.phase = mailed->end == SUMMARY_RELEASED ? LETTER_RELEASED : LETTER_SETTLED;
	key_of(mailed->month, mailed->recipient, key);
	remember(state, said->shop, key, &row);
}

void letters_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, alarm_kind) == 0)
		state_put_number(state, "letters.alarm", said->shop, "", alarm->raised);
}

/* ---- who gets one ---- */

static void say_due(const char *shop, const char *month, const char *to, struct turn *turn)
{
	SummaryDue due = { 0 };
	char key[KEY_MAX], recipient[RECIPIENT_MAX];
	TEXT_COPY(due.month, month);
	TEXT_COPY(due.to, to);
	recipient_of(to, recipient);
	key_of(month, recipient, key);
	SAY(turn, summary_due, &due, .shop = shop, .key = key);
}

static bool was_named(const struct shop *shop, int before)
{
	if (strcmp(shop->report_to[before], shop->owner) == 0)
		return true;
	for (int i = 0; i < before; i++)
		if (strcmp(shop->report_to[i], shop->report_to[before]) == 0)
			return true;
	return false;
}

int letters_say_due(const struct shop *shop, const char *month, struct turn *turn)
{
	int count = 0;
	if (shop->owner[0]) {
		say_due(shop->name, month, shop->owner, turn);
		count++;
	}
	for (int i = 0; i < shop->report_to_count; i++)
		if (!was_named(shop, i)) {
			say_due(shop->name, month, shop->report_to[i], turn);
			count++;
		}
	return count;
}

/* ---- the mail ---- */

struct letter {
	struct mail mail; /* first: what the mail driver takes */
	uint32_t attempt;
};

static void letter_free(void *request)
{
	struct letter *letter = request;
	if (letter)
		buffer_free(&letter->mail.mime);
	free(letter);
}

static enum verdict settle(const struct state *state, const SummaryDue *due, uint32_t attempt, SummaryEnd end,
	const char *reason, struct turn *turn);

static enum verdict send(const struct state *state, const struct shop *shop, const SummaryDue *due,
	const SummaryDone *done, struct turn *turn)
{
	char why[160], id[200], recipient[RECIPIENT_MAX];
	uint32_t attempt = row_of(state, shop->name, due->month, due->to).attempt + 1;
	struct mail *mail;
	recipient_of(due->to, recipient);
	snprintf(id, sizeof(id), "summary.%s.%s.%s@%.100s", done->month, shop->name, recipient,
		address_domain(shop->from_address));
	if (mail_pages(shop->from, due->to, done->subject, done->text, done->html, id, turn_now_us(turn), &mail, why) <
		0)
		return settle(state, due, attempt, SUMMARY_REFUSED, why, turn);
	struct letter *letter = memory_new(sizeof(*letter));
	letter->attempt = attempt;
	letter->mail = *mail;
	letter->mail.claim = true;
	mail->mime = (struct buffer){ 0 };
	mail_free(mail);
	return turn_effect(turn, &letters_effect, (void **)&letter);
}

static enum verdict wait_for_outcome(
	const struct state *state, const SummaryDue *due, const struct letter_row *row, struct turn *turn)
{
	int64_t patience_us = strcmp(row->owner, turn_run(turn)) == 0 ? CLAIM_OF_OURS_US : CLAIM_OF_OTHERS_US;
	if (turn_now_us(turn) - row->claimed_us < patience_us)
		return turn_wait(turn, LOOK_AGAIN_US, "claimed, and its outcome is not known yet");
	return settle(state, due, row->attempt, SUMMARY_AMBIGUOUS,
		"the process that claimed it never said what became of it", turn);
}

enum verdict letters_hear_due(const struct state *state, const SummaryDue *due, struct turn *turn)
{
	const char *name = turn_message(turn)->shop;
	const struct shop *shop = docs_shop(state, name);
	struct letter_row row = row_of(state, name, due->month, due->to);
	enum verdict verdict;
	if (row.phase == LETTER_SETTLED)
		return TURN_DONE;
	if (row.phase == LETTER_CLAIMED)
		return wait_for_outcome(state, due, &row, turn);
	if (!shop)
		return turn_failed(turn, NO_SHOP_US, "the shop's configuration is not readable");
	SummaryDone *done = memory_new(sizeof(*done));
	if (state_get(state, "summary", name, due->month, SummaryDone_fields, done))
		verdict = send(state, shop, due, done, turn);
	else
		verdict = turn_dead_letter(turn, "no such summary was made");
	free(done);
	return verdict;
}

static void letter_claim(const struct state *state, const void *message, const void *request, struct turn *turn)
{
	const SummaryDue *due = message;
	const struct letter *letter = request;
	char key[KEY_MAX], idem[KEY_MAX + 12];
	SummaryClaim claim = { .attempt = letter->attempt, .claimed_us = turn_now_us(turn) };
	(void)state;
	TEXT_COPY(claim.month, due->month);
	TEXT_COPY(claim.owner, turn_run(turn));
	recipient_of(due->to, claim.recipient);
	key_of(claim.month, claim.recipient, key);
	snprintf(idem, sizeof(idem), "%s/%u", key, (unsigned)claim.attempt);
	SAY(turn, summary_claim, &claim, .shop = turn_message(turn)->shop, .key = key, .idem = idem,
		.version = claim.attempt);
}

/* Nothing but another letter of the same could forbid it. The message's shop is not asked for: the claim names it. */
static bool letter_may_proceed(const struct state *state, const void *message, const void *request, int64_t now_us)
{
	(void)state, (void)message, (void)request, (void)now_us;
	return true;
}

static void say_mailed(const SummaryDue *due, uint32_t attempt, SummaryEnd end, const char *reason, struct turn *turn)
{
	SummaryMailed mailed = { .attempt = attempt, .end = end, .at_us = turn_now_us(turn) };
	char key[KEY_MAX];
	TEXT_COPY(mailed.month, due->month);
	TEXT_COPY(mailed.reason, reason);
	recipient_of(due->to, mailed.recipient);
	key_of(mailed.month, mailed.recipient, key);
	SAY(turn, summary_mailed, &mailed, .shop = turn_message(turn)->shop, .key = key);
}

static void say_audit(const SummaryDue *due, const char *action, const char *reason, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	char recipient[RECIPIENT_MAX];
	recipient_of(due->to, recipient);
	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, "system");
	snprintf(audit.grounds, sizeof(audit.grounds), "%s to recipient %s%s%s", due->month, recipient,
		*reason ? ": " : "", reason);
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
}

static void say_alarm(const SummaryDue *due, bool raised, const char *what, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .raised = raised, .at_us = turn_now_us(turn) };
	TEXT_COPY(alarm.kind, alarm_kind);
	snprintf(alarm.text, sizeof(alarm.text), "the summary %s of shop %s: %s", due->month, shop, what);
	snprintf(alarm.remedy, sizeof(alarm.remedy),
		"it is not sent again by itself; the file is there, and: cartbus report %s", shop);
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm_kind, .version = (uint64_t)alarm.at_us);
}

static enum verdict settle(const struct state *state, const SummaryDue *due, uint32_t attempt, SummaryEnd end,
	const char *reason, struct turn *turn)
{
	static const char *const actions[] = { [SUMMARY_SENT] = "summary_mailed",
		[SUMMARY_RELEASED] = "summary_released",
		[SUMMARY_REFUSED] = "summary_refused",
		[SUMMARY_AMBIGUOUS] = "summary_ambiguous" };
	bool is_raised = state_number(state, "letters.alarm", turn_message(turn)->shop, "") != 0;
	say_mailed(due, attempt, end, reason, turn);
	if (end == SUMMARY_RELEASED)
		return turn_wait(turn, backoff_us[attempt < BACKOFFS ? attempt - 1 : BACKOFFS - 1], reason);
	say_audit(due, actions[end], reason, turn);
	if (end != SUMMARY_SENT)
		say_alarm(due, true, end == SUMMARY_REFUSED ? "a mail server refuses it" : "it may not have arrived",
			turn);
	else if (is_raised)
		say_alarm(due, false, "mailed", turn);
	return TURN_DONE;
}

static enum verdict letter_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	static const SummaryEnd ends[] = { [MAIL_SENT] = SUMMARY_SENT,
		[MAIL_NOT_SENT] = SUMMARY_RELEASED,
		[MAIL_LATER] = SUMMARY_RELEASED,
		[MAIL_REFUSED] = SUMMARY_REFUSED,
		[MAIL_UNKNOWN] = SUMMARY_AMBIGUOUS };
	const struct letter *letter = request;
	const struct mail_result *mail = result;
	if (claimed == CLAIM_DUPLICATE)
		return letters_hear_due(state, message, turn); /* its outcome is there, or will be */
	if (claimed == CLAIM_REFUSED)
		return turn_failed(turn, NO_SHOP_US, "the claim was refused");
	/* Past its deadline: with a claim the last byte may have gone, without one it cannot. */
	SummaryEnd end = mail ? ends[mail->end] : claimed == CLAIM_FRESH ? SUMMARY_AMBIGUOUS : SUMMARY_RELEASED;
	return settle(state, message, letter->attempt, end, mail ? mail->words : "no result within the deadline", turn);
}

const struct effect_kind letters_effect = {
	.name = "mail",
	.request_free = letter_free,
	.deadline_us = MAIL_DEADLINE_US,
	.claim = letter_claim,
	.may_proceed = letter_may_proceed,
	.decide = letter_decide,
};

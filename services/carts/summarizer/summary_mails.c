/*
 * summary_mails.c: mails a summary to each recipient, once
 *
 * Owns:      the tables letters (shop, month/recipient -> struct claim_row) and letters.alarm (shop ->
 *            raised).
 * Promises:  as with a reminder, the last byte of a summary's mail leaves only after a fresh claim. A mail
 *            that may have been sent is not sent again, and raises an alarm that names the summary. A mail
 *            that was not sent is tried until it is.
 * Fails by:  an alarm if a mail server refuses the mail for good.
 * Read next: services/kit/effect/claims.h (runs the state machine of a claim), summarizer.c
 */
#include "services/carts/summarizer/summary_mails.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/docs.h"
#include "services/kit/effect/claims.h"
#include "services/kit/mail/message.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SHOP_US (10 * US_PER_S)
#define MAIL_DEADLINE_US (12 * US_PER_MINUTE) /* above the transport's own, so that the transport can report */
static const int64_t backoff_us[] = { US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE, US_PER_HOUR };

static const char *const alarm_kind = "summary-not-mailed";

STATE_STRUCTS(summary_mails, "letters", struct claim_row);
STATE_NUMBERS(summary_mails_alarm, "letters.alarm");

enum { KEY_MAX = 40, RECIPIENT_MAX = 20 };

static void recipient_of(const char *address, char ret[RECIPIENT_MAX])
{
	snprintf(ret, RECIPIENT_MAX, "%016" PRIx64, text_hash(bytes_of(address)));
}

static void key_of(const char *month, const char *recipient, char ret[KEY_MAX])
{
	snprintf(ret, KEY_MAX, "%s/%s", month, recipient);
}

static void key_of_due(const void *message, char ret[CLAIM_KEY_MAX])
{
	const SummaryDue *due = message;
	char recipient[RECIPIENT_MAX];
	recipient_of(due->to, recipient);
	key_of(due->month, recipient, ret);
}

/* ---- the folds ---- */

void summary_mails_remember_claim(struct state *state, const struct message_meta *said, const SummaryClaim *claim)
{
	const struct claim_fact fact = { .event = CLAIM_FACT_CLAIMED,
		.attempt = claim->attempt,
		.at_us = claim->claimed_us,
		.owner = claim->owner };
	char key[KEY_MAX];
	key_of(claim->month, claim->recipient, key);
	claims_remember(state, CLAIMS_TABLE(summary_mails), said->shop, key, &fact);
}

/* An end that only a newer release knows may mean that the mail was sent. */
static enum claim_event event_of_end(SummaryEnd end)
{
	switch (end) {
	case SUMMARY_SENT:
		return CLAIM_FACT_DONE;
	case SUMMARY_RELEASED:
		return CLAIM_FACT_RELEASED;
	case SUMMARY_REFUSED:
		return CLAIM_FACT_REFUSED;
	case SUMMARY_AMBIGUOUS:
		break;
	}
	return CLAIM_FACT_AMBIGUOUS;
}

void summary_mails_remember_mailed(struct state *state, const struct message_meta *said, const SummaryMailed *mailed)
{
	const struct claim_fact fact = {
		.event = event_of_end(mailed->end), .attempt = mailed->attempt, .at_us = mailed->at_us
	};
	char key[KEY_MAX];
	key_of(mailed->month, mailed->recipient, key);
	claims_remember(state, CLAIMS_TABLE(summary_mails), said->shop, key, &fact);
}

void summary_mails_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, alarm_kind) == 0)
		STATE_PUT_NUMBER(state, summary_mails_alarm, said->shop, "", alarm->raised);
}

/* ---- the recipients ---- */

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

int summary_mails_say_due(const struct shop *shop, const char *month, struct turn *turn)
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

struct summary_mail {
	struct mail mail; /* must be first, because the driver uses the request as this struct */
	struct claim_try attempt;
};

static const struct claims summary_mail_claims;

static void summary_mail_free(void *request)
{
	struct summary_mail *summary_mail = request;
	if (summary_mail)
		buffer_free(&summary_mail->mail.mime);
	free(summary_mail);
}

static struct summary_mail *summary_mail_new(
	const char *shop, const SummaryDue *due, uint32_t attempt, struct mail **mail)
{
	struct summary_mail *summary_mail = memory_new(sizeof(*summary_mail));
	summary_mail->attempt.attempt = attempt;
	TEXT_COPY(summary_mail->attempt.shop, shop);
	key_of_due(due, summary_mail->attempt.key);
	summary_mail->mail = **mail;
	summary_mail->mail.claim = true;
	(*mail)->mime = (struct buffer){ 0 };
	mail_free(*mail);
	*mail = NULL;
	return summary_mail;
}

static enum verdict send(const struct state *state, const struct shop *shop, const SummaryDue *due,
	const SummaryDone *done, uint32_t attempt, struct turn *turn)
{
	char why[160], id[200], recipient[RECIPIENT_MAX];
	struct mail *mail;
	recipient_of(due->to, recipient);
	snprintf(id, sizeof(id), "summary.%s.%s.%s@%.100s", done->month, shop->name, recipient,
		address_domain(shop->from_address));
	if (mail_pages(shop->from, due->to, done->subject, done->text, done->html, id, turn_now_us(turn), &mail, why) <
		0)
		return claims_settle(&summary_mail_claims, state, due,
			&(struct claim_outcome){ .state = CLAIM_IS_REFUSED, .attempt = attempt, .words = why }, turn);
	struct summary_mail *summary_mail = summary_mail_new(shop->name, due, attempt, &mail);
	return turn_effect(turn, &summary_mails_effect, (void **)&summary_mail);
}

static enum verdict open_summary_mail(
	const struct state *state, const void *message, uint32_t attempt, const void *found, struct turn *turn)
{
	const SummaryDue *due = message;
	const char *name = turn_message(turn)->shop;
	const struct shop *shop = docs_shop(state, name);
	enum verdict verdict;
	(void)found;
	if (!shop)
		return turn_failed(turn, NO_SHOP_US, "the shop's configuration is not readable");
	SummaryDone *done = memory_new(sizeof(*done));
	if (STATE_GET(state, summaries, name, due->month, done))
		verdict = send(state, shop, due, done, attempt, turn);
	else
		verdict = turn_dead_letter(turn, "no such summary was made");
	free(done);
	return verdict;
}

enum verdict summary_mails_hear_due(const struct state *state, const SummaryDue *due, struct turn *turn)
{
	return claims_meet(&summary_mail_claims, state, due, turn);
}

static const struct claim_try *attempt_of_summary_mail(const void *request)
{
	return &((const struct summary_mail *)request)->attempt;
}

static void say_summary_mail_claim(const void *message, const void *request, struct turn *turn)
{
	const SummaryDue *due = message;
	const struct claim_try *claimed = attempt_of_summary_mail(request);
	char idem[CLAIM_KEY_MAX + 12];
	SummaryClaim claim = { .attempt = claimed->attempt, .claimed_us = turn_now_us(turn) };
	TEXT_COPY(claim.month, due->month);
	TEXT_COPY(claim.owner, turn_run(turn));
	recipient_of(due->to, claim.recipient);
	snprintf(idem, sizeof(idem), "%s/%u", claimed->key, (unsigned)claim.attempt);
	SAY(turn, summary_claim, &claim, .shop = claimed->shop, .key = claimed->key, .idem = idem,
		.version = claim.attempt);
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

static void say_summary_mail_outcome(
	const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn)
{
	static const SummaryEnd ends[] = { [CLAIM_IS_DONE] = SUMMARY_SENT,
		[CLAIM_IS_RELEASED] = SUMMARY_RELEASED,
		[CLAIM_IS_REFUSED] = SUMMARY_REFUSED,
		[CLAIM_IS_AMBIGUOUS] = SUMMARY_AMBIGUOUS };
	static const char *const actions[] = { [SUMMARY_SENT] = "summary_mailed",
		[SUMMARY_RELEASED] = "summary_released",
		[SUMMARY_REFUSED] = "summary_refused",
		[SUMMARY_AMBIGUOUS] = "summary_ambiguous" };
	const SummaryDue *due = message;
	const SummaryEnd end = ends[outcome->state];
	bool is_raised = STATE_NUMBER(state, summary_mails_alarm, turn_message(turn)->shop, "") != 0;
	say_mailed(due, outcome->attempt, end, outcome->words, turn);
	if (end == SUMMARY_RELEASED)
		return;
	say_audit(due, actions[end], outcome->words, turn);
	if (end != SUMMARY_SENT)
		say_alarm(due, true, end == SUMMARY_REFUSED ? "a mail server refuses it" : "it may not have arrived",
			turn);
	else if (is_raised)
		say_alarm(due, false, "mailed", turn);
}

/* An unreachable server is a failure like any other: a summary is not urgent, and its file is there. */
static struct claim_reply read_summary_mail(const void *message, const void *request, const void *result)
{
	const struct mail_result *mail = result;
	(void)message, (void)request;
	return (struct claim_reply){ .event = mail_claim_event(mail->end), .words = mail->words };
}

static const struct claims summary_mail_claims = { .table = CLAIMS_TABLE(summary_mails),
	CLAIMS_PATIENCE,
	.backoff_us = backoff_us,
	.backoffs = sizeof(backoff_us) / sizeof(backoff_us[0]),
	.key = key_of_due,
	.open = open_summary_mail,
	.attempt_of = attempt_of_summary_mail,
	.say_claim = say_summary_mail_claim,
	.say_outcome = say_summary_mail_outcome,
	.read = read_summary_mail };

CLAIMS_FUNCTIONS(summary_mail, summary_mail_claims)

const struct effect_kind summary_mails_effect = { .name = "mail",
	.request_free = summary_mail_free,
	.deadline_us = MAIL_DEADLINE_US,
	CLAIMS_DECIDED_BY(summary_mail) };

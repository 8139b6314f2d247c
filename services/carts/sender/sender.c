/*
 * sender.c: mails reminders, each at most once
 *
 * Hears:     reminder.due
 * Remembers: send.claim, send.unused, reminder.sent, reminder.released, reminder.refused, reminder.ambiguous,
 *            reminder.skipped, cart.state, cart.changed, cart.checkout, optout.request, mail.feedback,
 *            admin.action, shop.status, privacy.request, suppression, gateway.away, document, alarm,
 *            model.used
 * Says:      send.claim, send.unused, reminder.sent, reminder.released, reminder.refused, reminder.ambiguous,
 *            reminder.skipped, cart.checkout, timer.set, audit, mail.feedback, alarm, model.used
 * Promises:  a (cart, step) is mailed once. The last byte leaves only after a fresh claim, while no stop,
 *            outcome or pause is known. A mail that may have been sent is never tried again.
 * Fails by:  trying again later, with backoff, after a failure that may pass (a 4xx, a connection that
 *            ended). While there is no connection at all, all mails wait together. A claim whose owner fell
 *            silent becomes ambiguous.
 * Read next: services/kit/effect/claim.h (the state machine of a claim), may_send.c (decides if a mail may
 *            go), asking.c (asks the storefront), polishing.c (asks for an opening line), reminder_mail.c
 *            (writes the mail), outcome.c (publishes its outcome)
 */
#include "services/carts/sender/sender.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/sends.h"
#include "services/carts/policy/stops.h"
#include "services/carts/sender/asking.h"
#include "services/carts/sender/may_send.h"
#include "services/carts/sender/outage.h"
#include "services/carts/sender/outcome.h"
#include "services/carts/sender/reminder_mail.h"
#include "services/kit/documents/docs.h"
#include "services/kit/mail/pace.h"
#include <stdio.h>

#define MAIL_DEADLINE_US (12 * US_PER_MINUTE)  /* above the transport's own, so that the transport can report */
#define ASK_DEADLINE_US US_PER_MINUTE          /* above any deadline in a shop.conf */
#define POLISH_DEADLINE_US (2 * US_PER_MINUTE) /* above any deadline in cartbus.conf */
#define PAUSED_US US_PER_MINUTE
#define NO_SHOP_US (10 * US_PER_S)
#define SERVER_AWAY_US US_PER_S /* the transport holds a mail longer, and knows when the server is back */
#define OTHERS_CLAIM_US US_PER_S

/* The wait after the nth attempt that ended without a mail; the last one repeats. */
static const int64_t backoff_us[] = { US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE, US_PER_HOUR };

static enum verdict wait_for(const struct state *state, struct turn *turn, int64_t wall_us, const char *reason)
{
	return turn_wait(turn, sender_boot_us(state, wall_us), reason);
}

static enum verdict skip(struct turn *turn, const ReminderDue *due, const struct finding *finding)
{
	char reason[240];
	snprintf(reason, sizeof(reason), "%s %s", finding->word, finding->reason);
	say_outcome(turn, CLAIM_IS_SKIPPED,
		&(struct outcome){ .due = due, .attempt = finding->send.attempt, .reason = reason });
	return TURN_DONE;
}

static const struct effect_kind mail_effect, polish_effect, ask_effect;
static const struct claims reminder_claims;

static enum verdict mail(const struct state *state, const ReminderDue *due, struct finding *finding,
	const struct consulted *consulted, struct turn *turn)
{
	struct reminder_mail *reminder_mail;
	char why[160], reason[210];
	int r = reminder_mail_new(state, finding, due, consulted, turn_now_us(turn), &reminder_mail, why);
	if (r < 0) {
		finding->word = "unmailable";
		snprintf(reason, sizeof(reason), "%s; this reminder stays skipped, also when that is mended", why);
		finding->reason = reason;
		polishing_say(turn, &consulted->polished);
		return skip(turn, due, finding);
	}
	return turn_effect(turn, &mail_effect, (void **)&reminder_mail);
}

static enum verdict send(const struct state *state, const ReminderDue *due, struct finding *finding,
	const struct asked *asked, struct turn *turn)
{
	struct polishing *polishing = polishing_new(state, finding, due, asked, turn_now_us(turn));
	if (polishing)
		return turn_effect(turn, &polish_effect, (void **)&polishing);
	return mail(state, due, finding, &(struct consulted){ .asked = *asked }, turn);
}

/* Acts on every finding except DECIDED_SEND. */
static enum verdict settle(
	const struct state *state, const ReminderDue *due, const struct finding *finding, struct turn *turn)
{
	switch (finding->decision) {
	case DECIDED_SPENT:
	case DECIDED_SEND:
		return TURN_DONE;
	case DECIDED_CLAIMED:
		return claims_meet(&reminder_claims, state, due, turn);
	case DECIDED_SKIP:
		return skip(turn, due, finding);
	case DECIDED_LEAVE:
		say_left(turn, due, finding->reason);
		return TURN_DONE;
	case DECIDED_DEFER:
		say_deferred(turn, due, finding->until_us, finding->reason);
		return TURN_DONE;
	case DECIDED_PAUSED:
		return wait_for(state, turn, PAUSED_US, finding->reason);
	case DECIDED_WAIT:
		return wait_for(state, turn, finding->until_us - turn_now_us(turn), finding->reason);
	case DECIDED_NO_SHOP:
		return turn_failed(turn, sender_boot_us(state, NO_SHOP_US), finding->reason);
	}
	return TURN_DONE;
}

/* ---- the question to the storefront ---- */

static enum verdict ask(
	const struct state *state, const ReminderDue *due, struct finding *finding, int round, struct turn *turn)
{
	struct asking *asking;
	struct asked asked = { .nobody = true };
	if (!asking_new(finding->shop, &due->cart, round, &asking))
		return send(state, due, finding, &asked, turn);
	if (asking)
		return turn_effect(turn, &ask_effect, (void **)&asking);
	asked = (struct asked){
		.word = STOREFRONT_SILENT, .end = STOREFRONT_END_SILENT, .why = "no question can be made of this cart"
	};
	return send(state, due, finding, &asked, turn);
}

static enum verdict stop_bought(
	const struct state *state, const ReminderDue *due, const struct asked *asked, struct turn *turn)
{
	char reason[160];
	snprintf(reason, sizeof(reason), "bought: the storefront knows order %s", asked->order.ids.order_id);
	asking_say_order(turn, &asked->order);
	storefront_alarm_say(state, turn, STOREFRONT_END_ANSWERED, "");
	return skip(turn, due,
		&(struct finding){ .decision = DECIDED_SKIP,
			.word = "stopped",
			.reason = reason,
			.send = sends_of(state, turn_message(turn)->shop, &due->cart, (int)due->step) });
}

/* Time has passed since the question, so everything is checked again. */
static enum verdict ask_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const ReminderDue *due = message;
	const struct asking *asking = request;
	struct asked asked;
	(void)claimed;
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));
	asking_hear(finding.shop, &due->cart, asking->round, result, &asked);
	if (finding.decision != DECIDED_SEND)
		return settle(state, due, &finding, turn);
	if (!asked.nobody && asked.word == STOREFRONT_ORDER)
		return stop_bought(state, due, &asked, turn);
	if (!asked.nobody && asked.word == STOREFRONT_ASK_ON)
		return ask(state, due, &finding, asking->round + 1, turn);
	return send(state, due, &finding, &asked, turn);
}

static void ask_request_free(void *request)
{
	asking_free(request);
}

static const struct effect_kind ask_effect = {
	.name = "storefront",
	.request_free = ask_request_free,
	.deadline_us = ASK_DEADLINE_US,
	.decide = ask_decide,
};

/* ---- the opening line ---- */

static enum verdict polish_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const ReminderDue *due = message;
	const struct polishing *polishing = request;
	struct consulted consulted = { .asked = polishing->asked };
	(void)claimed;
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));
	polishing_hear(state, &finding, due, result, turn_now_us(turn), &consulted.polished);
	if (finding.decision == DECIDED_SEND)
		return mail(state, due, &finding, &consulted, turn);
	polishing_say(turn, &consulted.polished);
	return settle(state, due, &finding, turn);
}

static void polish_request_free(void *request)
{
	polishing_free(request);
}

static const struct effect_kind polish_effect = {
	.name = "model",
	.request_free = polish_request_free,
	.deadline_us = POLISH_DEADLINE_US,
	.decide = polish_decide,
};

static enum verdict hear_due(const struct state *state, const ReminderDue *due, struct turn *turn)
{
	if (due->step < 1 || due->step > 2 || !due->cart.ids.cart_id[0])
		return turn_dead_letter(turn, "a reminder needs a cart id and step 1 or 2");
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));
	if (finding.decision == DECIDED_SEND)
		return ask(state, due, &finding, 0, turn);
	return settle(state, due, &finding, turn);
}

/* ---- the mail on its way ---- */

static struct claim_row find_reminder(const struct state *state, const void *message, const struct turn *turn)
{
	const ReminderDue *due = message;
	const struct send send = sends_of(state, turn_message(turn)->shop, &due->cart, (int)due->step);
	struct claim_row row = {
		.state = send.phase, .attempt = send.attempt, .at_us = send.at_us, .asked_seq = send.due_seq
	};

	TEXT_COPY(row.owner, send.owner);
	return row;
}

static enum verdict open_reminder(
	const struct state *state, const void *message, uint32_t attempt, const void *found, struct turn *turn)
{
	(void)attempt, (void)found;
	return hear_due(state, message, turn);
}

/*
 * Another process has claimed this attempt. No effect begins here, because a turn that begins one cannot
 * publish what the model cost (end_mail).
 */
static enum verdict meet_reminder(const struct state *state, const void *message, struct turn *turn)
{
	const ReminderDue *due = message;
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));

	if (finding.decision == DECIDED_SEND)
		return wait_for(state, turn, OTHERS_CLAIM_US, "another process claimed this attempt");
	return settle(state, due, &finding, turn);
}

static const struct claim_try *attempt_of_reminder(const void *request)
{
	return &((const struct reminder_mail *)request)->attempt;
}

/* Only a claim for this same message can be unused: its row belongs to this cart itself. */
static bool is_reminder_unused(const struct state *state, const struct claim_row *row, const struct turn *turn)
{
	return row->asked_seq == turn_message(turn)->seq && strcmp(row->owner, turn_run(turn)) != 0 &&
		unused_is(state, row);
}

static void say_reminder_claim(const void *message, const void *request, struct turn *turn)
{
	const ReminderDue *due = message;
	const struct reminder_mail *reminder_mail = request;
	const struct claim_try *claimed = &reminder_mail->attempt;
	char idem[CLAIM_KEY_MAX + 12];
	SendClaim claim = { .step = due->step,
		.attempt = claimed->attempt,
		.due_seq = turn_message(turn)->seq,
		.claimed_us = turn_now_us(turn) };
	TEXT_COPY(claim.cart_id, due->cart.ids.cart_id);
	TEXT_COPY(claim.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(claim.owner, turn_run(turn));
	snprintf(idem, sizeof(idem), "%s/%u", claimed->key, (unsigned)claim.attempt);
	reminder_mail_claimed(reminder_mail);
	SAY(turn, send_claim, &claim, .shop = claimed->shop, .key = claimed->key, .idem = idem,
		.version = claim.attempt);
}

static bool stops_reminder(const struct state *state, const void *message, const void *request, int64_t now_us)
{
	const struct reminder_mail *reminder_mail = request;
	return !may_still_send(state, reminder_mail->attempt.shop, message, reminder_mail->attempt.attempt,
		reminder_mail->to_owner, now_us);
}

/*
 * No server was reached, so this mail did not fail. It waits with the others, and nothing is published about
 * it.
 */
static enum verdict wait_for_server(
	const struct state *state, const void *message, const void *driver_result, struct turn *turn)
{
	const struct mail_result *result = driver_result;
	(void)message;
	say_server_away(state, turn, result->words);
	return turn_wait(turn, SERVER_AWAY_US, "the mail server cannot be reached");
}

/* This is as good as a bounce: a sender that checks the list later, for another cart, need not try. */
static void say_no_mailbox(struct turn *turn, const ReminderDue *due, const char *words)
{
	MailFeedback feedback = { .kind = FEEDBACK_BOUNCE_PERMANENT, .heard_us = turn_now_us(turn), .step = due->step };
	char detail[300];
	TEXT_COPY(feedback.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(feedback.cart_id, due->cart.ids.cart_id);
	snprintf(detail, sizeof(detail), "the mail server said: %s", words);
	TEXT_COPY(feedback.detail, detail); /* cuts it at a character */
	SAY(turn, mail_feedback, &feedback, .shop = turn_message(turn)->shop, .key = feedback.address_hash);
}

/* Publishes what this attempt showed about the mail server, the mailbox and the storefront. */
static void say_findings(const struct state *state, const ReminderDue *due, const struct reminder_mail *reminder_mail,
	const struct mail_result *result, struct turn *turn)
{
	if (result && result->end != MAIL_NOT_SENT)
		say_server_back(state, turn);
	if (result && result->no_mailbox && !reminder_mail->to_owner)
		say_no_mailbox(turn, due, result->words);
	if (reminder_mail->was_asked)
		storefront_alarm_say(state, turn, reminder_mail->storefront_end, reminder_mail->note + 2);
}

/* The stable first word of a reason. */
static const char *reason_word(const struct claim_outcome *end)
{
	static const char *const words[] = { [MAIL_SENT] = "",
		[MAIL_NOT_SENT] = "not_sent",
		[MAIL_LATER] = "later",
		[MAIL_REFUSED] = "refused",
		[MAIL_UNKNOWN] = "no_answer" };
	const struct mail_result *result = end->result;

	if (end->event == CLAIM_MET_SILENT)
		return "owner_gone";
	if (result)
		return words[result->end];
	return end->state == CLAIM_IS_AMBIGUOUS ? "no_answer" : "not_sent";
}

static void say_reminder_outcome(
	const struct state *state, const void *message, const struct claim_outcome *end, struct turn *turn)
{
	const struct reminder_mail *reminder_mail = end->request;
	const struct mail_result *result = end->result;
	struct outcome outcome = { .due = message, .attempt = end->attempt };
	char reason[300];

	snprintf(reason, sizeof(reason), "%s %s", reason_word(end), end->words);
	outcome.reason = end->state == CLAIM_IS_DONE ? NULL : reason;
	if (reminder_mail) {
		outcome.to_owner = reminder_mail->to_owner;
		outcome.message_id = reminder_mail->mail.message_id;
		outcome.transport = result ? result->transport : NULL;
		outcome.note = reminder_mail->note;
		say_findings(state, message, reminder_mail, result, turn);
	}
	say_outcome(turn, end->state, &outcome);
}

static struct claim_reply read_mail(const void *message, const void *request, const void *driver_result)
{
	const struct mail_result *result = driver_result;
	(void)message, (void)request;
	return (struct claim_reply){ .event = result->no_server ? CLAIM_END_AWAY : mail_claim_event(result->end),
		.words = result->words };
}

/* Nothing was delivered and the step is free, so the present facts decide what to do. */
static enum verdict after_release(
	const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn)
{
	const ReminderDue *due = message;
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));
	if (finding.decision == DECIDED_SEND)
		return wait_for(state, turn, claims_backoff_us(&reminder_claims, outcome->attempt),
			"the mail could not be delivered yet");
	return settle(state, due, &finding, turn);
}

/*
 * The claim of another reminder (of a merged cart, or of a second decision) is settled by the sender that
 * gets that reminder's message.
 */
static const struct claims reminder_claims = { .table = CLAIMS_TABLE(sends),
	CLAIMS_PATIENCE,
	.backoff_us = backoff_us,
	.backoffs = sizeof(backoff_us) / sizeof(backoff_us[0]),
	.find = find_reminder,
	.open = open_reminder,
	.meet = meet_reminder,
	.attempt_of = attempt_of_reminder,
	.say_claim = say_reminder_claim,
	.say_outcome = say_reminder_outcome,
	.read = read_mail,
	.stops = stops_reminder,
	.is_unused = is_reminder_unused,
	.away = wait_for_server,
	.after_failure = after_release,
	.boot_us = sender_boot_us };

CLAIMS_FUNCTIONS(mail, reminder_claims)

/* What the model cost is published however the mail ended, also if no mail was tried. */
static enum verdict end_mail(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const struct reminder_mail *reminder_mail = request;
	enum verdict verdict = mail_decide(state, message, request, result, claimed, turn);

	polishing_say(turn, &reminder_mail->polished);
	return verdict;
}

static void mail_request_free(void *request)
{
	reminder_mail_free(request);
}

static const struct effect_kind mail_effect = {
	.name = "mail",
	.request_free = mail_request_free,
	.deadline_us = MAIL_DEADLINE_US,
	.claim = mail_say_claim,
	.may_proceed = mail_may_proceed,
	.decide = end_mail,
};

static void remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim)
{
	sends_remember_claim(state, said, claim);
	pace_remember_claim(state, said, claim);
	spend_remember_claim(state, said, claim);
}

static void remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released)
{
	sends_remember_outcome(state, said, released);
	pace_remember_released(state, said, released);
	spend_remember_released(state, said, released);
}

static void remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	storefront_alarm_remember(state, said, alarm);
	outage_remember(state, said, alarm);
}

const struct service sender = {
	.name = "sender",
	.layout = 4,
	.hears = HEARING(HEARS(reminder_due, hear_due)),
	.remembers = REMEMBERING(SENDS_REMEMBERED_BY(remember_claim, remember_released), STOPS_REMEMBERED,
		REMEMBERS(cart_state, merges_remember), REMEMBERS(gateway_away, downtime_remember),
		REMEMBERS(document, docs_remember), REMEMBERS(alarm, remember_alarm),
		REMEMBERS(model_used, spend_remember_model), REMEMBERS(send_unused, unused_remember)),
	.says = SAYING(SAYS(send_claim), SAYS(send_unused), SAYS(reminder_sent), SAYS(reminder_released),
		SAYS(reminder_refused), SAYS(reminder_ambiguous), SAYS(reminder_skipped), SAYS(cart_checkout),
		SAYS(timer_set), SAYS(audit), SAYS(mail_feedback), SAYS(alarm), SAYS(model_used)),
	.effects = RUNNING(&ask_effect, &polish_effect, &mail_effect),
	.unused = unused_say,
};

/*
 * sender.c: mails reminders, each at most once
 *
 * Hears:     reminder.due
 * Remembers: send.claim, send.unused, reminder.sent, reminder.released, reminder.refused, reminder.ambiguous, reminder.skipped, cart.state,
 *            cart.changed, cart.checkout, optout.request, mail.feedback, admin.action, shop.status, privacy.request, suppression,
 *            gateway.away, document, alarm, model.used
 * Says:      send.claim, send.unused, reminder.sent, reminder.released, reminder.refused, reminder.ambiguous, reminder.skipped, cart.checkout,
 *            timer.set, audit, mail.feedback, alarm, model.used
 * Promises:  a (cart, step) is mailed once: the last byte leaves only behind a fresh claim, with no stop, no outcome and no pause
 *            known; what may have gone is never tried again.
 * Fails by:  later, with backoff, on what may pass (a 4xx, a connection that ended); with all others, while there is no connection at
 *            all; a claim whose owner fell silent becomes ambiguous.
 * Read next: may_send.c (whether), asking.c (what the storefront knows), polishing.c (its first line), letter.c (what), outcome.c (how it is said)
 */
#include "services/carts/sender/sender.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/policy/merges.h"
#include "services/carts/policy/sends.h"
#include "services/carts/policy/stops.h"
#include "services/carts/sender/absence.h"
#include "services/carts/sender/asking.h"
#include "services/carts/sender/letter.h"
#include "services/carts/sender/may_send.h"
#include "services/carts/sender/outage.h"
#include "services/carts/sender/outcome.h"
#include "services/carts/sender/unused.h"
#include "services/kit/documents/docs.h"
#include "services/kit/mail/pace.h"
#include <stdio.h>

/*
 * How long a claim may stay without an outcome. Of another run: our queue got the message because that run's session died, and
 * an outcome that it still says, or that it left its claim unused, will be said within seconds of its coming back (counted from
 * our own start at the earliest: both may have been started anew). Of this run: the effect may still be at
 * it, up to its deadline. For another reminder (of a cart that was merged into this one, or decided twice): the sender that is given
 * that one settles it. An outcome that comes later still corrects the record.
 */
#define CLAIM_OF_OTHERS_US (15 * US_PER_S)
#define CLAIM_OF_OURS_US (15 * US_PER_MINUTE)
#define CLAIM_FOR_ANOTHER_US US_PER_DAY
#define LOOK_AGAIN_US (2 * US_PER_S)

#define MAIL_DEADLINE_US (12 * US_PER_MINUTE)  /* above the transport's own, so that it can say what happened */
#define ASK_DEADLINE_US US_PER_MINUTE          /* above any that a shop.conf gives */
#define POLISH_DEADLINE_US (2 * US_PER_MINUTE) /* above any that cartbus.conf gives */
#define PAUSED_US US_PER_MINUTE
#define NO_SHOP_US (10 * US_PER_S)
#define SERVER_AWAY_US US_PER_S /* the transport holds it longer, and knows when the server is back */

/* Of the nth attempt that ended without a mail; the last one holds for all further ones. */
static const int64_t backoff_us[] = { US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE, US_PER_HOUR };

static enum verdict wait_for(struct turn *turn, int64_t wall_us, const char *reason)
{
	return turn_wait(turn, letter_boot_us(wall_us), reason);
}

static enum verdict retry(struct turn *turn, uint32_t attempt)
{
	size_t last = sizeof(backoff_us) / sizeof(backoff_us[0]) - 1, n = attempt ? attempt - 1 : 0;
	return wait_for(turn, backoff_us[n < last ? n : last], "the mail could not be delivered yet");
}

static int64_t patience_us_for(const struct turn *turn, const struct send *send)
{
	if (send->due_seq != turn_message(turn)->seq)
		return CLAIM_FOR_ANOTHER_US;
	return strcmp(send->owner, turn_run(turn)) == 0 ? CLAIM_OF_OURS_US : CLAIM_OF_OTHERS_US;
}

/* Only what was claimed for this very message: its row is this cart's own. */
static bool is_unused(const struct state *state, const struct turn *turn, const struct send *send)
{
	return send->due_seq == turn_message(turn)->seq && strcmp(send->owner, turn_run(turn)) != 0 &&
		unused_is(state, send);
}

static enum verdict wait_for_outcome(
	const struct state *state, struct turn *turn, const ReminderDue *due, const struct send *send)
{
	int64_t patience_us = patience_us_for(turn, send);
	int64_t since_us = send->at_us > turn_began_us(turn) ? send->at_us : turn_began_us(turn);
	int64_t waited_us = letter_boot_us(turn_now_us(turn) - since_us);
	if (is_unused(state, turn, send)) {
		say_released(turn,
			&(struct outcome){ .due = due,
				.attempt = send->attempt,
				.reason = "not_sent the process that claimed it ended before the last byte" });
		return retry(turn, send->attempt);
	}
	if (waited_us < patience_us) {
		int64_t left_us = patience_us - waited_us;
		return turn_wait(turn, left_us < LOOK_AGAIN_US ? left_us : LOOK_AGAIN_US,
			"claimed, and its outcome is not known yet");
	}
	say_ambiguous(turn,
		&(struct outcome){ .due = due,
			.attempt = send->attempt,
			.reason = "owner_gone the process that claimed it never said what became of it" });
	return TURN_DONE;
}

static enum verdict skip(struct turn *turn, const ReminderDue *due, const struct finding *finding)
{
	char reason[240];
	snprintf(reason, sizeof(reason), "%s %s", finding->word, finding->reason);
	say_skipped(turn, &(struct outcome){ .due = due, .attempt = finding->send.attempt, .reason = reason });
	return TURN_DONE;
}

static const struct effect_kind mail_effect, polish_effect, ask_effect;

static enum verdict mail(const struct state *state, const ReminderDue *due, struct finding *finding,
	const struct consulted *consulted, struct turn *turn)
{
	struct letter *letter;
	char why[160], reason[210];
	int r = letter_new(state, finding, due, consulted, turn_now_us(turn), &letter, why);
	if (r < 0) {
		finding->word = "unmailable";
		snprintf(reason, sizeof(reason), "%s; this reminder stays skipped, also when that is mended", why);
		finding->reason = reason;
		polishing_say(turn, &consulted->polished);
		return skip(turn, due, finding);
	}
	return turn_effect(turn, &mail_effect, (void **)&letter);
}

static enum verdict send(const struct state *state, const ReminderDue *due, struct finding *finding,
	const struct asked *asked, struct turn *turn)
{
	struct polishing *polishing = polishing_new(state, finding, due, asked, turn_now_us(turn));
	if (polishing)
		return turn_effect(turn, &polish_effect, (void **)&polishing);
	return mail(state, due, finding, &(struct consulted){ .asked = *asked }, turn);
}

/* Everything that can be found but that the mail may go. */
static enum verdict settle(
	const struct state *state, const ReminderDue *due, const struct finding *finding, struct turn *turn)
{
	switch (finding->move) {
	case MOVE_SPENT:
	case MOVE_SEND:
		return TURN_DONE;
	case MOVE_CLAIMED:
		return wait_for_outcome(state, turn, due, &finding->send);
	case MOVE_SKIP:
		return skip(turn, due, finding);
	case MOVE_LEAVE:
		say_left(turn, due, finding->reason);
		return TURN_DONE;
	case MOVE_DEFER:
		say_deferred(turn, due, finding->until_us, finding->reason);
		return TURN_DONE;
	case MOVE_PAUSED:
		return wait_for(turn, PAUSED_US, finding->reason);
	case MOVE_WAIT:
		return wait_for(turn, finding->until_us - turn_now_us(turn), finding->reason);
	case MOVE_NO_SHOP:
		return turn_failed(turn, letter_boot_us(NO_SHOP_US), finding->reason);
	}
	return TURN_DONE;
}

/* ---- what the storefront knows ---- */

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
		&(struct finding){ .move = MOVE_SKIP,
			.word = "stopped",
			.reason = reason,
			.send = sends_of(state, turn_message(turn)->shop, &due->cart, (int)due->step) });
}

/* Time has gone by: everything is looked at once more. */
static enum verdict ask_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const ReminderDue *due = message;
	const struct asking *asking = request;
	struct asked asked;
	(void)claimed;
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));
	asking_hear(finding.shop, &due->cart, asking->round, result, &asked);
	if (finding.move != MOVE_SEND)
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

/* ---- its first line ---- */

static enum verdict polish_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const ReminderDue *due = message;
	const struct polishing *polishing = request;
	struct consulted consulted = { .asked = polishing->asked };
	(void)claimed;
	struct finding finding = may_send(state, turn_message(turn)->shop, due, turn_now_us(turn));
	polishing_hear(state, &finding, due, result, turn_now_us(turn), &consulted.polished);
	if (finding.move == MOVE_SEND)
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
	if (finding.move == MOVE_SEND)
		return ask(state, due, &finding, 0, turn);
	return settle(state, due, &finding, turn);
}

/* ---- the mail on its way ---- */

static void mail_claim(const struct state *state, const void *message, const void *request, struct turn *turn)
{
	const ReminderDue *due = message;
	const struct letter *letter = request;
	char key[100], idem[120];
	SendClaim claim = { .step = due->step,
		.attempt = letter->attempt,
		.due_seq = turn_message(turn)->seq,
		.claimed_us = turn_now_us(turn) };
	(void)state;
	TEXT_COPY(claim.cart_id, due->cart.ids.cart_id);
	TEXT_COPY(claim.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(claim.owner, turn_run(turn));
	snprintf(key, sizeof(key), "%s/%u", claim.cart_id, (unsigned)claim.step);
	snprintf(idem, sizeof(idem), "%s/%u", key, (unsigned)claim.attempt);
	letter_claimed(letter);
	SAY(turn, send_claim, &claim, .shop = letter->shop, .key = key, .idem = idem, .version = claim.attempt);
}

static bool mail_may_proceed(const struct state *state, const void *message, const void *request, int64_t now_us)
{
	const struct letter *letter = request;
	return may_still_send(state, letter->shop, message, letter->attempt, letter->to_owner, now_us);
}

/* Nothing was delivered: free the step, and see what is to be done about it now. */
static enum verdict release(const struct state *state, const struct outcome *outcome, struct turn *turn)
{
	say_released(turn, outcome);
	struct finding finding = may_send(state, turn_message(turn)->shop, outcome->due, turn_now_us(turn));
	if (finding.move == MOVE_SEND)
		return retry(turn, outcome->attempt);
	return settle(state, outcome->due, &finding, turn);
}

static enum verdict decide_end(
	const struct state *state, enum mail_end end, const struct outcome *outcome, struct turn *turn)
{
	switch (end) {
	case MAIL_SENT:
		say_sent(turn, outcome);
		return TURN_DONE;
	case MAIL_REFUSED:
		say_refused(turn, outcome);
		return TURN_DONE;
	case MAIL_UNKNOWN:
		say_ambiguous(turn, outcome);
		return TURN_DONE;
	case MAIL_NOT_SENT:
	case MAIL_LATER:
		return release(state, outcome, turn);
	}
	return TURN_DONE;
}

/* Nothing was tried that this mail could be blamed for: it waits with the others, and nothing is said about it. */
static enum verdict wait_for_server(const struct state *state, const struct mail_result *result, struct turn *turn)
{
	say_server_away(state, turn, result->words);
	return turn_wait(turn, SERVER_AWAY_US, "the mail server cannot be reached");
}

/* As good as a bounce: a sender that asks the list later, for another cart, need not try. */
static void say_no_mailbox(struct turn *turn, const ReminderDue *due, const char *words)
{
	MailFeedback feedback = { .kind = FEEDBACK_BOUNCE_PERMANENT, .heard_us = turn_now_us(turn), .step = due->step };
	TEXT_COPY(feedback.address_hash, due->cart.ids.email_hash);
	TEXT_COPY(feedback.cart_id, due->cart.ids.cart_id);
	snprintf(feedback.detail, sizeof(feedback.detail), "the mail server said: %.170s", words);
	SAY(turn, mail_feedback, &feedback, .shop = turn_message(turn)->shop, .key = feedback.address_hash);
}

static enum verdict mail_decide(const struct state *state, const void *message, const void *request,
	const void *driver_result, enum claim_answer claimed, struct turn *turn)
{
	static const char *const words[] = { [MAIL_SENT] = "",
		[MAIL_NOT_SENT] = "not_sent",
		[MAIL_LATER] = "later",
		[MAIL_REFUSED] = "refused",
		[MAIL_UNKNOWN] = "no_answer" };
	const struct mail_result *result = driver_result;
	const struct letter *letter = request;
	char reason[300];
	if (claimed == CLAIM_DUPLICATE)
		return hear_due(state, message, turn); /* somebody else's: its outcome is there, or will be */
	if (claimed == CLAIM_REFUSED)
		return turn_failed(turn, letter_boot_us(NO_SHOP_US), "the claim was refused");
	if (claimed == CLAIM_NONE && result && result->no_server)
		return wait_for_server(state, result, turn);
	if (result && result->end != MAIL_NOT_SENT)
		say_server_back(state, turn);
	if (result && result->no_mailbox && !letter->to_owner)
		say_no_mailbox(turn, message, result->words);
	/* Past its deadline: with a claim the last byte may have gone, without one it cannot. */
	enum mail_end end = result ? result->end : claimed == CLAIM_FRESH ? MAIL_UNKNOWN : MAIL_NOT_SENT;
	snprintf(reason, sizeof(reason), "%s %s", words[end], result ? result->words : "no result within the deadline");
	struct outcome outcome = { .due = message,
		.attempt = letter->attempt,
		.to_owner = letter->to_owner,
		.message_id = letter->mail.message_id,
		.transport = result ? result->transport : NULL,
		.note = letter->note,
		.reason = end == MAIL_SENT ? NULL : reason };
	polishing_say(turn, &letter->polished);
	if (letter->was_asked)
		storefront_alarm_say(state, turn, letter->storefront_end, letter->note + 2);
	return decide_end(state, end, &outcome, turn);
}

static void mail_request_free(void *request)
{
	letter_free(request);
}

static const struct effect_kind mail_effect = {
	.name = "mail",
	.request_free = mail_request_free,
	.deadline_us = MAIL_DEADLINE_US,
	.claim = mail_claim,
	.may_proceed = mail_may_proceed,
	.decide = mail_decide,
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
	.hears = { HEARS(reminder_due, hear_due) },
	.remembers = { SENDS_REMEMBERED_BY(remember_claim, remember_released), STOPS_REMEMBERED,
		REMEMBERS(cart_state, merges_remember), REMEMBERS(gateway_away, absence_remember),
		REMEMBERS(document, docs_remember), REMEMBERS(alarm, remember_alarm),
		REMEMBERS(model_used, spend_remember_model), REMEMBERS(send_unused, unused_remember) },
	.says = { SAYS(send_claim), SAYS(send_unused), SAYS(reminder_sent), SAYS(reminder_released),
		SAYS(reminder_refused), SAYS(reminder_ambiguous), SAYS(reminder_skipped), SAYS(cart_checkout),
		SAYS(timer_set), SAYS(audit), SAYS(mail_feedback), SAYS(alarm), SAYS(model_used) },
	.effects = { &ask_effect, &polish_effect, &mail_effect },
	.unused = unused_say,
};

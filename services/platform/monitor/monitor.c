/*
 * monitor.c: tells the admin once on every channel that an alarm was raised, and that it is over
 *
 * Hears:     alarm, alarm.due
 * Remembers: reminder.due, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped, audit, shop.status, timer.set,
 *            timer.cancel, timer.fired, gateway.seen, alarm, alarm.due, alarm.told, queue.failed, model.used, send.claim,
 *            reminder.released, cart.state, document
 * Says:      alarm, alarm.due, alarm.told, queue.failed
 * Promises:  an alarm of any service is told: one notice per channel each time that it is raised or ends, in
 *            that order, however often it is published again. A monitor that dies after it sent a notice and
 *            before it said so sends the notice again, with the same id: the admin is told twice rather than
 *            never. A channel that is slow or broken delays no other.
 * Fails by:  alarm.told with the words of the other side, after a week of trying, or at once if trying again
 *            would not help; until then, and after that, alarm-undelivered on the channels that work. The
 *            alarm stands in `cartbus status` even if the admin could not be reached.
 * Read next: check.c (the conditions), conditions.c (publishes the alarms), alarm_state.c (which alarms are
 *            new), channels.c (makes the notices)
 */
#include "services/platform/monitor/monitor.h"

#include "bus/actor/service.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/docs.h"
#include "services/kit/model/spend.h"
#include "services/platform/monitor/alarm_state.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/failing.h"
#include "services/platform/monitor/notify_status.h"
#include "services/platform/monitor/recovered.h"
#include "services/platform/monitor/rows.h"
#include "services/platform/monitor/totals.h"
#include "services/platform/monitor/webhook_health.h"
#include <stdio.h>
#include <stdlib.h>

#define MAIL_DEADLINE_US (12 * US_PER_MINUTE)
#define POST_DEADLINE_US (20 * US_PER_S)
#define POST_LEAST_US (3 * US_PER_S)       /* at any rate of the clock */
#define EFFECT_DEADLINE_US (US_PER_MINUTE) /* above the request's own, which can then tell what happened */
#define GIVE_UP_US (7 * US_PER_DAY)
static const int64_t backoff_us[] = { 10 * US_PER_S, US_PER_MINUTE, 5 * US_PER_MINUTE, 15 * US_PER_MINUTE,
	US_PER_HOUR };

static const struct effect_kind notifier_mail_effect, notifier_http_effect; /* below */

/* ---- which ways ---- */

static enum verdict notifier_hear_alarm(const struct state *state, const Alarm *alarm, struct turn *turn)
{
	const struct channels *channels = &monitor_context(state)->channels;
	const struct message_meta *said = turn_message(turn);
	AlarmDue due = { .alarm_seq = said->seq, .has_alarm = true, .alarm = *alarm };

	if (!alarm_state_is_news(state, said->shop, alarm))
		return TURN_DONE;
	TEXT_COPY(due.about, said->shop);
	for (int i = 0; i < channels_count(channels); i++) {
		channels_name(channels, i, due.way);
		SAY(turn, alarm_due, &due, .shop = said->shop, .key = due.way);
	}
	return TURN_DONE;
}

/* ---- one way ---- */

static enum verdict told(const AlarmDue *due, bool reached, const char *words, struct turn *turn)
{
	AlarmTold told = {
		.alarm_seq = due->alarm_seq, .raised = due->alarm.raised, .reached = reached, .at_us = turn_now_us(turn)
	};

	TEXT_COPY(told.way, due->way);
	TEXT_COPY(told.about, due->about);
	TEXT_COPY(told.kind, due->alarm.kind);
	TEXT_COPY(told.words, words);
	SAY(turn, alarm_told, &told, .shop = due->about, .key = due->way);
	return TURN_DONE;
}

/* A test is answered at once: the person who asks for one waits for it. */
static enum verdict again(const struct monitor *context, const AlarmDue *due, const char *words, struct turn *turn)
{
	int64_t tried_us = turn_now_us(turn) - due->alarm.at_us, delay_us = backoff_us[0];

	if (strcmp(due->alarm.kind, ALARM_TEST) == 0 || tried_us > GIVE_UP_US)
		return told(due, false, words, turn);
	for (size_t i = 0; i < sizeof(backoff_us) / sizeof(backoff_us[0]); i++)
		if (tried_us >= backoff_us[i])
			delay_us = backoff_us[i];
	return turn_wait(turn, (int64_t)((double)delay_us / context->clock_rate), words);
}

struct post {
	struct http_request request; /* first, because the driver takes it */
};

static void post_free(void *request)
{
	if (request)
		http_request_clear(request);
	free(request);
}

static enum verdict post(const struct monitor *context, int index, const AlarmDue *due, struct turn *turn)
{
	struct post *post = memory_new(sizeof(*post));

	if (channels_request(&context->channels, index, due, turn_now_us(turn), &post->request) < 0) {
		post_free(post);
		return told(due, false, "[monitor] webhook is not a URL that can be posted to", turn);
	}
	int64_t deadline_us = (int64_t)((double)POST_DEADLINE_US / context->clock_rate);
	post->request.deadline_us = deadline_us > POST_LEAST_US ? deadline_us : POST_LEAST_US;
	return turn_effect(turn, &notifier_http_effect, (void **)&post);
}

static enum verdict notifier_hear_due(const struct state *state, const AlarmDue *due, struct turn *turn)
{
	const struct monitor *context = monitor_context(state);
	AlarmDue now = *due;
	struct mail *mail;
	char why[160];
	bool is_mail;
	int index;

	alarm_state_bring_up_to_date(state, due->about, &now.alarm);
	if (!channels_find(&context->channels, due->way, &is_mail, &index))
		return told(due, false, "this way is not configured any more", turn);
	if (!is_mail)
		return post(context, index, &now, turn);
	if (channels_mail(&context->channels, index, &now, turn_now_us(turn), &mail, why) < 0)
		return told(due, false, why, turn);
	return turn_effect(turn, &notifier_mail_effect, (void **)&mail);
}

static enum verdict mail_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const struct mail_result *mail = result;

	(void)request, (void)claimed;
	switch (mail ? mail->end : MAIL_UNKNOWN) {
	case MAIL_SENT:
		return told(message, true, mail->words, turn);
	case MAIL_REFUSED:
		return told(message, false, mail->words, turn);
	case MAIL_NOT_SENT:
	case MAIL_LATER:
	case MAIL_UNKNOWN:
		break;
	}
	return again(monitor_context(state), message,
		mail && *mail->words ? mail->words : "the mail server did not answer in time", turn);
}

static enum verdict http_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const struct http_answer *answer = result;

	(void)request, (void)claimed;
	if (!answer)
		return again(monitor_context(state), message, "no answer in time", turn);
	if (answer->end == HTTP_BARRED)
		return told(message, false, answer->words, turn);
	if (answer->end == HTTP_ANSWERED && answer->status >= 200 && answer->status < 300)
		return told(message, true, answer->words, turn);
	/* A receiver that refuses the notice for good is not asked again. */
	if (answer->end == HTTP_ANSWERED && answer->status >= 300 && answer->status < 500 && answer->status != 408 &&
		answer->status != 425 && answer->status != 429)
		return told(message, false, answer->words, turn);
	return again(monitor_context(state), message, answer->words, turn);
}

static void mail_request_free(void *request)
{
	mail_free(request);
}

static const struct effect_kind notifier_mail_effect = {
	.name = "mail", .request_free = mail_request_free, .deadline_us = MAIL_DEADLINE_US, .decide = mail_decide
};
static const struct effect_kind notifier_http_effect = {
	.name = "http", .request_free = post_free, .deadline_us = EFFECT_DEADLINE_US, .decide = http_decide
};

/* ---- the table ---- */

static void remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due)
{
	alarm_state_remember_due(state, said, due);
	notify_status_remember_due(state, said, due);
}

static void remember_sent(struct state *state, const struct message_meta *said, const ReminderOutcome *sent)
{
	rows_remember_outcome(state, said, sent);
	recovered_remember_sent(state, said, sent);
}

static void remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	rows_remember_audit(state, said, audit);
	recovered_remember_audit(state, said, audit);
}

static void remember_model(struct state *state, const struct message_meta *said, const ModelUsed *used)
{
	spend_remember_model(state, said, used);
	totals_remember_model(state, used);
}

static void remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released)
{
	spend_remember_released(state, said, released);
	totals_remember_outcome(state, said->topic);
}

const struct service monitor = {
	.name = "monitor",
	.batch_projections = true,
	.layout = 8,
	.exclusive = true,
	.operator_ = true, /* it asks the broker for its status */
	.hears = HEARING(HEARS(alarm, notifier_hear_alarm), HEARS(alarm_due, notifier_hear_due)),
	.remembers = REMEMBERING(REMEMBERS(reminder_due, rows_remember_due), REMEMBERS(reminder_sent, remember_sent),
		REMEMBERS(reminder_refused, rows_remember_outcome),
		REMEMBERS(reminder_ambiguous, rows_remember_outcome),
		REMEMBERS(reminder_skipped, rows_remember_outcome), REMEMBERS(audit, remember_audit),
		REMEMBERS(shop_status, rows_remember_status), REMEMBERS(timer_set, rows_remember_set),
		REMEMBERS(timer_cancel, rows_remember_cancel), REMEMBERS(timer_fired, rows_remember_fired),
		REMEMBERS(gateway_seen, webhook_health_remember), REMEMBERS(alarm, alarm_state_remember),
		REMEMBERS(alarm_due, remember_due), REMEMBERS(alarm_told, notify_status_remember_told),
		REMEMBERS(queue_failed, failing_remember), REMEMBERS(model_used, remember_model),
		REMEMBERS(send_claim, spend_remember_claim), REMEMBERS(reminder_released, remember_released),
		REMEMBERS(cart_state, astray_remember), REMEMBERS(document, docs_remember)),
	.says = SAYING(SAYS(alarm), SAYS(alarm_due), SAYS(alarm_told), SAYS(queue_failed)),
	.effects = RUNNING(&notifier_mail_effect, &notifier_http_effect),
};

/*
 * monitor.c: what alarms are made from, and who hears of them
 *
 * Hears:     alarm, alarm.due
 * Remembers: reminder.due, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped, audit, shop.status, timer.set,
 *            timer.cancel, timer.fired, gateway.seen, alarm, alarm.due, alarm.told, queue.failed, model.used, send.claim,
 *            reminder.released, cart.state, document
 * Says:      alarm, alarm.due, alarm.told, queue.failed
 * Promises:  an alarm of any service is told: raised and over, once on every way.
 * Fails by:  alarm.told: the alarm stands in `cartbus status` whether or not anybody could be reached.
 * Read next: check.c and check_shop.c (what is wrong), main.c (when it is asked), tell.c (how the admin hears of it)
 */
#include "services/platform/monitor/monitor.h"
#include "services/kit/documents/docs.h"
#include "services/kit/model/spend.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/door.h"
#include "services/platform/monitor/episodes.h"
#include "services/platform/monitor/failing.h"
#include "services/platform/monitor/reached.h"
#include "services/platform/monitor/recovered.h"
#include "services/platform/monitor/rows.h"
#include "services/platform/monitor/tell.h"
#include "services/platform/monitor/totals.h"

static void remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due)
{
	episodes_remember_due(state, said, due);
	reached_remember_due(state, said, due);
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
	.unhurried = true,
	.layout = 8,
	.exclusive = true,
	.operator_ = true, /* asks the broker how it is */
	.hears = HEARING(HEARS(alarm, tell_hear_alarm), HEARS(alarm_due, tell_hear_due)),
	.remembers = REMEMBERING(REMEMBERS(reminder_due, rows_remember_due), REMEMBERS(reminder_sent, remember_sent),
		REMEMBERS(reminder_refused, rows_remember_outcome),
		REMEMBERS(reminder_ambiguous, rows_remember_outcome),
		REMEMBERS(reminder_skipped, rows_remember_outcome), REMEMBERS(audit, remember_audit),
		REMEMBERS(shop_status, rows_remember_status), REMEMBERS(timer_set, rows_remember_set),
		REMEMBERS(timer_cancel, rows_remember_cancel), REMEMBERS(timer_fired, rows_remember_fired),
		REMEMBERS(gateway_seen, door_remember), REMEMBERS(alarm, episodes_remember),
		REMEMBERS(alarm_due, remember_due), REMEMBERS(alarm_told, reached_remember_told),
		REMEMBERS(queue_failed, failing_remember), REMEMBERS(model_used, remember_model),
		REMEMBERS(send_claim, spend_remember_claim), REMEMBERS(reminder_released, remember_released),
		REMEMBERS(cart_state, astray_remember), REMEMBERS(document, docs_remember)),
	.says = SAYING(SAYS(alarm), SAYS(alarm_due), SAYS(alarm_told), SAYS(queue_failed)),
	.effects = RUNNING(&tell_mail_effect, &tell_http_effect),
};

/*
 * monitor.c: mails the admin when an alarm is raised, and remembers what alarms are made from
 *
 * Hears:     alarm
 * Remembers: reminder.due, reminder.sent, reminder.refused, reminder.ambiguous, reminder.skipped, audit, shop.status, timer.set,
 *            timer.cancel, timer.fired, alarm
 * Says:      alarm
 * Promises:  one mail per raise; whoever says an alarm, also another service, has it mailed.
 * Fails by:  trying again when no mail server takes the mail: the alarm stands in `cartbus status` meanwhile.
 * Read next: check.c (what is wrong), main.c (when it is asked), rows.c
 */
#include "services/monitor/monitor.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail.h"
#include "services/monitor/rows.h"
#include <inttypes.h>
#include <stdio.h>

#define RETRY_US (5 * US_PER_MINUTE)
#define MAIL_DEADLINE_US (12 * US_PER_MINUTE)

static char admin_address[ADDRESS_MAX + 1], from_address[320];

void monitor_set_up(const char *admin, const char *from)
{
	TEXT_COPY(admin_address, admin ? admin : "");
	TEXT_COPY(from_address, from && *from ? from : admin_address);
}

static int alarm_mail(const struct said *said, const Alarm *alarm, int64_t now_us, struct mail **ret, char why[160])
{
	char subject[160], body[1000], id[200];
	const char *domain = strrchr(from_address, '@');
	snprintf(subject, sizeof(subject), "[cartbus] %s: %.100s", alarm->kind, alarm->text);
	snprintf(body, sizeof(body), "%s%s%s\n\n%s\n\nWhat to do: %s\n\n`cartbus status` shows everything at once.\n",
		alarm->kind, strcmp(said->shop, SHOP_OF_ALL) == 0 ? "" : ", shop ",
		strcmp(said->shop, SHOP_OF_ALL) == 0 ? "" : said->shop, alarm->text, alarm->remedy);
	snprintf(id, sizeof(id), "alarm.%s.%s.%" PRId64 "@%.100s", said->shop, alarm->kind, alarm->at_us,
		domain ? domain + 1 : "localhost");
	id[strcspn(id, "> ")] = 0;
	return mail_note(from_address, admin_address, subject, body, id, now_us, ret, why);
}

static const struct effect_kind mail_effect;

static enum verdict hear_alarm(const struct state *state, const Alarm *alarm, struct turn *turn)
{
	struct mail *mail;
	char why[160];
	(void)state;
	if (!alarm->raised || !admin_address[0])
		return DONE;
	if (alarm_mail(turn_message(turn), alarm, turn_now_us(turn), &mail, why) < 0)
		return turn_never(turn, why);
	return turn_effect(turn, &mail_effect, (void **)&mail);
}

/* A mail about an alarm that may have gone is not worth a second one; one that did not go is tried until it does. */
static enum verdict mail_decide(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	const struct mail_result *mail = result;
	(void)state, (void)message, (void)request, (void)claimed;
	if (mail && (mail->end == MAIL_NOT_SENT || mail->end == MAIL_LATER))
		return turn_wait(turn, RETRY_US, mail->words);
	return DONE;
}

static void mail_request_free(void *request)
{
	mail_free(request);
}

static const struct effect_kind mail_effect = {
	.name = "mail", .request_free = mail_request_free, .deadline_us = MAIL_DEADLINE_US, .decide = mail_decide
};

const struct service monitor = {
	.name = "monitor",
	.exclusive = true,
	.operator_ = true, /* asks the broker how it is */
	.hears = { HEARS(alarm, hear_alarm) },
	.remembers = {
		REMEMBERS(reminder_due, rows_remember_due),
		REMEMBERS(reminder_sent, rows_remember_outcome),
		REMEMBERS(reminder_refused, rows_remember_outcome),
		REMEMBERS(reminder_ambiguous, rows_remember_outcome),
		REMEMBERS(reminder_skipped, rows_remember_outcome),
		REMEMBERS(audit, rows_remember_audit),
		REMEMBERS(shop_status, rows_remember_status),
		REMEMBERS(timer_set, rows_remember_set),
		REMEMBERS(timer_cancel, rows_remember_cancel),
		REMEMBERS(timer_fired, rows_remember_fired),
		REMEMBERS(alarm, rows_remember_alarm),
	},
	.says = { SAYS(alarm) },
	.effects = { &mail_effect },
};

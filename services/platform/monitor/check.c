/*
 * check.c: the conditions that the admin must be told about, in words with a remedy: of the installation, and
 * of one shop, whose storefront signs with a wrong or old secret or has stopped sending, or whose carts
 * cannot be mailed
 *
 * Promises:  no address, token or secret is in a text, because alarms are mailed and shown. The noise of
 *            strangers at a storefront that sends well raises nothing, because they can make any amount of
 *            it.
 * Read next: conditions.c (calls it and publishes the alarms), webhook_health.c, astray.c
 */
#include "services/platform/monitor/check.h"

#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/backups.h"
#include "services/platform/monitor/failing.h"
#include "services/platform/monitor/notify_status.h"
#include "services/platform/monitor/rows.h"
#include "services/platform/monitor/webhook_health.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SENT_WITHIN_US (30 * US_PER_MINUTE)
#define FIRED_WITHIN_US (5 * US_PER_MINUTE)
#define TAKEN_WITHIN_US (30 * US_PER_MINUTE)
#define AMBIGUOUS_TOLD_US US_PER_DAY
#define FAILURES_WITHIN_US (10 * US_PER_MINUTE)
#define WAITER_WITHIN_US US_PER_HOUR
#define TOLD_WITHIN_US (10 * US_PER_MINUTE)
#define BACKED_UP_WITHIN_US (2 * US_PER_DAY)
#define TURNED_AWAY_WITHIN_US (10 * US_PER_MINUTE)
#define REFUSED_WITHIN_US US_PER_HOUR /* a mail server tries again some minutes later */
#define NANO 1e9
#define LEAST_BOOT_US (30 * US_PER_S) /* at any rate of the clock */
enum { FAILURES_MOST = 5, SENDER_FAILURES_PERCENT = 1, HEADROOMS_LEFT = 3 };
enum { ASIDE_A_DAY_MANY = 20 };
enum { BUDGET_NEAR_PERCENT = 80, BUDGET_SPENT_PERCENT = 100 };

static int64_t within(const struct circumstances *now, int64_t span_us)
{
	int64_t least_us = (int64_t)((double)LEAST_BOOT_US * now->clock_rate);
	return span_us > least_us ? span_us : least_us;
}

__attribute__((format(printf, 2, 3))) static bool say(Alarm *ret, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(ret->text, sizeof(ret->text), format, arguments);
	va_end(arguments);
	return true;
}

static bool dead_letters(const struct circumstances *now, Alarm *ret)
{
	return now->view->dead &&
		say(ret, "%llu dead letters: %s", (unsigned long long)now->view->dead, now->view->dead_queues);
}

static bool failures(const struct circumstances *now, Alarm *ret)
{
	unsigned failed = failing_count(now->state, NULL, now->now_us, within(now, FAILURES_WITHIN_US));
	return failed >= FAILURES_MOST && say(ret, "%u decisions failed in the last minutes", failed);
}

static bool queue_paused(const struct circumstances *now, Alarm *ret)
{
	return now->view->paused[0] &&
		say(ret, "every message that it is given fails, so it is given one message at a time: %s",
			now->view->paused);
}

static bool queue_stuck(const struct circumstances *now, Alarm *ret)
{
	int64_t oldest_us = now->view->oldest_ready_us, age_us = now->now_us - oldest_us;
	return oldest_us && age_us > within(now, TAKEN_WITHIN_US) &&
		say(ret, "the queue %s has waited for %lld minutes", now->view->oldest_queue,
			(long long)(age_us / US_PER_MINUTE));
}

static bool service_missing(const struct circumstances *now, Alarm *ret)
{
	return now->view->missing[0] && say(ret, "not running: %s", now->view->missing);
}

static bool gateway_away(const struct circumstances *now, Alarm *ret)
{
	return now->view->away[0] &&
		say(ret, "gateways that do not answer: %s; no mail can be claimed until they do", now->view->away);
}

static bool claims_parked(const struct circumstances *now, Alarm *ret)
{
	return now->view->parked_claims &&
		say(ret, "%llu mails wait for a gateway's spool to be empty",
			(unsigned long long)now->view->parked_claims);
}

static bool nothing_sent(const struct circumstances *now, Alarm *ret)
{
	struct rows_count waiting = rows_waiting(now->state, now->now_us - within(now, SENT_WITHIN_US));
	return waiting.count &&
		say(ret, "%u reminders were due and nothing was sent, the oldest %lld minutes ago: %s",
			(unsigned)waiting.count, (long long)((now->now_us - waiting.oldest_us) / US_PER_MINUTE),
			waiting.example);
}

static bool timers_late(const struct circumstances *now, Alarm *ret)
{
	int64_t first_us = rows_first_timer_us(now->state);
	return first_us < now->now_us - within(now, FIRED_WITHIN_US) &&
		say(ret, "a timer was due %lld minutes ago and has not fired",
			(long long)((now->now_us - first_us) / US_PER_MINUTE));
}

static bool ambiguous(const struct circumstances *now, Alarm *ret)
{
	struct rows_count count = rows_ambiguous(now->state, now->now_us - AMBIGUOUS_TOLD_US);
	return count.count &&
		say(ret, "of %u mails it is not known whether they were delivered: %s", (unsigned)count.count,
			count.example);
}

/* One failed mail of twenty is five per cent, but tells more about an address than about a mail server. */
static bool sender_failures(const struct circumstances *now, Alarm *ret)
{
	struct rows_mailing mails = rows_mailing(now->state, now->now_us);
	return mails.failed >= now->sender_failures_least &&
		(uint64_t)mails.failed * 100 > (uint64_t)mails.tried * SENDER_FAILURES_PERCENT &&
		say(ret, "of %u mails in the last 24 hours %u were refused, or nobody knows what became of them",
			(unsigned)mails.tried, (unsigned)mails.failed);
}

static bool waiter_errors(const struct circumstances *now, Alarm *ret)
{
	unsigned failed = failing_count(now->state, "waiter", now->now_us, within(now, WAITER_WITHIN_US));
	return failed && say(ret, "the waiter failed %u times in the last hour", failed);
}

static bool undelivered(const struct circumstances *now, Alarm *ret)
{
	struct notify_status_none none =
		notify_status_none(now->state, now->channels, now->now_us - within(now, TOLD_WITHIN_US));
	return none.count &&
		say(ret, "alarms do not arrive on %d ways of [monitor]: %.300s", none.count, none.channels);
}

/*
 * The admin must be told while there is room to do something: below one headroom the broker takes nothing
 * new.
 */
static bool disk(const struct circumstances *now, Alarm *ret)
{
	uint64_t free = now->view->free_bytes, headroom = now->view->headroom_bytes;
	return headroom && free < HEADROOMS_LEFT * headroom &&
		say(ret, "%llu MiB are free on the disk of the log%s; below %llu nothing new is taken",
			(unsigned long long)(free >> 20), now->view->is_short ? ", and nothing new is taken" : "",
			(unsigned long long)(headroom >> 20));
}

static bool clock_jump(const struct circumstances *now, Alarm *ret)
{
	return now->view->clock_jumped && say(ret, "%s", now->view->clock);
}

static bool over_budget(const struct circumstances *now, int from_percent, int below_percent, Alarm *ret)
{
	struct spend spend = spend_of_month(now->state, now->now_us);
	int used = budget_used_percent(&now->budget, &spend);
	return used >= from_percent && used < below_percent &&
		say(ret, "%d %% of the month's budget are used: %.2f of %.2f US dollars, %llu of %llu tokens", used,
			(double)spend_nano_usd(&now->budget, &spend) / NANO, (double)now->budget.nano_usd / NANO,
			(unsigned long long)spend.tokens, (unsigned long long)now->budget.tokens);
}

static bool budget(const struct circumstances *now, Alarm *ret)
{
	return over_budget(now, BUDGET_NEAR_PERCENT, BUDGET_SPENT_PERCENT, ret);
}

static bool budget_spent(const struct circumstances *now, Alarm *ret)
{
	return over_budget(now, BUDGET_SPENT_PERCENT, INT_MAX, ret);
}

static bool backup(const struct circumstances *now, Alarm *ret)
{
	struct backups backups = backups_of(now->state);
	char what[500] = "";
	return !now->no_backups && backups_wrong(&backups, now->now_us, within(now, BACKED_UP_WITHIN_US), what) &&
		say(ret, "%s", what);
}

/* The same words for each place where strangers are bounded (bus/base/sources.h). */
static bool say_held(Alarm *ret, const char *places, const char *last)
{
	return say(ret, "strangers hold as much as they may of %.200s, and what is more is turned away%s%.200s", places,
		*last ? ": " : "", last);
}

static bool was_turned_away(const struct circumstances *now, int64_t last_us)
{
	return last_us && now->now_us - last_us < within(now, TURNED_AWAY_WITHIN_US);
}

static bool connections(const struct circumstances *now, Alarm *ret)
{
	return was_turned_away(now, now->view->turned_away_us) &&
		say_held(ret, "the broker's sockets", now->view->turned_away);
}

/*
 * An absence note now and then is no alarm. A kind of bounce that nothing here can read, or a flood, is one.
 */
static bool mails_aside(const struct circumstances *now, Alarm *ret)
{
	if (now->view->aside_full)
		return say(ret, "mails that could not be read fill their room, and what comes now is not taken");
	return now->view->aside_day >= ASIDE_A_DAY_MANY &&
		say(ret, "%llu mails of the last 24 hours could not be read, or prove nothing, and lie aside",
			(unsigned long long)now->view->aside_day);
}

static const char *place_of(const char *service)
{
	static const struct {
		const char *service, *place;
	} places[] = { { "gateway", "the gateway" }, { "mailin", "LMTP" }, { "monitor", "the metrics page" } };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i].service, service) == 0)
			return places[i].place;
	return service;
}

static bool strangers(const struct circumstances *now, Alarm *ret)
{
	char places[200] = "";

	for (int i = 0; i < VIEW_STRANGERS_MAX; i++) {
		const struct view_strangers *at = &now->view->strangers[i];
		size_t len = strlen(places);

		if (was_turned_away(now, at->last_us))
			snprintf(places + len, sizeof(places) - len, "%s%s", len ? ", " : "", place_of(at->service));
	}
	return places[0] && say_held(ret, places, "");
}

static bool side_log(const struct circumstances *now, Alarm *ret)
{
	uint64_t damaged = now->view->damaged_side_logs;
	return damaged &&
		say(ret, "the side log was found damaged; beside it %s %llu damaged file%s",
			damaged == 1 ? "lies" : "lie", (unsigned long long)damaged, damaged == 1 ? "" : "s");
}

static bool webhook_secrets(const struct circumstances *now, Alarm *ret)
{
	uint64_t shops = now->view->secrets_unusable;
	return shops &&
		say(ret,
			"a gateway cannot use the webhook secret%s of %llu shop%s: what comes for %s is answered with "
			"503",
			shops == 1 ? "" : "s", (unsigned long long)shops, shops == 1 ? "" : "s",
			shops == 1 ? "it" : "them");
}

static bool blobs_refused(const struct circumstances *now, Alarm *ret)
{
	int64_t last_us = now->view->blobs_refused_us;
	const char *service = now->view->blobs_refused;

	return last_us && now->now_us - last_us < within(now, REFUSED_WITHIN_US) &&
		say(ret,
			"%s could not keep a %s that came within the last hour: its room is used up, or the disk fails",
			service, strcmp(service, "mailin") == 0 ? "mail" : "file");
}

static const struct {
	const char *kind, *remedy;
	int64_t patience_us;
	bool (*is_so)(const struct circumstances *now, Alarm *ret);
} conditions[CONDITION_COUNT] = {
	[CONDITION_DEAD_LETTERS] = { "dead-letters",
		"see why: cartbus dlq list; then, when the cause is gone: cartbus dlq redrive", 0, dead_letters },
	[CONDITION_FAILURES] = { "failures", "see which and why: cartbus queues, and the journal of that service", 0,
		failures },
	[CONDITION_QUEUE_PAUSED] = { "queue-paused",
		"see what fails: cartbus status, and the journal of that service. Nothing is lost: it goes on by "
		"itself when one message works",
		0, queue_paused },
	[CONDITION_QUEUE_STUCK] = { "queue-stuck", "is the service running and ready? cartbus status", US_PER_MINUTE,
		queue_stuck },
	[CONDITION_SERVICE_MISSING] = { "service-missing",
		"start it: systemctl start cartbus-NAME, or look at why it ended: journalctl -u cartbus-NAME",
		US_PER_MINUTE, service_missing },
	[CONDITION_GATEWAY_AWAY] = { "gateway-away",
		"start it again; one that is lost for good is struck off: cartbus gateway strike NAME", US_PER_MINUTE,
		gateway_away },
	[CONDITION_CLAIMS_PARKED] = { "claims-parked", "a gateway holds a spool: cartbus status names it",
		5 * US_PER_MINUTE, claims_parked },
	[CONDITION_NOTHING_SENT] = { "nothing-sent",
		"ask why of that cart: cartbus why SHOP CART; is the mail server reachable?", 0, nothing_sent },
	[CONDITION_TIMERS_LATE] = { "timers-late", "is cartbus-timer running, and the clock right? cartbus status",
		30 * US_PER_S, timers_late },
	[CONDITION_AMBIGUOUS] = { "ambiguous",
		"the mail server's log tells; they are not sent again. The alarm ends a day after the last one", 0,
		ambiguous },
	[CONDITION_SENDER_FAILURES] = { "sender-failures",
		"see what the mail server says: cartbus tap --topic reminder.refused, or cartbus why of a cart", 0,
		sender_failures },
	[CONDITION_WAITER_ERRORS] = { "waiter-errors", "see which and why: cartbus queues, and the waiter's journal", 0,
		waiter_errors },
	[CONDITION_DISK] = { "disk", "make room in the file system of [paths] state, or a larger one", 0, disk },
	[CONDITION_CLOCK] = { "clock", "set the clock right, or restart all of cartbus if it is right now", 0,
		clock_jump },
	[CONDITION_UNDELIVERED] = { "alarm-undelivered",
		"what was not told: cartbus alarm list; mend that way, then: cartbus alarm test", 0, undelivered },
	[CONDITION_BUDGET] = { "budget",
		"see what for: cartbus tap --topic model.used; or raise [budget] in cartbus.conf", 0, budget },
	[CONDITION_BUDGET_SPENT] = { "budget-spent",
		"mails go on with the owner's own lines, no model is asked any more this month; or raise [budget] in "
		"cartbus.conf and restart the senders",
		0, budget_spent },
	[CONDITION_BACKUP] = { "backup",
		"see why: journalctl -u cartbus-backup -u cartbus-verify; then systemctl start cartbus-backup (or "
		"cartbus-verify). Who backs up in another way sets [backup] keep = 0",
		0, backup },
	[CONDITION_CONNECTIONS] = { "connections",
		"the bus goes on. Keep that peer out: IPAddressAllow= of cartbus-broker, a firewall, or stop that "
		"user's process; cartbus status --json has the counts",
		0, connections },
	[CONDITION_MAILS_ASIDE] = { "mails-aside",
		"see what they are: cartbus mailin list; after an upgrade, or when the cause is gone: cartbus mailin "
		"retry --all",
		0, mails_aside },
	[CONDITION_STRANGERS] = { "strangers",
		"small requests go on: nothing has to be done at once. See in the log of the server in front where "
		"they come from, of LMTP in the journal of cartbus-mailin, and limit them there; "
		"cartbus_gateway_turned_away_total and its like of mailin and monitor count",
		0, strangers },
	[CONDITION_SIDE_LOG] = { "side-log",
		"check the disk, and back up: cartbus backup. Then remove the files sidelog/stops.damaged* of [paths] "
		"state, which ends the alarm",
		0, side_log },
	[CONDITION_WEBHOOK_SECRETS] = { "webhook-secrets",
		"mend what cartbus config check names. If it names none: a unit is handed its secrets at its start: "
		"systemctl restart cartbus-gateway",
		0, webhook_secrets },
	[CONDITION_BLOBS_REFUSED] = { "blobs-refused",
		"see which shop, and why: cartbus doctor. Raise [blobs] shop-mib in cartbus.conf, or make room on the disk. "
		"The sender was told to try again",
		0, blobs_refused },
};

bool check(enum condition condition, const struct circumstances *now, Alarm *ret)
{
	*ret = (Alarm){ 0 };
	TEXT_COPY(ret->kind, conditions[condition].kind);
	TEXT_COPY(ret->remedy, conditions[condition].remedy);
	return conditions[condition].is_so(now, ret);
}

int64_t condition_patience_us(enum condition condition)
{
	return conditions[condition].patience_us;
}

/* ---- one shop ---- */

enum { BAD_SIGNATURES_LEAST = 3 };

static bool signatures(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct webhook_hour hour = webhook_hour(state, shop, now_us);

	return hour.bad_signatures >= BAD_SIGNATURES_LEAST && hour.bad_signatures > hour.authentic &&
		say(ret, "in the last hour %u requests were not signed with this shop's secret, and %u were",
			(unsigned)hour.bad_signatures, (unsigned)hour.authentic);
}

static bool previous_secret(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct webhook_hour hour = webhook_hour(state, shop, now_us);

	return hour.previous_secret &&
		say(ret, "in the last hour %u requests were signed with the secret that is being rotated out",
			(unsigned)hour.previous_secret);
}

static bool silent(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct webhook_silence silence = webhook_silence(state, shop, now_us);

	return silence.count &&
		say(ret, "nothing has come for %lld hours; the longest pause of four weeks was %lld: %s",
			(long long)(silence.longest_us / US_PER_HOUR), (long long)(silence.usual_us / US_PER_HOUR),
			silence.topics);
}

static const char *carts(uint32_t count)
{
	return count == 1 ? "open cart is" : "open carts are";
}

static bool links(const struct state *state, const char *shop, int64_t now_us, Alarm *ret)
{
	struct astray astray = astray_of(state, shop, now_us);
	char foreign[360] = "", unfit[200] = "";

	if (astray.foreign)
		snprintf(foreign, sizeof(foreign),
			"%u %s not mailed, because the link back to the basket leads to a host that is not the shop's "
			"(%.100s, cart %.70s)",
			(unsigned)astray.foreign, carts(astray.foreign), *astray.host ? astray.host : "none",
			astray.foreign_id);
	if (astray.unfit)
		snprintf(unfit, sizeof(unfit),
			"%u %s not mailed, because the storefront gave no https link back to the basket (cart %.70s)",
			(unsigned)astray.unfit, carts(astray.unfit), astray.unfit_id);
	return (astray.foreign || astray.unfit) && say(ret, "%s%s%s", foreign, *foreign && *unfit ? "; " : "", unfit);
}

static const struct {
	const char *kind, *remedy;
	bool (*is_so)(const struct state *state, const char *shop, int64_t now_us, Alarm *ret);
} shop_conditions[SHOP_CONDITIONS] = {
	[SHOP_SIGNATURES] = { "signatures",
		"compare the secret at the storefront with: cartbus shop secret SHOP. Platforms end a subscription "
		"after some refusals: look there as well",
		signatures },
	[SHOP_PREVIOUS_SECRET] = { "previous-secret",
		"enter the new secret at the storefront (cartbus shop secret SHOP), before the old one is removed",
		previous_secret },
	[SHOP_SILENT] = { "topic-silent",
		"is the subscription still there? cartbus shop check SHOP; platforms delete one after some failures",
		silent },
	[SHOP_LINKS] = { "return-links",
		"if that host is the shop's own, name it in [shop] of its shop.conf: host = HOST, once for each; carts "
		"whose mails are not due yet are mailed then. If it is not, or there is no link: look at what the "
		"storefront sends as recovery URL, cartbus why SHOP CART",
		links },
};

bool check_shop(const struct state *state, const char *shop, enum shop_condition condition, int64_t now_us, Alarm *ret)
{
	*ret = (Alarm){ 0 };
	TEXT_COPY(ret->kind, shop_conditions[condition].kind);
	TEXT_COPY(ret->remedy, shop_conditions[condition].remedy);
	return shop_conditions[condition].is_so(state, shop, now_us, ret);
}

/*
 * rate.c: counts the complaints and bounces of a shop's mails, and raises alarms or pauses the shop
 *
 * Owns:      the tables rate.sent (shop, day -> mails), rate.mailed (shop, address hash -> when),
 *            rate.complained and rate.bounced (shop, day/address hash/mail -> when), rate.told (shop,
 *            kind/address hash/mail, or /#step of a mail without its cart -> when it counted), rate.status
 *            (shop -> struct status_row), rate.alarm (shop, kind -> the standing alarm, as it was published
 *            last).
 * Promises:  the turn of a complaint itself decides, from facts alone: no further complaint is needed to
 *            notice the third; the pause and the alarm are raised once. A standing alarm is published again
 *            when its figures have changed, and once a day, so that its words are up to date. The admin is
 *            not told of these again (platform/monitor/alarm_state.c).
 * Read next: unsub.c, carts/policy/stops_rows.c (what a pause of this priority means to a mail)
 */
#include "services/platform/unsub/rate.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <inttypes.h>
#include <stdio.h>

STATE_NUMBERS(rate_sent, "rate.sent");
STATE_NUMBERS(rate_mailed, "rate.mailed");
STATE_NUMBERS(rate_told, "rate.told");
STATE_NUMBERS(rate_complained, "rate.complained");
STATE_NUMBERS(rate_bounced, "rate.bounced");
STATE_TABLE(rate_alarm, "rate.alarm", Alarm);

#define DAY_KEY "%06" PRId64

enum { DAY_KEY_LEN = 6, ROW_KEY_MAX = DAY_KEY_LEN + 180 };

static const char who[] = "cartbus";

struct status_row {
	uint64_t version;
	uint32_t mode, priority;
	int64_t resumed_us; /* when a pause of ours ended */
};
STATE_STRUCTS(rate_status, "rate.status", struct status_row);

struct figures {
	uint64_t sent, complaints, bounces;
};

static int64_t day_of(int64_t at_us)
{
	return at_us / US_PER_DAY;
}

/* ---- remembering ---- */

void rate_remember_sent(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	char day[ROW_KEY_MAX];

	if (outcome->to_owner)
		return;
	snprintf(day, sizeof(day), DAY_KEY, day_of(outcome->at_us));
	STATE_PUT_NUMBER(state, rate_sent, said->shop, day, STATE_NUMBER(state, rate_sent, said->shop, day) + 1);
	STATE_PUT_NUMBER(state, rate_mailed, said->shop, outcome->address_hash, (uint64_t)outcome->at_us);
}

static bool is_counted(FeedbackKind kind)
{
	switch (kind) {
	case FEEDBACK_COMPLAINT:
	case FEEDBACK_BOUNCE_PERMANENT:
		return true;
	case FEEDBACK_BOUNCE_TRANSIENT:
		break;
	}
	return false;
}

/* Writes the address hash and the mail of the feedback. */
static void print_subject(const MailFeedback *feedback, char ret[ROW_KEY_MAX])
{
	if (*feedback->cart_id)
		snprintf(ret, ROW_KEY_MAX, "%s/%s/%u", feedback->address_hash, feedback->cart_id, feedback->step);
	else
		snprintf(ret, ROW_KEY_MAX, "%s/%s", feedback->address_hash, feedback->message_id);
}

static void row_key(const MailFeedback *feedback, char ret[ROW_KEY_MAX])
{
	char subject[ROW_KEY_MAX];

	print_subject(feedback, subject);
	snprintf(ret, ROW_KEY_MAX, DAY_KEY "/%.170s", day_of(feedback->heard_us), subject);
}

static void told_key(const MailFeedback *feedback, char ret[ROW_KEY_MAX])
{
	char subject[ROW_KEY_MAX];

	print_subject(feedback, subject);
	snprintf(ret, ROW_KEY_MAX, "%d/%.170s", (int)feedback->kind, subject);
}

/* A shopper can report a mail on many days. A report of an unknown mail may be about another one. */
static bool is_told(const struct state *state, const char *shop, const MailFeedback *feedback)
{
	char key[ROW_KEY_MAX];
	bool is_known = *feedback->cart_id || *feedback->message_id;

	told_key(feedback, key);
	int64_t told_us = (int64_t)STATE_NUMBER(state, rate_told, shop, key);
	return told_us && (is_known || feedback->heard_us < told_us + RATE_DAYS * US_PER_DAY);
}

/*
 * mailin reads address and step from a signed tag, and knows the cart only once it knows the mail's outcome:
 * a report may come without its cart, and again with it. The first mail of that step that is reported with a
 * cart counts as the one that was reported without.
 */
static void cartless_key(const MailFeedback *feedback, char ret[ROW_KEY_MAX])
{
	snprintf(ret, ROW_KEY_MAX, "%d/%s/#%u", (int)feedback->kind, feedback->address_hash, feedback->step);
}

static bool was_told_cartless(const struct state *state, const char *shop, const MailFeedback *feedback)
{
	char key[ROW_KEY_MAX];

	cartless_key(feedback, key);
	return *feedback->cart_id && STATE_HAS(state, rate_told, shop, key);
}

static bool has_counted(const struct state *state, const char *shop, const MailFeedback *feedback)
{
	return is_told(state, shop, feedback) || was_told_cartless(state, shop, feedback);
}

static void count(struct state *state, const char *shop, const MailFeedback *feedback)
{
	char key[ROW_KEY_MAX];

	row_key(feedback, key);
	if (feedback->kind == FEEDBACK_COMPLAINT)
		STATE_PUT_NUMBER(state, rate_complained, shop, key, (uint64_t)feedback->heard_us);
	else
		STATE_PUT_NUMBER(state, rate_bounced, shop, key, (uint64_t)feedback->heard_us);
	cartless_key(feedback, key);
	if (!*feedback->cart_id && !*feedback->message_id && feedback->step > 0)
		STATE_PUT_NUMBER(state, rate_told, shop, key, (uint64_t)feedback->heard_us);
}

void rate_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback)
{
	char key[ROW_KEY_MAX];

	if (!is_counted(feedback->kind) || !rate_is_ours(state, said->shop, feedback->address_hash) ||
		is_told(state, said->shop, feedback))
		return;
	cartless_key(feedback, key);
	if (was_told_cartless(state, said->shop, feedback))
		STATE_DELETE(state, rate_told, said->shop, key);
	else
		count(state, said->shop, feedback);
	told_key(feedback, key);
	STATE_PUT_NUMBER(state, rate_told, said->shop, key, (uint64_t)feedback->heard_us);
}

/* Folds a status like the sender (carts/policy/stops_rows.c): a lower priority does not end a pause. */
void rate_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	struct status_row row;
	bool known = STATE_GET(state, rate_status, said->shop, "", &row);

	if (known && (status->version < row.version || (row.mode == MODE_PAUSED && status->priority < row.priority)))
		return;
	if (known && row.mode == MODE_PAUSED && row.priority == RATE_PAUSE_PRIORITY && status->mode != MODE_PAUSED)
		row.resumed_us = status->at_us;
	if (status->resumed_us > row.resumed_us)
		row.resumed_us = status->resumed_us; /* a process that folds anew sees only the last status */
	row.version = status->version;
	row.mode = (uint32_t)status->mode;
	row.priority = status->priority;
	STATE_PUT(state, rate_status, said->shop, "", &row);
}

void rate_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (alarm->raised)
		STATE_PUT(state, rate_alarm, said->shop, alarm->kind, alarm);
	else
		STATE_DELETE(state, rate_alarm, said->shop, alarm->kind);
}

bool rate_is_ours(const struct state *state, const char *shop, const char *address_hash)
{
	return STATE_NUMBER(state, rate_mailed, shop, address_hash) != 0;
}

/* ---- counting ---- */

struct counting {
	const char *shop;
	int64_t last_day, since_us;
	uint64_t count;
};

static bool count_row(const char *shop, const char *key, uint64_t heard, void *context)
{
	struct counting *counting = context;
	int64_t day = 0;

	if (strcmp(shop, counting->shop) != 0 || sscanf(key, "%6" SCNd64, &day) != 1 || day > counting->last_day)
		return false;
	if ((int64_t)heard > counting->since_us)
		counting->count++;
	return true;
}

static uint64_t count_sent(const struct state *state, const char *shop, int64_t last_day)
{
	uint64_t sent = 0;
	char key[ROW_KEY_MAX];

	for (int64_t day = last_day - RATE_DAYS + 1; day <= last_day; day++) {
		snprintf(key, sizeof(key), DAY_KEY, day);
		sent += STATE_NUMBER(state, rate_sent, shop, key);
	}
	return sent;
}

static struct figures figures_of(const struct state *state, const char *shop, int64_t last_day, int64_t since_us)
{
	struct counting complaints = { .shop = shop, .last_day = last_day, .since_us = since_us }, bounces = complaints;
	char first[ROW_KEY_MAX];

	snprintf(first, sizeof(first), DAY_KEY, last_day - RATE_DAYS + 1);
	STATE_EACH_FROM(state, rate_complained, shop, first, count_row, &complaints);
	STATE_EACH_FROM(state, rate_bounced, shop, first, count_row, &bounces);
	return (struct figures){
		.sent = count_sent(state, shop, last_day), .complaints = complaints.count, .bounces = bounces.count
	};
}

static void add_unfolded(
	const struct state *state, const char *shop, const MailFeedback *feedback, struct figures *figures)
{
	if (!is_counted(feedback->kind) || !rate_is_ours(state, shop, feedback->address_hash) ||
		has_counted(state, shop, feedback))
		return;
	figures->complaints += feedback->kind == FEEDBACK_COMPLAINT;
	figures->bounces += feedback->kind == FEEDBACK_BOUNCE_PERMANENT;
}

/* ---- judging ---- */

static bool over(uint64_t count, uint64_t least, uint64_t per_mille, uint64_t sent)
{
	return count >= least && count * 1000 >= per_mille * sent;
}

static bool complaints_alarm(const struct figures *figures)
{
	return over(figures->complaints, 2, 1, figures->sent);
}

static bool complaints_pause(const struct figures *figures)
{
	return over(figures->complaints, 3, 3, figures->sent);
}

static bool bounces_alarm(const struct figures *figures)
{
	return over(figures->bounces, 5, 50, figures->sent);
}

static const struct condition {
	const char *kind, *remedy;
	bool (*is_so)(const struct figures *figures);
} conditions[] = {
	{ "complaint-rate",
		"who complained is mailed no more; look at what the mails say and to whom they go before mailbox "
		"providers refuse all of them: cartbus preview, [mail] consent in shop.conf",
		complaints_alarm },
	{ "bounce-rate",
		"look at where the storefront takes its addresses from; mail servers refuse whom so many bounce",
		bounces_alarm },
	{ "sending-paused", "nothing more is mailed. When the cause is found: cartbus resume SHOP --reason WHY",
		complaints_pause },
};
enum { CONDITIONS = sizeof(conditions) / sizeof(conditions[0]), PAUSE = CONDITIONS - 1 };

static void tell_figures(const char *shop, const struct figures *figures, char *to, size_t room)
{
	snprintf(to, room,
		"shop %s: %" PRIu64 " complaints and %" PRIu64 " bounces of %" PRIu64
		" mails in %d days (%.2f %%, %.2f %%)",
		shop, figures->complaints, figures->bounces, figures->sent, (int)RATE_DAYS,
		figures->sent ? 100.0 * (double)figures->complaints / (double)figures->sent : 100.0,
		figures->sent ? 100.0 * (double)figures->bounces / (double)figures->sent : 100.0);
}

static bool find_standing(const struct state *state, const char *shop, const struct condition *condition, Alarm *ret)
{
	return STATE_GET(state, rate_alarm, shop, condition->kind, ret);
}

/*
 * `standing` is the alarm that is published again; it keeps the name of the person who has seen it. NULL:
 * none stands, or it ends.
 */
static void say_alarm(struct turn *turn, const char *shop, const struct condition *condition, bool raised,
	const struct figures *figures, const Alarm *standing)
{
	Alarm alarm = { .raised = raised, .at_us = turn_now_us(turn) };

	if (standing)
		TEXT_COPY(alarm.acknowledged_by, standing->acknowledged_by);
	TEXT_COPY(alarm.kind, condition->kind);
	TEXT_COPY(alarm.remedy, condition->remedy);
	tell_figures(shop, figures, alarm.text, sizeof(alarm.text));
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm.kind, .version = (uint64_t)alarm.at_us);
}

static void say_pause(const struct state *state, struct turn *turn, const char *shop, const struct figures *figures)
{
	struct status_row row;
	ShopStatus status = { .mode = MODE_PAUSED, .priority = RATE_PAUSE_PRIORITY, .at_us = turn_now_us(turn) };
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	char text[160];

	STATE_GET(state, rate_status, shop, "", &row);
	tell_figures(shop, figures, text, sizeof(text));
	status.version = row.version + 1;
	status.resumes_to = (ShopMode)row.mode;
	status.resumed_us = row.resumed_us;
	snprintf(status.reason, sizeof(status.reason), "too many complaints: %s", text);
	TEXT_COPY(status.who, who);
	SAY(turn, shop_status, &status, .shop = shop, .key = shop, .version = status.version);
	TEXT_COPY(audit.action, "sending_paused");
	TEXT_COPY(audit.who, "system");
	TEXT_COPY(audit.grounds, status.reason);
	TEXT_COPY(audit.before, "live");
	TEXT_COPY(audit.after, "paused");
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
}

static void raise_or_renew(const struct state *state, struct turn *turn, const char *shop,
	const struct condition *condition, const struct figures *figures)
{
	char text[sizeof((Alarm){ 0 }.text)];
	Alarm standing;

	if (!find_standing(state, shop, condition, &standing)) {
		say_alarm(turn, shop, condition, true, figures, NULL);
		return;
	}
	tell_figures(shop, figures, text, sizeof(text));
	if (strcmp(text, standing.text) != 0)
		say_alarm(turn, shop, condition, true, figures, &standing);
}

void rate_judge(const struct state *state, const MailFeedback *feedback, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	int64_t today = day_of(turn_now_us(turn));
	struct status_row row;
	bool known = STATE_GET(state, rate_status, shop, "", &row);

	if (!is_counted(feedback->kind) || !rate_is_ours(state, shop, feedback->address_hash))
		return;
	struct figures figures = figures_of(state, shop, today, row.resumed_us);
	add_unfolded(state, shop, feedback, &figures);
	bool pauses = known && row.mode == MODE_LIVE && complaints_pause(&figures);
	if (pauses)
		say_pause(state, turn, shop, &figures);
	for (int i = 0; i < CONDITIONS; i++)
		if (i == PAUSE ? pauses : conditions[i].is_so(&figures))
			raise_or_renew(state, turn, shop, &conditions[i], &figures);
}

/* ---- alarms and the clock ---- */

/* The next message about a standing alarm: its end, or its figures of a new day. */
struct coming {
	const struct state *state;
	int64_t due_us;
	char shop[64];
	int condition;
	bool is_end;
};

/*
 * The first day on which the condition no longer holds, as far as is known now; mails that are sent meanwhile
 * only make it earlier.
 */
static int64_t rate_ends_us(
	const struct state *state, const char *shop, const struct condition *condition, int64_t from_us)
{
	struct status_row row;

	STATE_GET(state, rate_status, shop, "", &row);
	for (int64_t day = day_of(from_us); day < day_of(from_us) + RATE_DAYS; day++) {
		struct figures figures = figures_of(state, shop, day, row.resumed_us);
		if (!condition->is_so(&figures))
			return day * US_PER_DAY > from_us ? day * US_PER_DAY : from_us;
	}
	return (day_of(from_us) + RATE_DAYS) * US_PER_DAY;
}

static int64_t pause_ends_us(const struct state *state, const char *shop, int64_t raised_us)
{
	struct status_row row;

	STATE_GET(state, rate_status, shop, "", &row);
	return row.mode == MODE_PAUSED ? INT64_MAX : raised_us;
}

static int64_t next_day_us(int64_t at_us)
{
	return (day_of(at_us) + 1) * US_PER_DAY;
}

static void take_earlier(struct coming *coming, const char *shop, int condition, bool is_end, int64_t due_us)
{
	if (due_us >= coming->due_us)
		return;
	coming->due_us = due_us;
	coming->condition = condition;
	coming->is_end = is_end;
	TEXT_COPY(coming->shop, shop);
}

static bool find_coming(const char *shop, const char *kind, void *context)
{
	struct coming *coming = context;
	Alarm standing;

	for (int i = 0; i < CONDITIONS; i++) {
		if (strcmp(kind, conditions[i].kind) != 0 ||
			!find_standing(coming->state, shop, &conditions[i], &standing))
			continue;
		if (i == PAUSE) {
			take_earlier(coming, shop, i, true, pause_ends_us(coming->state, shop, standing.at_us));
			continue;
		}
		take_earlier(coming, shop, i, true, rate_ends_us(coming->state, shop, &conditions[i], standing.at_us));
		take_earlier(coming, shop, i, false, next_day_us(standing.at_us));
	}
	return true;
}

static struct coming first_coming(const struct state *state)
{
	struct coming coming = { .state = state, .due_us = INT64_MAX };

	STATE_EACH_KEY(state, rate_alarm, NULL, NULL, find_coming, &coming);
	return coming;
}

/*
 * The loop asks in each round, and an answer counts a month of rows while an alarm stands. So each state of
 * the log is counted once.
 */
int64_t rate_next_due_us(const struct state *state)
{
	static struct {
		const struct state *state;
		uint64_t cursor;
		int64_t due_us;
	} known;

	if (known.state != state || known.cursor != state_cursor(state)) {
		known.state = state;
		known.cursor = state_cursor(state);
		known.due_us = first_coming(state).due_us;
	}
	return known.due_us;
}

void rate_due(const struct state *state, struct turn *turn)
{
	struct coming coming = first_coming(state);
	const struct condition *condition = &conditions[coming.condition];
	struct status_row row;
	Alarm standing;

	if (coming.due_us > turn_now_us(turn))
		return;
	STATE_GET(state, rate_status, coming.shop, "", &row);
	int64_t day = day_of(coming.is_end ? coming.due_us : turn_now_us(turn));
	struct figures figures = figures_of(state, coming.shop, day, coming.is_end ? 0 : row.resumed_us);
	bool stands = !coming.is_end && find_standing(state, coming.shop, condition, &standing);
	say_alarm(turn, coming.shop, condition, !coming.is_end, &figures, stands ? &standing : NULL);
}

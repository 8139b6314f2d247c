/*
 * sends.c: folds the state of each mail: claimed, sent, released, skipped
 *
 * Owns:      the tables sends (cart/step -> struct claim_row), sends.to (address hash -> struct mailed_row)
 *            and sends.times (address hash -> struct times_row) of a service's state.
 * Promises:  those of the machine of claims (kit/effect/claim.h): sent is final; an ambiguous send is
 *            corrected only by sent; the outcome of an older attempt never hides a newer one.
 * Read next: sends.h, services/carts/sender
 */
#include "services/carts/policy/sends.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include "services/kit/effect/claims.h"
#include <stdio.h>
#include <string.h>

struct mailed_row {
	int64_t sent_us;  /* the latest mail that was sent or may have been sent */
	int64_t claim_us; /* of a claim without an outcome; 0: none */
	char claimed[96]; /* cart/step */
};
STATE_STRUCTS(sends_to, "sends.to", struct mailed_row);

const char *send_key(char to[SEND_KEY_MAX], const char *cart_id, uint32_t step)
{
	snprintf(to, SEND_KEY_MAX, "%s/%u", cart_id, (unsigned)step);
	return to;
}

/* --- the last mails to one shopper --- */

struct times_row {
	struct sent_time {
		uint64_t what; /* hash of cart/step; 0: none */
		int64_t at_us;
		int64_t attempt;
	} mails[RULES_CAP_MAILS_MAX]; /* newest first */
};
STATE_STRUCTS(sends_times, "sends.times", struct times_row);

static void times_remove(struct times_row *row, uint64_t what)
{
	for (int i = 0; i < RULES_CAP_MAILS_MAX; i++) {
		if (row->mails[i].what != what)
			continue;
		memmove(&row->mails[i], &row->mails[i + 1],
			(size_t)(RULES_CAP_MAILS_MAX - 1 - i) * sizeof(row->mails[0]));
		row->mails[RULES_CAP_MAILS_MAX - 1] = (struct sent_time){ 0 };
		return;
	}
}

static void times_insert(struct times_row *row, const struct sent_time *mail)
{
	int at = 0;

	while (at < RULES_CAP_MAILS_MAX && row->mails[at].what && row->mails[at].at_us > mail->at_us)
		at++;
	if (at == RULES_CAP_MAILS_MAX)
		return;
	memmove(&row->mails[at + 1], &row->mails[at], (size_t)(RULES_CAP_MAILS_MAX - 1 - at) * sizeof(row->mails[0]));
	row->mails[at] = *mail;
}

/* `went`: the mail was sent, may have been sent, or is about to be; false: this attempt was not sent. */
static void remember_time(
	struct state *state, const char *shop, const char *address_hash, const struct sent_time *mail, bool went)
{
	struct times_row row;

	STATE_GET(state, sends_times, shop, address_hash, &row);
	for (int i = 0; i < RULES_CAP_MAILS_MAX; i++)
		if (row.mails[i].what == mail->what && row.mails[i].attempt > mail->attempt)
			return;
	times_remove(&row, mail->what);
	if (went)
		times_insert(&row, mail);
	STATE_PUT(state, sends_times, shop, address_hash, &row);
}

int64_t sends_capped_until_us(
	const struct state *state, const char *shop, const char *address_hash, const struct rules *rules)
{
	int64_t times_us[RULES_CAP_MAILS_MAX];
	struct times_row row;
	int count = 0;

	if (rules->cap_count == 0 || !*address_hash)
		return 0;
	STATE_GET(state, sends_times, shop, address_hash, &row);
	while (count < RULES_CAP_MAILS_MAX && row.mails[count].what) {
		times_us[count] = row.mails[count].at_us;
		count++;
	}
	return rules_capped_until_us(rules, times_us, count);
}

static void remember_claimed_mail(struct state *state, const char *shop, const SendClaim *claim)
{
	struct mailed_row row;
	char what[SEND_KEY_MAX];

	if (!*claim->address_hash)
		return;
	STATE_GET(state, sends_to, shop, claim->address_hash, &row);
	if (row.claim_us > row.sent_us && strcmp(row.claimed, send_key(what, claim->cart_id, claim->step)) != 0)
		row.sent_us = row.claim_us; /* the earlier claim has no outcome yet, so it counts as a mail */
	row.claim_us = claim->claimed_us;
	TEXT_COPY(row.claimed, send_key(what, claim->cart_id, claim->step));
	STATE_PUT(state, sends_to, shop, claim->address_hash, &row);
	remember_time(state, shop, claim->address_hash,
		&(struct sent_time){ text_hash(bytes_of(what)), claim->claimed_us, claim->attempt }, true);
}

void sends_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim)
{
	const struct claim_fact fact = { .event = CLAIM_FACT_CLAIMED,
		.attempt = claim->attempt,
		.at_us = claim->claimed_us,
		.asked_seq = claim->due_seq,
		.owner = claim->owner };
	struct claim_row row;
	char key[SEND_KEY_MAX];

	send_key(key, claim->cart_id, claim->step);
	row = claims_row(state, CLAIMS_TABLE(sends), said->shop, key);
	if (!claim_is_news(&row, &fact))
		return;
	claims_remember(state, CLAIMS_TABLE(sends), said->shop, key, &fact);
	remember_claimed_mail(state, said->shop, claim);
}

static enum claim_event event_of(const char *topic)
{
	static const struct {
		const struct topic *topic;
		enum claim_event event;
	} all[] = { { &topic_reminder_sent, CLAIM_FACT_DONE }, { &topic_reminder_released, CLAIM_FACT_RELEASED },
		{ &topic_reminder_refused, CLAIM_FACT_REFUSED }, { &topic_reminder_skipped, CLAIM_FACT_SKIPPED } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(topic, all[i].topic->name) == 0)
			return all[i].event;
	}
	return CLAIM_FACT_AMBIGUOUS;
}

static void remember_mail(struct state *state, const char *shop, const ReminderOutcome *outcome, enum claim_event event)
{
	struct mailed_row row;
	char what[SEND_KEY_MAX];
	bool went = (event == CLAIM_FACT_DONE || event == CLAIM_FACT_AMBIGUOUS) && !outcome->to_owner;

	if (!*outcome->address_hash || event == CLAIM_FACT_SKIPPED)
		return;
	STATE_GET(state, sends_to, shop, outcome->address_hash, &row);
	if (strcmp(row.claimed, send_key(what, outcome->cart_id, outcome->step)) == 0) {
		row.claim_us = 0;
		row.claimed[0] = '\0';
	}
	if (went && outcome->at_us > row.sent_us)
		row.sent_us = outcome->at_us;
	STATE_PUT(state, sends_to, shop, outcome->address_hash, &row);
	remember_time(state, shop, outcome->address_hash,
		&(struct sent_time){ text_hash(bytes_of(what)), outcome->at_us, outcome->attempt }, went);
}

void sends_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	const struct claim_fact fact = { .event = event_of(said->topic),
		.attempt = outcome->attempt,
		.at_us = outcome->at_us,
		.asked_seq = outcome->due_seq };
	char key[SEND_KEY_MAX];

	claims_remember(state, CLAIMS_TABLE(sends), said->shop, send_key(key, outcome->cart_id, outcome->step), &fact);
	remember_mail(state, said->shop, outcome, fact.event);
}

bool send_is_spent(enum send_phase phase)
{
	return claim_is_spent((enum claim_state)phase);
}

bool send_may_have_gone(enum send_phase phase)
{
	return claim_may_have_happened((enum claim_state)phase);
}

static int how_spent(enum claim_state state)
{
	static const int rank[] = { [CLAIM_IS_ASKED] = 0,
		[CLAIM_IS_RELEASED] = 1,
		[CLAIM_IS_SKIPPED] = 2,
		[CLAIM_IS_CLAIMED] = 3,
		[CLAIM_IS_REFUSED] = 4,
		[CLAIM_IS_UNCERTAIN] = 5,
		[CLAIM_IS_AMBIGUOUS] = 5,
		[CLAIM_IS_DONE] = 6 };

	return rank[state];
}

static struct send send_of_row(const struct claim_row *row)
{
	struct send send = {
		.phase = row->state, .attempt = row->attempt, .at_us = row->at_us, .due_seq = row->asked_seq
	};

	TEXT_COPY(send.owner, row->owner);
	return send;
}

static void add_send(
	const struct state *state, const char *shop, const char *cart_id, int step, struct send *most_spent)
{
	char key[SEND_KEY_MAX];
	uint32_t attempt = most_spent->attempt;
	const struct claim_row row =
		claims_row(state, CLAIMS_TABLE(sends), shop, send_key(key, cart_id, (uint32_t)step));

	if (how_spent(row.state) > how_spent((enum claim_state)most_spent->phase))
		*most_spent = send_of_row(&row);
	most_spent->attempt = row.attempt > attempt ? row.attempt : attempt;
}

/* Adds the sends of the carts that the given row names as merged, and of those that the newest row names. */
static void add_merged(
	const struct state *state, const char *shop, const CartState *cart, int step, struct send *most_spent)
{
	struct merges merges = merges_of(state, shop, cart->ids.cart_id);

	for (int i = 0; i < cart->merged_from_count; i++)
		add_send(state, shop, cart->merged_from[i], step, most_spent);
	for (int i = 0; i < merges.count; i++)
		add_send(state, shop, merges.from[i], step, most_spent);
}

struct send sends_of(const struct state *state, const char *shop, const CartState *cart, int step)
{
	struct send most_spent = { 0 };

	add_send(state, shop, cart->ids.cart_id, step, &most_spent);
	add_merged(state, shop, cart, step, &most_spent);
	return most_spent;
}

struct send sends_own(const struct state *state, const char *shop, const char *cart_id, int step)
{
	struct send own = { 0 };

	add_send(state, shop, cart_id, step, &own);
	return own;
}

bool sends_claimed_alone(const struct state *state, const char *shop, const CartState *cart, int step, uint32_t attempt)
{
	struct send own = sends_own(state, shop, cart->ids.cart_id, step), merged = { 0 };

	add_merged(state, shop, cart, step, &merged);
	return own.phase == SEND_CLAIMED && own.attempt == attempt && !send_is_spent(merged.phase);
}

int64_t sends_last_to(const struct state *state, const char *shop, const char *address_hash)
{
	struct mailed_row row;

	if (!*address_hash)
		return 0;
	STATE_GET(state, sends_to, shop, address_hash, &row);
	return row.claim_us > row.sent_us ? row.claim_us : row.sent_us;
}

struct each_send {
	sends_each_fn *each;
	void *context;
	bool any;
};

static bool each_row(const char *shop, const char *key, const struct claim_row *row, void *context)
{
	struct each_send *each = context;
	const char *slash = strrchr(key, '/');
	char cart_id[SEND_KEY_MAX];
	struct send send;

	if (!slash)
		return true;
	text_copy_bytes(cart_id, sizeof(cart_id), BYTES(key, (size_t)(slash - key)));
	send = send_of_row(row);
	each->any = true;
	each->each(shop, cart_id, slash[1] - '0', &send, each->context);
	return true;
}

bool sends_each(const struct state *state, sends_each_fn *each, void *context)
{
	struct each_send all = { .each = each, .context = context };

	STATE_EACH(state, sends, NULL, NULL, each_row, &all);
	return all.any;
}

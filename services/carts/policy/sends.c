/*
 * sends.c: what was mailed, claimed, released
 *
 * Owns:      tables sends (cart/step -> struct send_row), sends.to (address hash -> struct mailed_row) and sends.times (address hash
 *            -> struct times_row) of a service's state.
 * Promises:  sent is final; an ambiguous send is corrected only by sent; the outcome of an older attempt never hides a newer one.
 * Read next: sends.h, services/carts/sender
 */
#include "services/carts/policy/sends.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/policy/merges.h"
#include "services/kit/state/row.h"
#include <stdio.h>
#include <string.h>

struct send_row {
	uint32_t phase, attempt;
	int64_t at_us;
	uint64_t due_seq;
	char owner[40];
};

struct mailed_row {
	int64_t sent_us;  /* the latest mail that went or may have gone */
	int64_t claim_us; /* of a claim without an outcome; 0: none */
	char claimed[96]; /* cart/step */
};

enum { STEP_KEY_MAX = 96 };

static const char *step_key(char to[STEP_KEY_MAX], const char *cart_id, uint32_t step)
{
	snprintf(to, STEP_KEY_MAX, "%s/%u", cart_id, (unsigned)step);
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

/* `went`: it went, may have gone, or is about to; else this attempt of it did not. */
static void remember_time(
	struct state *state, const char *shop, const char *address_hash, const struct sent_time *mail, bool went)
{
	struct times_row row;

	row_get(state, "sends.times", shop, address_hash, &row, sizeof(row));
	for (int i = 0; i < RULES_CAP_MAILS_MAX; i++)
		if (row.mails[i].what == mail->what && row.mails[i].attempt > mail->attempt)
			return;
	times_remove(&row, mail->what);
	if (went)
		times_insert(&row, mail);
	ROW_PUT(state, "sends.times", shop, address_hash, &row);
}

int64_t sends_capped_until_us(
	const struct state *state, const char *shop, const char *address_hash, const struct rules *rules)
{
	int64_t times_us[RULES_CAP_MAILS_MAX];
	struct times_row row;
	int count = 0;

	if (rules->cap_count == 0 || !*address_hash)
		return 0;
	row_get(state, "sends.times", shop, address_hash, &row, sizeof(row));
	while (count < RULES_CAP_MAILS_MAX && row.mails[count].what) {
		times_us[count] = row.mails[count].at_us;
		count++;
	}
	return rules_capped_until_us(rules, times_us, count);
}

static void remember_claimed_mail(struct state *state, const char *shop, const SendClaim *claim)
{
	struct mailed_row row;
	char what[STEP_KEY_MAX];

	if (!*claim->address_hash)
		return;
	row_get(state, "sends.to", shop, claim->address_hash, &row, sizeof(row));
	if (row.claim_us > row.sent_us && strcmp(row.claimed, step_key(what, claim->cart_id, claim->step)) != 0)
		row.sent_us = row.claim_us; /* its outcome is still out: it counts until it is known */
	row.claim_us = claim->claimed_us;
	TEXT_COPY(row.claimed, step_key(what, claim->cart_id, claim->step));
	ROW_PUT(state, "sends.to", shop, claim->address_hash, &row);
	remember_time(state, shop, claim->address_hash,
		&(struct sent_time){ text_hash(bytes_of(what)), claim->claimed_us, claim->attempt }, true);
}

void sends_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim)
{
	struct send_row row;
	char key[STEP_KEY_MAX];

	step_key(key, claim->cart_id, claim->step);
	row_get(state, "sends", said->shop, key, &row, sizeof(row));
	if (claim->attempt <= row.attempt && row.phase != SEND_NONE)
		return;
	if (row.phase != SEND_SENT) {
		row.phase = SEND_CLAIMED;
		row.attempt = claim->attempt;
		row.at_us = claim->claimed_us;
		row.due_seq = claim->due_seq;
		TEXT_COPY(row.owner, claim->owner);
		ROW_PUT(state, "sends", said->shop, key, &row);
	}
	remember_claimed_mail(state, said->shop, claim);
}

static enum send_phase phase_of(const char *topic)
{
	static const struct {
		const char *topic;
		enum send_phase phase;
	} all[] = { { "reminder.sent", SEND_SENT }, { "reminder.released", SEND_RELEASED },
		{ "reminder.refused", SEND_REFUSED }, { "reminder.ambiguous", SEND_AMBIGUOUS },
		{ "reminder.skipped", SEND_SKIPPED } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(topic, all[i].topic) == 0)
			return all[i].phase;
	}
	return SEND_NONE;
}

static bool outcome_counts(const struct send_row *row, enum send_phase phase, uint32_t attempt)
{
	if (row->phase == SEND_SENT)
		return false;
	if (phase == SEND_SENT)
		return true;
	if (phase == SEND_SKIPPED) /* says nothing about an attempt that is under way or has ended */
		return !send_is_spent((enum send_phase)row->phase);
	if (attempt < row->attempt)
		return false;
	return attempt > row->attempt || (row->phase != SEND_AMBIGUOUS && row->phase != SEND_REFUSED);
}

static void remember_mail(struct state *state, const char *shop, const ReminderOutcome *outcome, enum send_phase phase)
{
	struct mailed_row row;
	char what[STEP_KEY_MAX];
	bool went = (phase == SEND_SENT || phase == SEND_AMBIGUOUS) && !outcome->to_owner;

	if (!*outcome->address_hash || phase == SEND_SKIPPED)
		return;
	row_get(state, "sends.to", shop, outcome->address_hash, &row, sizeof(row));
	if (strcmp(row.claimed, step_key(what, outcome->cart_id, outcome->step)) == 0) {
		row.claim_us = 0;
		row.claimed[0] = '\0';
	}
	if (went && outcome->at_us > row.sent_us)
		row.sent_us = outcome->at_us;
	ROW_PUT(state, "sends.to", shop, outcome->address_hash, &row);
	remember_time(state, shop, outcome->address_hash,
		&(struct sent_time){ text_hash(bytes_of(what)), outcome->at_us, outcome->attempt }, went);
}

void sends_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	enum send_phase phase = phase_of(said->topic);
	struct send_row row;
	char key[STEP_KEY_MAX];

	step_key(key, outcome->cart_id, outcome->step);
	row_get(state, "sends", said->shop, key, &row, sizeof(row));
	if (outcome_counts(&row, phase, outcome->attempt)) {
		/* what turns out to have gone after all is as late as it was when nobody knew: so is the latest mail to the shopper */
		bool corrects = row.phase == SEND_AMBIGUOUS && phase == SEND_SENT && row.at_us > outcome->at_us;

		row.phase = phase;
		row.attempt = outcome->attempt > row.attempt ? outcome->attempt : row.attempt;
		row.at_us = corrects ? row.at_us : outcome->at_us;
		row.due_seq = outcome->due_seq;
		ROW_PUT(state, "sends", said->shop, key, &row);
	}
	remember_mail(state, said->shop, outcome, phase);
}

bool send_is_spent(enum send_phase phase)
{
	switch (phase) {
	case SEND_NONE:
	case SEND_RELEASED:
		return false;
	case SEND_CLAIMED:
	case SEND_SENT:
	case SEND_REFUSED:
	case SEND_AMBIGUOUS:
	case SEND_SKIPPED:
		return true;
	}
	return true;
}

bool send_may_have_gone(enum send_phase phase)
{
	return phase == SEND_SENT || phase == SEND_AMBIGUOUS || phase == SEND_CLAIMED;
}

static int how_spent(enum send_phase phase)
{
	static const int rank[] = { [SEND_NONE] = 0,
		[SEND_RELEASED] = 1,
		[SEND_SKIPPED] = 2,
		[SEND_CLAIMED] = 3,
		[SEND_REFUSED] = 4,
		[SEND_AMBIGUOUS] = 5,
		[SEND_SENT] = 6 };

	return rank[phase];
}

static void add_send(
	const struct state *state, const char *shop, const char *cart_id, int step, struct send *most_spent)
{
	struct send_row row;
	char key[STEP_KEY_MAX];
	uint32_t attempt = most_spent->attempt;

	if (!row_get(state, "sends", shop, step_key(key, cart_id, (uint32_t)step), &row, sizeof(row)))
		return;
	if (how_spent(row.phase) > how_spent(most_spent->phase)) {
		*most_spent = (struct send){ .phase = row.phase, .at_us = row.at_us, .due_seq = row.due_seq };
		TEXT_COPY(most_spent->owner, row.owner);
	}
	most_spent->attempt = row.attempt > attempt ? row.attempt : attempt;
}

/* What was merged in by the cart's own row, and by the newest one. */
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

bool sends_claimed_alone(const struct state *state, const char *shop, const CartState *cart, int step, uint32_t attempt)
{
	struct send own = { 0 }, merged = { 0 };

	add_send(state, shop, cart->ids.cart_id, step, &own);
	add_merged(state, shop, cart, step, &merged);
	return own.phase == SEND_CLAIMED && own.attempt == attempt && !send_is_spent(merged.phase);
}

int64_t sends_last_to(const struct state *state, const char *shop, const char *address_hash)
{
	struct mailed_row row;

	if (!*address_hash)
		return 0;
	row_get(state, "sends.to", shop, address_hash, &row, sizeof(row));
	return row.claim_us > row.sent_us ? row.claim_us : row.sent_us;
}

struct each_send {
	sends_each_fn *each;
	void *context;
	bool any;
};

static bool each_row(const char *shop, const char *key, struct bytes value, void *context)
{
	struct each_send *each = context;
	const char *slash = strrchr(key, '/');
	char cart_id[STEP_KEY_MAX];
	struct send_row row;
	struct send send;

	if (!slash || value.len != sizeof(row))
		return true;
	memcpy(&row, value.data, sizeof(row));
	text_copy_bytes(cart_id, sizeof(cart_id), BYTES(key, (size_t)(slash - key)));
	send = (struct send){ .phase = row.phase, .attempt = row.attempt, .at_us = row.at_us, .due_seq = row.due_seq };
	TEXT_COPY(send.owner, row.owner);
	each->any = true;
	each->each(shop, cart_id, slash[1] - '0', &send, each->context);
	return true;
}

bool sends_each(const struct state *state, sends_each_fn *each, void *context)
{
	struct each_send all = { .each = each, .context = context };

	state_each(state, "sends", NULL, NULL, each_row, &all);
	return all.any;
}

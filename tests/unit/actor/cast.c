/*
 * cast.c: four small services with nothing to do with carts
 */
#include "tests/unit/actor/cast.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <stdlib.h>

/* --- clerk --- */

static void say_balance(struct turn *turn, const char *shop, const char *account, uint64_t balance)
{
	static Audit audit;

	audit = (Audit){ .next_us = (int64_t)balance, .decided_on = turn_seen(turn) };
	TEXT_COPY(audit.action, "balance");
	TEXT_COPY(audit.cart_id, account);
	SAY(turn, audit, &audit, .shop = shop, .key = account);
}

static enum verdict hear_wake(const struct state *state, const CartWake *wake, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	uint64_t balance = state_number(state, "balance", shop, wake->cart_id) + (uint64_t)wake->due_us;

	switch ((enum oddity)wake->revision) {
	case ODD_FAILS:
		return turn_failed(turn, 10 * US_PER_MS, "it fails every time");
	case ODD_FAILS_ONCE:
		if (turn_failures(turn) == 0)
			return turn_failed(turn, 10 * US_PER_MS, "it fails the first time");
		break;
	case ODD_NEVER:
		return turn_dead_letter(turn, "nobody can decide on this");
	case ODD_BAD_FACT:
		say_balance(turn, shop, wake->cart_id, balance);
		say_balance(turn, "", wake->cart_id, balance); /* a shop is required */
		return TURN_DONE;
	case ODD_SAYS_NOTHING:
		return TURN_DONE;
	case ODD_NOT:
		break;
	}
	say_balance(turn, shop, wake->cart_id, balance);
	return TURN_DONE;
}

static void remember_balance(struct state *state, const struct message_meta *said, const Audit *audit)
{
	state_put_number(state, "balance", said->shop, audit->cart_id, (uint64_t)audit->next_us);
}

const struct service clerk = { .name = "clerk",
	.exclusive = true,
	.hears = HEARING(HEARS(cart_wake, hear_wake)),
	.remembers = REMEMBERING(REMEMBERS(audit, remember_balance)),
	.says = SAYING(SAYS(audit)) };

/* --- postman --- */

struct errand {
	char what[80];
	char cart_id[72];
	uint32_t step, attempt;
};

static void free_errand(void *errand)
{
	free(errand);
}

static void name_errand(char ret[80], const char *cart_id, uint32_t step)
{
	snprintf(ret, 80, "%.60s/%u", cart_id, step);
}

static void claim_errand(const struct state *state, const void *message, const void *request, struct turn *turn)
{
	const LinkClicked *clicked = message;
	const struct errand *errand = request;
	static SendClaim claim;
	char idem[120];

	(void)state;
	claim = (SendClaim){ .step = clicked->step, .attempt = errand->attempt, .claimed_us = turn_now_us(turn) };
	TEXT_COPY(claim.cart_id, clicked->cart_id);
	TEXT_COPY(claim.owner, turn_run(turn));
	snprintf(idem, sizeof(idem), "%s/%u", errand->what, errand->attempt);
	claim.due_seq = turn_message(turn)->seq;
	SAY(turn, send_claim, &claim, .shop = turn_message(turn)->shop, .key = errand->what, .idem = idem,
		.version = claim.attempt);
}

static bool errand_may_proceed(const struct state *state, const void *message, const void *request, int64_t now_us)
{
	const LinkClicked *clicked = message;

	(void)request;
	(void)now_us;
	return !state_has(state, "stopped", "demo", clicked->cart_id);
}

enum answer { ANSWER_NOT_SENT, ANSWER_TAKEN, ANSWER_NOT_NOW };

static void say_outcome(struct turn *turn, const struct topic *topic, const struct errand *errand)
{
	static ReminderOutcome outcome;

	outcome = (ReminderOutcome){ .step = errand->step, .attempt = errand->attempt, .at_us = turn_now_us(turn) };
	TEXT_COPY(outcome.cart_id, errand->cart_id);
	turn_publish(turn, topic,
		&(struct publish_options){
			.shop = turn_message(turn)->shop, .key = errand->what, .version = errand->attempt },
		&outcome);
}

static enum verdict errand_ended(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const struct errand *errand = request;
	const enum answer *answer = result;

	(void)state;
	(void)message;
	switch (claimed) {
	case CLAIM_FRESH:
		say_outcome(turn,
			!answer                           ? &topic_reminder_ambiguous
				: *answer == ANSWER_TAKEN ? &topic_reminder_sent
							  : &topic_reminder_released,
			errand);
		return answer && *answer == ANSWER_NOT_NOW ? turn_wait(turn, 500 * US_PER_MS, "put off") : TURN_DONE;
	case CLAIM_UNUSED:
		say_outcome(turn, &topic_reminder_released, errand);
		return turn_wait(turn, 10 * US_PER_MS, "again");
	case CLAIM_NONE:
	case CLAIM_DUPLICATE:
	case CLAIM_REFUSED:
		return turn_wait(turn, 10 * US_PER_MS, "somebody else is at it");
	}
	return TURN_DONE;
}

static const struct effect_kind errand_kind = { .name = "courier",
	.request_free = free_errand,
	.deadline_us = 1 * US_PER_MINUTE,
	.claim = claim_errand,
	.may_proceed = errand_may_proceed,
	.decide = errand_ended };

static const char *unused_key(char ret[64], uint64_t seq, uint64_t attempt)
{
	snprintf(ret, 64, "%llu/%llu", (unsigned long long)seq, (unsigned long long)attempt);
	return ret;
}

static bool is_unused(const struct state *state, uint64_t seq, uint64_t attempt)
{
	char key[64];

	return state_has(state, "unused", "demo", unused_key(key, seq, attempt));
}

static void say_unused(struct turn *turn, const struct claim_note *claim)
{
	static SendUnused unused;
	char idem[120];

	unused = (SendUnused){ .due_seq = claim->seq, .attempt = (uint32_t)claim->version };
	TEXT_COPY(unused.owner, claim->run);
	snprintf(idem, sizeof(idem), "unused/%s/%llu/%llu", claim->run, (unsigned long long)claim->seq,
		(unsigned long long)claim->version);
	SAY(turn, send_unused, &unused, .shop = "demo", .key = claim->run, .idem = idem);
}

static void remember_unused(struct state *state, const struct message_meta *said, const SendUnused *unused)
{
	char key[64];

	state_put_number(state, "unused", said->shop, unused_key(key, unused->due_seq, unused->attempt), 1);
}

static enum verdict hear_click(const struct state *state, const LinkClicked *clicked, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	struct errand *errand = memory_new(sizeof(*errand));
	void *request = errand;
	uint64_t claimed, released;

	name_errand(errand->what, clicked->cart_id, clicked->step);
	claimed = state_number(state, "claimed", shop, errand->what);
	released = state_number(state, "released", shop, errand->what);
	if (state_has(state, "ended", shop, errand->what)) {
		free(errand);
		return TURN_DONE;
	}
	TEXT_COPY(errand->cart_id, clicked->cart_id);
	errand->step = clicked->step;
	errand->attempt = (uint32_t)claimed;
	if (claimed > released && is_unused(state, turn_message(turn)->seq, claimed)) {
		say_outcome(turn, &topic_reminder_released, errand);
		free(errand);
		return turn_wait(turn, 10 * US_PER_MS, "it was not used");
	}
	if (claimed > released) {
		free(errand);
		return turn_wait(turn, 10 * US_PER_MS, "claimed, its outcome is still to come");
	}
	errand->attempt++;
	return turn_effect(turn, &errand_kind, &request);
}

static void remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim)
{
	state_put_number(state, "claimed", said->shop, said->key, claim->attempt);
}

static void remember_end(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	state_put_number(state, "ended", said->shop, said->key, outcome->attempt);
}

static void remember_release(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	state_put_number(state, "released", said->shop, said->key, outcome->attempt);
}

static void remember_stop(struct state *state, const struct message_meta *said, const CartClosed *closed)
{
	state_put_number(state, "stopped", said->shop, closed->cart_id, said->seq);
}

const struct service postman = { .name = "postman",
	.hears = HEARING(HEARS(link_clicked, hear_click)),
	.remembers = REMEMBERING(REMEMBERS(send_claim, remember_claim), REMEMBERS(reminder_sent, remember_end),
		REMEMBERS(reminder_ambiguous, remember_end), REMEMBERS(reminder_released, remember_release),
		REMEMBERS(cart_closed, remember_stop), REMEMBERS(send_unused, remember_unused)),
	.says = SAYING(SAYS(send_claim), SAYS(send_unused), SAYS(reminder_sent), SAYS(reminder_released),
		SAYS(reminder_ambiguous)),
	.effects = RUNNING(&errand_kind),
	.unused = say_unused };

/* --- bell --- */

static void remember_set(struct state *state, const struct message_meta *said, const TimerSet *set)
{
	char due[40];

	snprintf(due, sizeof(due), "%020lld/%.18s", (long long)set->due_us, set->name);
	state_put_number(state, "due", said->shop, due, set->version);
}

static void remember_fired(struct state *state, const struct message_meta *said, const TimerFired *fired)
{
	char due[40];

	snprintf(due, sizeof(due), "%020lld/%.18s", (long long)fired->due_us, fired->name);
	state_delete(state, "due", said->shop, due);
}

struct first {
	char shop[64], name[20];
	int64_t due_us;
};

static bool take_first(const char *shop, const char *key, struct bytes value, void *context)
{
	struct first *first = context;

	(void)value;
	TEXT_COPY(first->shop, shop);
	TEXT_COPY(first->name, key + 21);
	first->due_us = strtoll(key, NULL, 10);
	return false;
}

static int64_t bell_next_due_us(const struct state *state)
{
	struct first first = { .due_us = INT64_MAX };

	state_each(state, "due", NULL, NULL, take_first, &first);
	return first.due_us;
}

static void bell_due(const struct state *state, struct turn *turn)
{
	struct first first = { .due_us = INT64_MAX };
	static TimerFired fired;

	state_each(state, "due", NULL, NULL, take_first, &first);
	fired = (TimerFired){ .due_us = first.due_us, .fired_us = turn_now_us(turn) };
	TEXT_COPY(fired.name, first.name);
	SAY(turn, timer_fired, &fired, .shop = first.shop, .key = first.name, .tombstone = true, .version = 1);
}

const struct service bell = { .name = "bell",
	.exclusive = true,
	.remembers = REMEMBERING(REMEMBERS(timer_set, remember_set), REMEMBERS(timer_fired, remember_fired)),
	.says = SAYING(SAYS(timer_fired)),
	.next_due_us = bell_next_due_us,
	.due = bell_due };

/* --- door --- */

const struct service door = { .name = "door", .gateway = true, .says = SAYING(SAYS(cart_closed), SAYS(link_clicked)) };

const struct service *const cast[] = { &clerk, &postman, &bell, &door, NULL };

/* --- courier: the driver --- */

struct parcel {
	struct list hook;
	struct effect *effect;
	bool asked, left;
};

struct courier {
	struct effect_driver driver;
	struct effect_driver *drivers[2];
	struct ledger *ledger;
	struct list parcels;
};

static struct parcel *find_parcel(struct courier *courier, const struct effect *effect)
{
	LIST_EACH (hook, &courier->parcels)
		if (LIST_ENTRY(hook, struct parcel, hook)->effect == effect)
			return LIST_ENTRY(hook, struct parcel, hook);
	abort();
}

static void drop_parcel(struct parcel *parcel)
{
	list_remove(&parcel->hook);
	free(parcel);
}

static void courier_start(void *self, struct effect *effect, const void *request)
{
	struct courier *courier = self;
	struct parcel *parcel = memory_new(sizeof(*parcel));
	const struct errand *errand = request;

	parcel->effect = effect;
	parcel->asked = courier->ledger->poison && strcmp(errand->what, courier->ledger->poison) == 0;
	courier->ledger->struck += parcel->asked;
	list_append(&courier->parcels, &parcel->hook);
	courier->ledger->started++;
}

static void note_delivery(struct ledger *ledger, const char *what)
{
	for (int i = 0; i < ledger->count; i++) {
		if (strcmp(ledger->delivered[i].what, what) == 0) {
			ledger->delivered[i].times++;
			return;
		}
	}
	TEXT_COPY(ledger->delivered[ledger->count].what, what);
	ledger->delivered[ledger->count++].times = 1;
}

static void courier_proceed(void *self, struct effect *effect, bool go)
{
	struct courier *courier = self;
	struct parcel *parcel = find_parcel(courier, effect);
	const struct errand *errand = effect_request(effect);
	static const enum answer no = ANSWER_NOT_SENT;

	if (go) {
		note_delivery(courier->ledger, errand->what);
		courier->ledger->went++;
		parcel->left = true;
		return; /* the answer comes in work() */
	}
	courier->ledger->withdrawn++;
	drop_parcel(parcel);
	effect_done(effect, &no);
}

static void courier_stop(void *self, struct effect *effect)
{
	struct courier *courier = self;

	courier->ledger->stopped++;
	drop_parcel(find_parcel(courier, effect));
}

static void courier_work(void *self)
{
	struct courier *courier = self;
	static const enum answer taken = ANSWER_TAKEN, not_now = ANSWER_NOT_NOW;

	if (courier->ledger->at_work)
		courier->ledger->at_work(courier->ledger, courier->ledger->context);
	LIST_EACH_SAFE (hook, &courier->parcels) {
		struct parcel *parcel = LIST_ENTRY(hook, struct parcel, hook);
		struct effect *effect = parcel->effect;

		if (!parcel->asked && !courier->ledger->hold_claim) {
			parcel->asked = true;
			courier->ledger->claims++;
			effect_claim(effect);
		} else if (parcel->left && !courier->ledger->hold_answer) {
			bool put_off = courier->ledger->put_off > 0;

			courier->ledger->put_off -= put_off;
			drop_parcel(parcel);
			effect_done(effect, put_off ? &not_now : &taken);
		}
	}
}

static int64_t courier_wait_us(void *self)
{
	struct courier *courier = self;

	LIST_EACH (hook, &courier->parcels) {
		const struct parcel *parcel = LIST_ENTRY(hook, struct parcel, hook);

		if ((!parcel->asked && !courier->ledger->hold_claim) || (parcel->left && !courier->ledger->hold_answer))
			return 0;
	}
	return -1;
}

struct effect_driver *const *courier_new(struct ledger *ledger)
{
	struct courier *courier = memory_new(sizeof(*courier));

	courier->driver = (struct effect_driver){ .name = "courier",
		.self = courier,
		.noted = true,
		.start = courier_start,
		.proceed = courier_proceed,
		.stop = courier_stop,
		.wait_us = courier_wait_us,
		.work = courier_work };
	courier->drivers[0] = &courier->driver;
	courier->ledger = ledger;
	list_init(&courier->parcels);
	return courier->drivers;
}

void courier_free(struct effect_driver *const *drivers)
{
	struct courier *courier = drivers[0]->self;

	LIST_EACH_SAFE (hook, &courier->parcels)
		drop_parcel(LIST_ENTRY(hook, struct parcel, hook));
	free(courier);
}

int ledger_times(const struct ledger *ledger, const char *what)
{
	for (int i = 0; i < ledger->count; i++)
		if (strcmp(ledger->delivered[i].what, what) == 0)
			return ledger->delivered[i].times;
	return 0;
}

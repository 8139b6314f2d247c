/*
 * looks.c: what the waiter would say if it looked at every waiting cart now
 *
 * Promises:  the waiter's own decision; nothing that it says is folded, so each cart is looked at as the log has it.
 * Read next: services/carts/policy/move.c, services/cartbus/texts/apply.c (who moves timers by it)
 */
#include "bus/base/text.h"
#include "services/carts/rehearsal/inside.h"
#include "services/platform/timer/rows.h"

struct looking {
	struct rehearsal *rehearsal;
	int64_t now_us;
	rehearsed_look_fn *each;
	void *context;
};

static void read_fact(const struct message_meta *said, struct bytes payload, struct rehearsed_look *look, Audit *audit)
{
	TimerSet next;

	if (strcmp(said->topic, topic_reminder_due.name) == 0)
		look->mails = true;
	else if (strcmp(said->topic, topic_timer_set.name) == 0 && rehearsal_read(payload, &TimerSet_msg, &next))
		look->next_us = next.due_us;
	else if (strcmp(said->topic, topic_audit.name) == 0 && rehearsal_read(payload, &Audit_msg, audit))
		look->action = audit->action;
}

static void look_at(const struct looking *looking, const TimerSet *set, const CartWake *wake)
{
	struct replay *waiter = cast_alone(looking->rehearsal->cast, ROLE_WAITER);
	const struct message_meta said = { .topic = topic_cart_wake.name,
		.shop = looking->rehearsal->plan->shop,
		.key = wake->cart_id,
		.idem = "",
		.trace = "",
		.said_by = "rehearsal" };
	struct rehearsed_look look = { .cart_id = wake->cart_id,
		.action = "",
		.revision = wake->revision,
		.due_us = set->due_us,
		.would_step = wake->would_step,
		.would_us = wake->would_us };
	struct replay_turn turn =
		replay_decide(waiter, &said, BYTES(set->payload.bytes, set->payload.size), looking->now_us);
	Audit audit;

	for (uint32_t i = 0; i < turn.facts; i++) {
		struct message_meta fact;
		struct bytes payload = replay_fact(waiter, i, &fact);

		read_fact(&fact, payload, &look, &audit);
	}
	if (turn.facts > 0) /* else the cart is not what the timer was set for */
		looking->each(&look, looking->context);
}

static bool each_timer(const char *shop, const char *key, const TimerSet *set, void *context)
{
	CartWake wake;

	(void)shop, (void)key;
	if (rehearsal_read(BYTES(set->payload.bytes, set->payload.size), &CartWake_msg, &wake))
		look_at(context, set, &wake);
	return true;
}

void rehearsal_looks(struct rehearsal *rehearsal, int64_t now_us, rehearsed_look_fn *each, void *context)
{
	struct looking looking = { rehearsal, now_us, each, context };
	const struct state *timers = replay_state(cast_alone(rehearsal->cast, ROLE_TIMER));

	STATE_EACH(timers, timers, rehearsal->plan->shop, "cart/", each_timer, &looking);
}

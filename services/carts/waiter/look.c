/*
 * look.c: everything one decision about a cart is made on
 *
 * Promises:  reads, and decides nothing; the same for a decision and for a plan.
 * Read next: services/carts/policy/move.c, services/carts/policy/plan.h
 */
#include "services/carts/waiter/look.h"
#include "services/carts/letter/reminder.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/plan.h"
#include "services/carts/policy/rules_document.h"
#include "services/carts/waiter/newest.h"
#include "services/carts/waiter/waiter.h"
#include "services/kit/documents/docs.h"

static void choose_waits(struct look *look, const struct rules *rules)
{
	const WaitOverride *own = &look->cart.wait_override;

	look->choice.rules = rules_choose(rules, look->cart.total_minor, look->cart.currency);
	look->choice.overridden = look->cart.has_wait_override && own->first_us > 0;
	const struct rules_waits waits = rules_waits_or_own(
		look->choice.rules.waits, look->choice.overridden ? own->first_us : 0, own->second_us);
	look->facts.first_us = waits.first_us;
	look->facts.second_us = waits.second_us;
}

static void gather_documents(const struct state *state, struct look *look)
{
	const struct shop *shop = docs_shop(state, look->shop_name);
	const struct rules *rules = rules_in_use(state, look->shop_name, &look->rules_version);

	look->facts.documents = shop && rules;
	if (!look->facts.documents)
		return;
	choose_waits(look, rules);
	look->facts.rules = rules;
	look->facts.zone = shop->zone;
	look->facts.window_us = rules_window_us(rules);
	look->facts.window_written = rules->window_us > 0;
	look->facts.capped_until_us = sends_capped_until_us(state, look->shop_name, look->cart.ids.email_hash, rules);
	look->facts.chase = chase_decide(state, shop, &look->cart, look->facts.mode);
}

void look_gather(const struct state *state, struct look *look, const CartWake *wake, int64_t now_us)
{
	const CartState *cart = &look->cart;

	look->facts = (struct move_facts){ .now_us = now_us,
		.open = cart->status == CART_OPEN,
		.has_address = *cart->ids.email && *cart->ids.email_hash,
		.bad_address = cart->ids.email_unusable,
		.abandoned_us = cart->abandoned_us,
		.first = sends_of(state, look->shop_name, cart, 1),
		.second = sends_of(state, look->shop_name, cart, 2),
		.stopped = stops_for(state, look->shop_name, cart),
		.mode = stops_mode(state, look->shop_name),
		.last_mail_us = sends_last_to(state, look->shop_name, cart->ids.email_hash),
		.would_step = wake->would_step,
		.would_us = wake->would_us };
	if (look->facts.stopped.unpaid_us > cart->abandoned_us)
		look->facts.abandoned_us = look->facts.stopped.unpaid_us;
	if (newest_other(state, look->shop_name, cart, look->newer_cart))
		look->facts.newer_cart = look->newer_cart;
	gather_documents(state, look);
}

bool waiter_plan(const struct state *state, const char *shop, const CartWake *wake, int64_t due_us, int64_t now_us,
	struct plan *ret)
{
	struct look look = { .shop_name = shop };

	if (!STATE_GET(state, cart_rows, shop, wake->cart_id, &look.cart) || wake->revision != look.cart.revision)
		return false;
	look_gather(state, &look, wake, now_us);
	*ret = plan_next(&look.facts, due_us);
	if (ret->step)
		plan_refuse(ret, mail_return_trouble(docs_shop(state, shop), &look.cart));
	return true;
}

/*
 * next.c: what comes next for a cart, when, and why then
 *
 * Promises:  the decision of the waiter, asked for the cart's next look, as `cartbus why` asks it; pure.
 * Fails by:  not knowing what is not folded here: stops that came since the cart was looked at, and whether the shop's policy lets it.
 * Read next: services/kit/plan.c
 */
#include "services/exporter/next.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdlib.h>

struct mailed {
	struct map *at; /* address hash -> when, as a number */
};

static void note_mails(const char *cart_id, const struct ledger_row *row, void *context)
{
	const struct mailed *mailed = context;

	(void)cart_id;
	for (int i = 0; i < 2; i++) {
		const struct ledger_mail *mail = &row->mails[i];
		struct bytes key = bytes_of(row->address_hash);

		if (!key.len || mail->to_owner || (mail->phase != SEND_SENT && mail->phase != SEND_AMBIGUOUS))
			continue;
		if ((int64_t)(uintptr_t)map_get(mailed->at, key) < mail->at_us)
			map_put(mailed->at, key, (void *)(uintptr_t)mail->at_us);
	}
}

struct mailed *mailed_new(const struct state *state, const char *shop)
{
	struct mailed *mailed = memory_new(sizeof(*mailed));

	mailed->at = map_new();
	ledger_each(state, shop, note_mails, mailed);
	return mailed;
}

void mailed_free(struct mailed *mailed)
{
	if (mailed)
		map_free(mailed->at);
	free(mailed);
}

static struct send send_of(const struct ledger_mail *mail)
{
	return (struct send){ .phase = mail->phase, .at_us = mail->at_us };
}

static void set_waits(struct move_facts *facts, const struct rules *rules, const struct ledger_row *row)
{
	struct rules_waits waits = rules_choose(rules, row->total_minor, row->currency).waits;
	bool own = row->own_first_us > 0;

	facts->first_us = own ? row->own_first_us : waits.first_us;
	facts->second_us = own && row->own_second_us > 0 ? row->own_second_us : waits.second_us;
	facts->window_us = rules_window_us(rules);
	facts->window_written = rules->window_us > 0;
	facts->rules = rules;
}

/* In a shop that is only observed the record alone tells what would have gone. */
static void set_observed(struct move_facts *facts, const struct last *last)
{
	if (!text_starts(last->action, "would_send_"))
		return;
	facts->mode = MODE_OBSERVE;
	facts->would_step = strcmp(last->action, "would_send_first") == 0 ? 1 : 2;
	facts->would_us = last->at_us;
}

static bool is_with_sender(const struct ledger_row *row, const struct last *last, struct next *ret)
{
	int step = strcmp(last->action, "first_reminder") == 0 ? 1
		: strcmp(last->action, "second_reminder") == 0 ? 2
							       : 0;

	if (!step || last->at_us < row->abandoned_us || row->mails[step - 1].phase != SEND_NONE)
		return false;
	*ret = (struct next){ .step = step, .at_us = last->at_us };
	TEXT_COPY(ret->words, "decided, and with the sender");
	return true;
}

struct next next_of(const struct mailed *mailed, const struct shop *shop, const struct rules *rules,
	const struct ledger_row *row, const struct last *last)
{
	bool is_known = last->at_us >= row->abandoned_us; /* the record is about the cart as it is */
	struct next next = { .step = row->mails[0].phase == SEND_NONE ? 1 : row->mails[1].phase == SEND_NONE ? 2 : 0 };
	struct move_facts facts = { .now_us = is_known ? last->at_us : row->abandoned_us,
		.open = true,
		.has_address = true,
		.documents = true,
		.abandoned_us = row->abandoned_us,
		.first = send_of(&row->mails[0]),
		.second = send_of(&row->mails[1]),
		.mode = MODE_LIVE,
		.last_mail_us = (int64_t)(uintptr_t)map_get(mailed->at, bytes_of(row->address_hash)),
		.zone = shop->zone };
	struct plan plan;

	if (is_with_sender(row, last, &next) || !rules)
		return next;
	set_waits(&facts, rules, row);
	set_observed(&facts, last);
	plan = plan_next(&facts, is_known ? last->next_us : 0);
	next.step = plan.step;
	next.at_us = plan.send_us;
	if (plan.step && (plan.window_until_us || plan.quiet_until_us))
		plan_words(&plan, shop->zone, next.words);
	return next;
}

/*
 * folds.c: one message, and each page's rows that follow from it
 *
 * Promises:  all rows follow from the log alone.
 * Read next: lines.h (lists), looks.h (the next mail), days.h (figures), story.h (one cart)
 */
#include "services/carts/console/folds.h"
#include "services/carts/console/days.h"
#include "services/carts/console/lines.h"
#include "services/carts/console/looks.h"
#include "services/carts/console/standing.h"
#include "services/carts/console/story.h"
#include "services/carts/report/report_fold.h"
#include <stdio.h>

/* What the report knows of this cart has changed; it may have been merged into another one. */
static void refresh(struct state *state, const char *shop, const char *cart_id)
{
	char name[LINE_NAME_MAX], now[LINE_ID_MAX];

	snprintf(name, sizeof(name), "id:%s", cart_id);
	if (!line_named(state, shop, name, now))
		return;
	lines_refresh(state, shop, now);
	days_refresh_cart(state, shop, now, false);
}

static void remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
{
	lines_remember_cart(state, said, cart);
	days_refresh_cart(state, said->shop, cart->ids.cart_id, said->tombstone);
}

static void remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	refresh(state, said->shop, outcome->cart_id);
	standing_remember_outcome(state, said, outcome);
	story_remember_outcome(state, said, outcome);
}

static void remember_click(struct state *state, const struct message_meta *said, const LinkClicked *clicked)
{
	refresh(state, said->shop, clicked->cart_id);
	story_remember_click(state, said, clicked);
}

static void remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback)
{
	days_remember_feedback(state, said, feedback);
	story_remember_feedback(state, said, feedback);
}

const struct remembers carts_page_report[] = { REPORT_FOLD_REMEMBERED, { .topic = NULL } };

const struct remembers carts_page_folds[] = { REMEMBERS(cart_state, remember_cart), LOOKS_REMEMBERED,
	REMEMBERS_FOR_A_WHILE(reminder_sent, remember_outcome),
	REMEMBERS_FOR_A_WHILE(reminder_released, story_remember_outcome),
	REMEMBERS_FOR_A_WHILE(reminder_refused, remember_outcome),
	REMEMBERS_FOR_A_WHILE(reminder_ambiguous, remember_outcome),
	REMEMBERS_FOR_A_WHILE(reminder_skipped, remember_outcome), REMEMBERS(link_clicked, remember_click),
	REMEMBERS_FOR_A_WHILE(cart_checkout, story_remember_checkout),
	REMEMBERS_FOR_A_WHILE(mail_feedback, remember_feedback),
	REMEMBERS_FOR_A_WHILE(suppression, days_remember_suppression),
	REMEMBERS_FOR_A_WHILE(optout_request, story_remember_optout),
	REMEMBERS_FOR_A_WHILE(admin_action, story_remember_action), REMEMBERS_FOR_A_WHILE(audit, story_remember_audit),
	REMEMBERS(model_used, story_remember_model), REMEMBERS(shop_status, standing_remember_status),
	REMEMBERS(alarm, standing_remember_alarm), REMEMBERS(document, days_remember_document), { .topic = NULL } };

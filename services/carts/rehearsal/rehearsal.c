/*
 * rehearsal.c: plays one shop's log to the services in virtual time
 *
 * Owns:      the services' states, what is pending, virtual time.
 * Promises:  those of rehearsal.h: messages from outside come as they came; all else is decided again.
 * Read next: step.c (decisions), schedule.c (timers and retries), history.c (history's decisions), totals.c
 *            (the results)
 */
#include "services/carts/rehearsal/rehearsal.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/rehearsal/inside.h"
#include "services/kit/documents/docs.h"
#include <pb_decode.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>

#define NEWEST UINT32_C(0xffffffff) /* no document of history replaces this version */

bool rehearsal_read(struct bytes payload, const pb_msgdesc_t *fields, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, fields, ret);
}

struct rehearsal *rehearsal_new(const struct rehearsal_plan *plan, char ret_why[512])
{
	struct services_under_test *under_test = services_under_test_new(plan->folder, ret_why);
	struct rehearsal *rehearsal;

	if (!under_test)
		return NULL;
	rehearsal = memory_new(sizeof(*rehearsal));
	rehearsal->plan = plan;
	rehearsal->under_test = under_test;
	rehearsal->history = history_new();
	rehearsal->totals = totals_new();
	rehearsal->pending = map_new();
	rehearsal->unsaid = sorted_map_new();
	rehearsal->schedule = sorted_map_new();
	return rehearsal;
}

static void free_pending(struct bytes key, void *value, void *context)
{
	(void)key, (void)context;
	pending_free(value);
}

void rehearsal_free(struct rehearsal *rehearsal)
{
	if (!rehearsal)
		return;
	schedule_free(rehearsal);
	map_each(rehearsal->pending, free_pending, NULL);
	map_free(rehearsal->pending);
	step_free_unsaid(rehearsal);
	totals_free(rehearsal->totals);
	history_free(rehearsal->history);
	services_under_test_free(rehearsal->under_test);
	free(rehearsal);
}

void rehearsal_history(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload)
{
	history_hear(rehearsal->history, said, payload, services_under_test_says(rehearsal->under_test, said->topic));
}

/* --- before the window: everything is folded as it was --- */

static void remember(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload)
{
	enum role role = services_under_test_hears(rehearsal->under_test, said->topic);
	struct pending *claimed;

	services_under_test_fold(rehearsal->under_test, said, payload, ROLE_NONE);
	if (role != ROLE_NONE && history_turns_about(rehearsal->history, said->seq, 0) > 0)
		step_keep(rehearsal, message_new(said, payload, said->seq, said->time_us), role, said->seq);
	if (strcmp(said->topic, topic_send_claim.name) == 0) {
		claimed = map_get(rehearsal->pending, map_number(&said->cause));
		if (claimed)
			claimed->as_it_did_from = said->seq;
	}
}

/* --- the beginning of the window --- */

static void say_document(struct rehearsal *rehearsal, const struct rehearsal_document *text)
{
	Document *document = memory_new(sizeof(*document));
	struct buffer payload = { 0 };
	struct message_meta said = { .topic = topic_document.name,
		.shop = rehearsal->plan->shop,
		.key = text->kind,
		.idem = "",
		.trace = "",
		.said_by = "rehearsal",
		.seq = rehearsal->plan->from_seq,
		.version = NEWEST,
		.time_us = rehearsal->plan->from_us };
	pb_ostream_t stream;
	size_t len = 0;

	document->version = NEWEST;
	document->at_us = rehearsal->plan->from_us;
	TEXT_COPY(document->kind, text->kind);
	document_set_text(document, bytes_of(text->text));
	snprintf(document->digest, sizeof(document->digest), "rehearsed-%016llx",
		(unsigned long long)text_hash(bytes_of(text->text)));
	TEXT_COPY(document->source, "the rehearsed text");
	if (pb_get_encoded_size(&len, &Document_msg, document)) {
		stream = pb_ostream_from_buffer(buffer_grow(&payload, len), len);
		payload.len = len;
		if (pb_encode(&stream, &Document_msg, document))
			services_under_test_fold(rehearsal->under_test, &said, buffer_bytes(&payload), ROLE_NONE);
	}
	buffer_free(&payload);
	free(document);
}

static void finish_history(struct rehearsal *rehearsal)
{
	if (!rehearsal->closed)
		history_close(rehearsal->history);
	rehearsal->closed = true;
}

static void open_window(struct rehearsal *rehearsal)
{
	if (rehearsal->opened)
		return;
	rehearsal->opened = true;
	rehearsal->now_us = rehearsal->plan->from_us;
	for (int i = 0; i < rehearsal->plan->document_count; i++)
		say_document(rehearsal, &rehearsal->plan->documents[i]);
	schedule_open(rehearsal);
}

/* --- in the window --- */

/*
 * true: the message is taken from history. This holds for a message that no rehearsed service says; an alarm;
 * a purchase, also one that the storefront told the sender; an outcome that an operator said; and a fact
 * about a message whose outcome is history's (as_it_did_from).
 */
static bool is_history(const struct rehearsal *rehearsal, const struct message_meta *said)
{
	const struct pending *about;

	if (!services_under_test_says(rehearsal->under_test, said->topic) ||
		strcmp(said->topic, topic_cart_checkout.name) == 0 || strcmp(said->topic, topic_alarm.name) == 0)
		return true;
	if (said->cause == 0)
		return text_starts(said->topic, "reminder.");
	about = map_get(rehearsal->pending, map_number(&said->cause));
	return about && about->as_it_did_from && about->as_it_did_from <= said->seq;
}

static void hear_firing(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload)
{
	TimerFired fired;

	if (strcmp(said->topic, topic_cart_wake.name) == 0) {
		rehearsal->wake_seq = said->seq;
		TEXT_COPY(rehearsal->wake_key, said->key);
	} else if (strcmp(said->topic, topic_timer_fired.name) == 0 &&
		rehearsal_read(payload, &TimerFired_msg, &fired)) {
		schedule_fire_as_it_did(rehearsal, &fired);
		rehearsal->wake_seq = 0;
	}
}

static void play(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload)
{
	step_turns(rehearsal, said->seq);
	schedule_run(rehearsal, said->time_us);
	rehearsal->seq = said->seq;
	rehearsal->now_us = said->time_us;
	step_unsaid(rehearsal, said->seq);
	rehearsal->now_us = said->time_us;
	totals_hear(rehearsal->totals, said, payload, true);
	if (is_history(rehearsal, said))
		step_publish(rehearsal, message_new(said, payload, said->seq, said->time_us), ROLE_NONE, said->seq);
	else
		hear_firing(rehearsal, said, payload);
}

void rehearsal_hear(struct rehearsal *rehearsal, const struct message_meta *said, struct bytes payload)
{
	finish_history(rehearsal);
	rehearsal->counts.messages++;
	if (said->seq < rehearsal->plan->from_seq) {
		remember(rehearsal, said, payload);
		return;
	}
	open_window(rehearsal);
	play(rehearsal, said, payload);
}

void rehearsal_end(struct rehearsal *rehearsal)
{
	finish_history(rehearsal);
	open_window(rehearsal);
	step_turns(rehearsal, UINT64_MAX);
	step_unsaid(rehearsal, UINT64_MAX);
	schedule_run(rehearsal, history_end_us(rehearsal->history));
}

void rehearsal_each(const struct rehearsal *rehearsal, rehearsed_fn *each, void *context)
{
	totals_each(rehearsal->totals, each, context);
}

bool rehearsal_cart(const struct rehearsal *rehearsal, const char *cart_id, CartState *ret)
{
	const struct state *state = replay_state(services_under_test_replay(rehearsal->under_test, ROLE_WAITER));

	return STATE_GET(state, cart_rows, rehearsal->plan->shop, cart_id, ret);
}

struct rehearsal_counts rehearsal_counts(const struct rehearsal *rehearsal)
{
	struct rehearsal_counts counts = rehearsal->counts;

	counts.outages = history_outages(rehearsal->history);
	return counts;
}

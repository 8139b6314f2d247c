/*
 * recall.c: what was mailed, learnt from the state of services and said again
 *
 * Promises:  a step that was claimed is spent: sent if that is known, else ambiguous. Saying it twice changes nothing.
 * Read next: services/carts/policy/sends.c, recall_stops.c (what forbids a mail), restore.c
 */
#include "services/cartbus/backup/recall.h"

#include "bus/actor/state.h"
#include "bus/base/text.h"
#include "services/cartbus/core/reading.h"
#include "services/carts/policy/sends.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Several may know of it; that it was sent is the strongest word. */
static void note_send(const char *shop, const char *cart_id, int step, const struct send *send, void *context)
{
	const struct recall *recall = context;
	char name[200];

	if (!send_is_spent(send->phase) || send->at_us < recall->from_us)
		return;
	snprintf(name, sizeof(name), "%s/%s/%d", shop, cart_id, step);
	if (json_integer_value(json_object_get(json_object_get(recall->sends, name), "phase")) == SEND_SENT)
		return;
	json_object_set_new(recall->sends, name,
		json_pack("{s:s,s:s,s:i,s:i,s:I,s:I,s:I}", "shop", shop, "cart", cart_id, "step", step, "phase",
			(int)send->phase, "attempt", (json_int_t)send->attempt, "at_us", (json_int_t)send->at_us,
			"due_seq", (json_int_t)send->due_seq));
}

bool recall_is_kin(const struct recall *recall, const char *log_id)
{
	return strcmp(log_id, recall->log_id) == 0 || (*log_id && strcmp(log_id, recall->sidelog_id) == 0);
}

bool recall_is_covered(const struct recall *recall)
{
	return recall->has_sidelog || (recall->stops_to > 0 && recall->stops_to >= recall->known_to);
}

/* By its name: then it knows also that nothing was mailed, and remembers every stop. */
static bool keeps_account(const char *name)
{
	return text_starts(name, "sender") || text_starts(name, "waiter");
}

static void learn(struct recall *recall, const char *name, const struct state *state)
{
	bool is_same_log = strcmp(state_folder_log_id(state), recall->log_id) == 0, has_sends;
	uint64_t cursor = state_cursor(state);

	has_sends = sends_each(state, note_send, recall);
	recall_stops(recall, state, is_same_log);
	recall->accounts += has_sends || (keeps_account(name) && cursor > 0);
	if (!is_same_log)
		return; /* its numbers are another log's */
	if (cursor > recall->known_to)
		recall->known_to = cursor;
	if (keeps_account(name) && cursor > recall->stops_to)
		recall->stops_to = cursor;
}

int recall_folder(struct recall *recall, const char *name, const char *path)
{
	const struct command *command = recall->command;
	struct state *state = NULL;
	char why[512] = "";
	int r = state_open_folder(path, &state, why);

	if (r == -EUCLEAN)
		complain(command, "%s is damaged, and what it knew is not learnt: %s", path, why);
	else if (r < 0)
		complain(command, "%s cannot be read, and may know what was mailed: %s", path, why);
	if (r < 0)
		return r;
	recall->has_other_log |= state_cursor(state) > 0 && strcmp(state_folder_log_id(state), recall->log_id) != 0;
	if (recall_is_kin(recall, state_folder_log_id(state)))
		learn(recall, name, state);
	state_close_folder(state);
	return 0;
}

static const struct topic *topic_of_phase(enum send_phase phase)
{
	switch (phase) {
	case SEND_SENT:
		return &topic_reminder_sent;
	case SEND_REFUSED:
		return &topic_reminder_refused;
	case SEND_SKIPPED:
		return &topic_reminder_skipped;
	case SEND_NONE:
	case SEND_RELEASED:
	case SEND_CLAIMED:
	case SEND_AMBIGUOUS:
		break;
	}
	return &topic_reminder_ambiguous;
}

static int say_one(struct client *client, const json_t *send, char why[256])
{
	const char *shop = json_string_value(json_object_get(send, "shop"));
	const char *cart = json_string_value(json_object_get(send, "cart"));
	ReminderOutcome outcome = {
		.step = (uint32_t)json_integer_value(json_object_get(send, "step")),
		.attempt = (uint32_t)json_integer_value(json_object_get(send, "attempt")),
		.due_seq = (uint64_t)json_integer_value(json_object_get(send, "due_seq")),
		.at_us = json_integer_value(json_object_get(send, "at_us")),
	};
	const struct topic *topic = topic_of_phase((enum send_phase)json_integer_value(json_object_get(send, "phase")));
	struct client_said said;
	char idem[160];

	if (!shop || !cart || !TEXT_COPY(outcome.cart_id, cart)) {
		snprintf(why, 256, "the note of the restore is damaged");
		return -EINVAL;
	}
	TEXT_COPY(outcome.reason, "restored learnt from the state of a service; the log had forgotten it");
	snprintf(idem, sizeof(idem), "restored/%s/%u/%u", cart, (unsigned)outcome.step, (unsigned)outcome.attempt);
	return client_publish(client, topic, &(struct publish_options){ .shop = shop, .key = cart, .idem = idem },
		&outcome, &said, why);
}

int recall_say(const struct command *command, json_t *sends)
{
	struct client *client = command_connect(command);
	int ended = EXIT_FINE;
	const char *name;
	json_t *send;
	char why[256];

	json_object_foreach(sends, name, send)
	{
		if (ended == EXIT_FINE && say_one(client, send, why) < 0) {
			complain(command, "what was mailed could not be said: %s; run it again", why);
			ended = EXIT_NO;
		}
	}
	client_free(client);
	return ended;
}

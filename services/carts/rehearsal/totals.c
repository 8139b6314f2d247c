/*
 * totals.c: collects the results of each step, in history and in the rehearsal
 *
 * Promises:  of several results of one step the most final one counts, as in carts/policy/sends.h; in a shop
 *            that is only observed, the first time at which the step would have been sent.
 */
#include "services/carts/rehearsal/totals.h"
#include "bus/base/memory.h"
#include "bus/base/sorted_map.h"
#include "bus/base/text.h"
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>

struct row {
	struct rehearsed_end ends[2]; /* was, would */
	char address_hash[40];
};

struct totals {
	struct sorted_map *rows; /* cart id, NUL, step */
};

struct totals *totals_new(void)
{
	struct totals *totals = memory_new(sizeof(*totals));

	totals->rows = sorted_map_new();
	return totals;
}

void totals_free(struct totals *totals)
{
	if (!totals)
		return;
	sorted_map_free(totals->rows);
	free(totals);
}

struct note {
	const char *cart_id, *address_hash;
	uint32_t step;
	enum step_end end;
	int64_t at_us;
};

static void note(struct totals *totals, const struct note *note, bool really)
{
	char room[100];
	int len = snprintf(room, sizeof(room), "%s%c%u", note->cart_id, '\0', (unsigned)note->step);
	struct bytes key = BYTES(room, (size_t)len);
	const struct sorted_map_entry *known = sorted_map_find(totals->rows, key);
	struct rehearsed_end *end;
	struct row row = { 0 };

	if (known)
		memcpy(&row, sorted_map_value(known).data, sizeof(row));
	end = &row.ends[really ? 0 : 1];
	if (end->end >= note->end)
		return;
	*end = (struct rehearsed_end){ note->end, note->at_us };
	TEXT_COPY(row.address_hash, note->address_hash);
	sorted_map_put(totals->rows, key, BYTES(&row, sizeof(row)), 0);
}

static bool read_as(struct bytes payload, const pb_msgdesc_t *fields, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, fields, ret);
}

static void hear_outcome(struct totals *totals, struct bytes payload, enum step_end end, bool really)
{
	ReminderOutcome outcome;

	if (!read_as(payload, &ReminderOutcome_msg, &outcome))
		return;
	note(totals,
		&(struct note){ outcome.cart_id, outcome.address_hash, outcome.step,
			end == STEP_SENT && outcome.to_owner ? STEP_OWNER : end, outcome.at_us },
		really);
}

/* In a shop that is only observed, only the waiter's audits tell which steps would have been sent. */
static void hear_audit(struct totals *totals, struct bytes payload, bool really)
{
	Audit audit;

	if (!read_as(payload, &Audit_msg, &audit))
		return;
	if (strcmp(audit.action, "would_send_first") == 0)
		note(totals, &(struct note){ audit.cart_id, audit.address_hash, 1, STEP_WOULD, audit.at_us }, really);
	if (strcmp(audit.action, "would_send_second") == 0)
		note(totals, &(struct note){ audit.cart_id, audit.address_hash, 2, STEP_WOULD, audit.at_us }, really);
}

void totals_hear(struct totals *totals, const struct message_meta *said, struct bytes payload, bool really)
{
	static const struct {
		const struct topic *topic;
		enum step_end end;
	} ends[] = { { &topic_reminder_sent, STEP_SENT }, { &topic_reminder_refused, STEP_REFUSED },
		{ &topic_reminder_ambiguous, STEP_MAYBE }, { &topic_reminder_skipped, STEP_SKIPPED } };

	if (strcmp(said->topic, topic_audit.name) == 0)
		hear_audit(totals, payload, really);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (strcmp(said->topic, ends[i].topic->name) == 0)
			hear_outcome(totals, payload, ends[i].end, really);
	}
}

void totals_each(const struct totals *totals, rehearsed_fn *each, void *context)
{
	for (struct sorted_map_entry *entry = sorted_map_first(totals->rows); entry; entry = sorted_map_next(entry)) {
		struct rehearsed step = { .cart_id = sorted_map_key(entry).data };
		struct row row;

		memcpy(&row, sorted_map_value(entry).data, sizeof(row));
		step.step = step.cart_id[sorted_map_key(entry).len - 1] - '0';
		step.was = row.ends[0];
		step.would = row.ends[1];
		step.address_hash = row.address_hash;
		each(&step, context);
	}
}

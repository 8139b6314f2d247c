/*
 * looks.c: what changed between two looks
 *
 * Promises:  pure but for what it holds. A process that was started anew, or whose counts a new broker has not heard yet, is not taken
 *            for one that did nothing or everything at once: only looks count that have its counts, of the same run.
 * Read next: top_figures.c
 */
#include "services/cartbus/watch/looks.h"
#include "bus/base/clock.h"
#include "services/cartbus/core/json_file.h"
#include <string.h>

#define KEPT_FOR_US US_PER_MINUTE

static void drop_first(struct looks *looks)
{
	json_decref(looks->each[0].status);
	memmove(looks->each, looks->each + 1, (size_t)(--looks->count) * sizeof(looks->each[0]));
}

void looks_add(struct looks *looks, json_t *status, int64_t at_us)
{
	while (looks->count == LOOKS_MAX || (looks->count > 1 && looks->each[0].at_us < at_us - KEPT_FOR_US))
		drop_first(looks);
	looks->each[looks->count++] = (struct look){ .status = json_incref(status), .at_us = at_us };
}

void looks_forget(struct looks *looks)
{
	while (looks->count > 0)
		drop_first(looks);
}

double looks_messages_s(const struct looks *looks, int at)
{
	const struct look *now, *before;
	double grown;

	if (at < 1 || at >= looks->count)
		return -1;
	now = &looks->each[at];
	before = now - 1;
	grown = json_number_value(json_object_get(now->status, "head")) -
		json_number_value(json_object_get(before->status, "head"));
	if (grown < 0 || now->at_us <= before->at_us ||
		strcmp(member_text(now->status, "log"), member_text(before->status, "log")) != 0)
		return -1;
	return grown * US_PER_S / (double)(now->at_us - before->at_us);
}

static const json_t *find_run(const json_t *status, const char *run)
{
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(member_text(session, "run"), run) == 0)
			return session;
	}
	return NULL;
}

static double count_of(const json_t *session, const char *name)
{
	return json_number_value(json_object_get(json_object_get(session, "counts"), name));
}

struct counted looks_counted(const struct looks *looks, const json_t *session, const char *name, int64_t within_us)
{
	const struct look *now = &looks->each[looks->count - 1];

	for (int i = 0; i < looks->count - 1; i++) {
		const struct look *before = &looks->each[i];
		const json_t *was = find_run(before->status, member_text(session, "run"));
		double amount;

		if (before->at_us < now->at_us - within_us || !was ||
			json_object_size(json_object_get(was, "counts")) == 0)
			continue;
		amount = count_of(session, name) - count_of(was, name);
		if (amount >= 0)
			return (struct counted){ .amount = amount,
				.seconds = (double)(now->at_us - before->at_us) / US_PER_S };
	}
	return (struct counted){ 0 };
}

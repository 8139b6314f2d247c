/*
 * table.c: calls the functions of a service's table
 *
 * Owns:      the two buffers that messages are decoded into.
 * Promises:  a message reaches only the function that is declared for its topic.
 */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/turns.h"
#include "bus/base/memory.h"
#include "bus/wire/codec.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct table {
	const struct service *service;
	void *heard;
	void *remembered;
};

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

const struct hears *service_hears(const struct service *service, size_t n)
{
	for (SERVICE_ROWS(hears, row, service->hears))
		if (n-- == 0)
			return row;
	for (const struct hears *const *table = service->hears_also; table && *table; table++)
		for (SERVICE_ROWS(hears, row, *table))
			if (n-- == 0)
				return row;
	return NULL;
}

const struct remembers *service_remembers(const struct service *service, size_t n)
{
	for (SERVICE_ROWS(remembers, row, service->remembers))
		if (n-- == 0)
			return row;
	for (const struct remembers *const *table = service->remembers_also; table && *table; table++)
		for (SERVICE_ROWS(remembers, row, *table))
			if (n-- == 0)
				return row;
	return NULL;
}

/* The row of one table for this topic; NULL: it has none. */
static const struct hears *hears_in(const struct hears *rows, const char *topic)
{
	for (SERVICE_ROWS(hears, row, rows))
		if (strcmp(row->topic->name, topic) == 0)
			return row;
	return NULL;
}

static const struct remembers *remembers_in(const struct remembers *rows, const char *topic)
{
	for (SERVICE_ROWS(remembers, row, rows))
		if (strcmp(row->topic->name, topic) == 0)
			return row;
	return NULL;
}

const struct hears *service_hears_topic(const struct service *service, const char *topic)
{
	const struct hears *found = hears_in(service->hears, topic);

	for (const struct hears *const *table = service->hears_also; !found && table && *table; table++)
		found = hears_in(*table, topic);
	return found;
}

const struct remembers *service_remembers_topic_nth(const struct service *service, const char *topic, size_t n)
{
	const struct remembers *found = remembers_in(service->remembers, topic);

	if (found && n-- == 0)
		return found;
	for (const struct remembers *const *table = service->remembers_also; table && *table; table++) {
		found = remembers_in(*table, topic);
		if (found && n-- == 0)
			return found;
	}
	return NULL;
}

const struct remembers *service_remembers_topic(const struct service *service, const char *topic)
{
	return service_remembers_topic_nth(service, topic, 0);
}

static const struct topic *nth(const struct topic *const *says, size_t *n)
{
	for (; says && *says; says++)
		if ((*n)-- == 0)
			return *says;
	return NULL;
}

const struct topic *service_says(const struct service *service, size_t n)
{
	const struct topic *found = nth(service->says, &n);

	for (const struct topic *const *const *table = service->says_also; !found && table && *table; table++)
		found = nth(*table, &n);
	return found;
}

const char *topic_blob(const struct topic *topic, const void *message, size_t i)
{
	for (const size_t *at = topic->blobs; at && *at != TOPIC_NOWHERE; at++) {
		const char *name = (const char *)message + *at;

		if (*name && i-- == 0)
			return name;
	}
	return NULL;
}

const struct topic *topic_named(const struct topic *const *topics, const char *name)
{
	for (; topics && *topics; topics++)
		if (strcmp((*topics)->name, name) == 0)
			return *topics;
	return NULL;
}

const struct topic *service_says_topic(const struct service *service, const char *name)
{
	const struct topic *found = topic_named(service->says, name);

	for (const struct topic *const *const *table = service->says_also; !found && table && *table; table++)
		found = topic_named(*table, name);
	return found;
}

struct table *table_new(const struct service *service)
{
	struct table *table = memory_new(sizeof(*table));
	const struct remembers *remembered_row;
	const struct hears *heard_row;
	size_t heard = 1, remembered = 1;

	for (size_t i = 0; (heard_row = service_hears(service, i)); i++)
		heard = larger(heard, heard_row->topic->size);
	for (size_t i = 0; (remembered_row = service_remembers(service, i)); i++)
		remembered = larger(remembered, remembered_row->topic->size);
	table->service = service;
	table->heard = memory_new(heard);
	table->remembered = memory_new(remembered);
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	free(table->heard);
	free(table->remembered);
	free(table);
}

const struct service *table_service(const struct table *table)
{
	return table->service;
}

const struct hears *table_hears(const struct table *table, const char *topic)
{
	return service_hears_topic(table->service, topic);
}

bool table_remembers(const struct table *table, const char *topic)
{
	return service_remembers_topic(table->service, topic) != NULL;
}

bool table_says(const struct table *table, const struct topic *topic)
{
	return service_says_topic(table->service, topic->name) != NULL;
}

bool topic_read(const struct topic *topic, struct bytes payload, void *ret_message)
{
	return codec_read(codec_of(topic->message), payload, ret_message) == 0;
}

const void *table_decode(struct table *table, const struct topic *topic, struct bytes payload)
{
	assert(table_hears(table, topic->name));
	return topic_read(topic, payload, table->heard) ? table->heard : NULL;
}

/* How long rows that a fold writes for this message last (state_layers.h). */
static enum row_life life_of(const struct remembers *row, const struct message_meta *said)
{
	switch (row->topic->retention) {
	case RETAIN_RAW:
		return ROW_RAW;
	case RETAIN_KEEP:
	case RETAIN_CLAIM:
		return row->passing ? ROW_ENDED : ROW_STAYS;
	case RETAIN_FACT:
		break;
	}
	if (!row->topic->group)
		return ROW_FACT;
	return said->tombstone ? ROW_ENDED : ROW_STANDS;
}

/* Calls the fold of this topic in each table of the service. `projected`: rows get the life of the row that wrote them. */
static void fold_all(const struct service *service, struct state *state, const struct message_meta *said,
	const void *fact, bool projected)
{
	const struct remembers *row;

	for (size_t n = 0; (row = service_remembers_topic_nth(service, said->topic, n)); n++) {
		if (projected)
			state_write_fact(state, life_of(row, said), said->seq);
		state_begin_fold(state);
		row->topic->fold(row->fold, state, said, fact);
		state_end_fold(state);
	}
}

int table_fold(struct table *table, struct state *state, const struct message_meta *said, struct bytes payload)
{
	const struct remembers *row = service_remembers_topic(table->service, said->topic);

	if (!row)
		return -ENOENT;
	if (!topic_read(row->topic, payload, table->remembered))
		return -EBADMSG;
	fold_all(table->service, state, said, table->remembered, true);
	return 0;
}

bool table_fold_decoded(
	const struct table *table, struct state *state, const struct message_meta *said, const void *message)
{
	fold_all(table->service, state, said, message, false);
	return table_remembers(table, said->topic);
}

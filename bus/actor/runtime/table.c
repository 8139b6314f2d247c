/*
 * table.c: a service's table at work
 *
 * Owns:     the two buffers that messages are decoded into.
 * Promises: a message meets only the function that is declared for its topic.
 */
#include "bus/actor/runtime/table.h"
#include "bus/actor/runtime/layers.h"
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

struct table *table_new(const struct service *service)
{
	struct table *table = memory_new(sizeof(*table));
	size_t heard = 1, remembered = 1;

	for (const struct hears *row = service->hears; row < service->hears + SERVICE_HEARS_MAX && row->topic; row++)
		heard = larger(heard, row->topic->size);
	for (const struct remembers *row = service->remembers;
		row < service->remembers + SERVICE_REMEMBERS_MAX && row->topic; row++)
		remembered = larger(remembered, row->topic->size);
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
	const struct hears *rows = table->service->hears;

	for (int i = 0; i < SERVICE_HEARS_MAX && rows[i].topic; i++)
		if (strcmp(rows[i].topic->name, topic) == 0)
			return &rows[i];
	return NULL;
}

static const struct remembers *remembers(const struct table *table, const char *topic)
{
	const struct remembers *rows = table->service->remembers;

	for (int i = 0; i < SERVICE_REMEMBERS_MAX && rows[i].topic; i++)
		if (strcmp(rows[i].topic->name, topic) == 0)
			return &rows[i];
	return NULL;
}

bool table_remembers(const struct table *table, const char *topic)
{
	return remembers(table, topic) != NULL;
}

bool table_says(const struct table *table, const struct topic *topic)
{
	const struct topic *const *rows = table->service->says;

	for (int i = 0; i < SERVICE_SAYS_MAX && rows[i]; i++)
		if (strcmp(rows[i]->name, topic->name) == 0)
			return true;
	return false;
}

static bool decode(const struct topic *topic, struct bytes payload, void *ret)
{
	return codec_read(codec_of(topic->message), payload, ret) == 0;
}

const void *table_decode(struct table *table, const struct topic *topic, struct bytes payload)
{
	assert(table_hears(table, topic->name));
	return decode(topic, payload, table->heard) ? table->heard : NULL;
}

/* How long what is written about this lasts (layers.h). */
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

int table_fold(struct table *table, struct state *state, const struct message_meta *said, struct bytes payload)
{
	const struct remembers *row = remembers(table, said->topic);

	if (!row)
		return -ENOENT;
	if (!decode(row->topic, payload, table->remembered))
		return -EBADMSG;
	state_write_fact(state, life_of(row, said), said->seq);
	row->fold(state, said, table->remembered);
	return 0;
}

bool table_fold_decoded(
	const struct table *table, struct state *state, const struct message_meta *said, const void *message)
{
	const struct remembers *row = remembers(table, said->topic);

	if (row)
		row->fold(state, said, message);
	return row != NULL;
}

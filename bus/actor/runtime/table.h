/*
 * table.h: a service's table at work: which function a message goes to, decoded for it
 *
 * One buffer for what is heard and one for what is remembered serve all topics: decoded messages are large (some take 50 KB)
 * and live only for the call.
 */
#ifndef ACTOR_RUNTIME_TABLE_H
#define ACTOR_RUNTIME_TABLE_H

#include "bus/actor/service.h"

struct table;

struct table *table_new(const struct service *service);
void table_free(struct table *table); /* takes NULL */
const struct service *table_service(const struct table *table);

const struct hears *table_hears(const struct table *table, const char *topic); /* NULL: not heard */
bool table_remembers(const struct table *table, const char *topic);
bool table_says(const struct table *table, const struct topic *topic);

/* NULL: the payload is not such a message. Borrowed until the next table_decode. */
const void *table_decode(struct table *table, const struct topic *topic, struct bytes payload);
/* -ENOENT: not remembered; -EBADMSG: the payload is not such a message. */
int table_fold(struct table *table, struct state *state, const struct message_meta *said, struct bytes payload);
/* The same for a message that is decoded already; false: not remembered. */
bool table_fold_decoded(
	const struct table *table, struct state *state, const struct message_meta *said, const void *message);

#endif

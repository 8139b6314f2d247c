/*
 * claim.c: a claim waits until no gateway can hold a stop that nobody has seen
 *
 * Owns:      the durable list of gateways (rows gateway/<name> of family meta), the parked claims, the held answers.
 * Promises:  a claim gets its number, and its answer leaves, only at moments when every gateway that ever said hello has a live
 *            session, an empty spool, and a promise that still holds not to answer from it. Of a log that got another identity
 *            none at all, until the operator releases them: it may have forgotten what was mailed.
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char PREFIX[] = "gateway/";

struct parked_claim {
	struct list hook;
	uint64_t epoch;
	uint64_t request;
	struct buffer message;
};

struct asking {
	const struct broker *broker;
	bool all;
};

static bool gateway_is_drained(const struct broker *broker, struct bytes name)
{
	LIST_EACH (hook, &broker->sessions) {
		const struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (!session->gateway || !bytes_equal(bytes_of(session->instance), name))
			continue;
		return session->spooled == 0 && session->promise_from_us > 0 &&
			broker_boot_us(broker) - session->promise_from_us < broker->settings.gateway_promise_us;
	}
	return false;
}

static void ask_gateway(struct bytes name, void *value, void *context)
{
	struct asking *asking = context;

	(void)value;
	if (!gateway_is_drained(asking->broker, name))
		asking->all = false;
}

bool gateways_drained(const struct broker *broker)
{
	struct asking asking = { .broker = broker, .all = !broker->claims_held };

	map_each(broker->gateways, ask_gateway, &asking);
	return asking.all;
}

bool claims_free_again(struct broker *broker)
{
	bool held = broker->claims_held;

	broker->claims_held = false;
	store_batch_delete(broker->batch, FAMILY_META, bytes_of(CLAIMS_HELD));
	claims_stir(broker);
	return held;
}

static int read_held(struct broker *broker)
{
	struct buffer row = { 0 };
	int r = store_get(broker->store, FAMILY_META, bytes_of(CLAIMS_HELD), &row);

	broker->claims_held = r == 0;
	buffer_free(&row);
	return r == -ENOENT ? 0 : r;
}

int gateways_open(struct broker *broker)
{
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_META);
	size_t prefix = sizeof(PREFIX) - 1;
	int r;

	for (bool more = store_cursor_seek(cursor, bytes_of(PREFIX)); more; more = store_cursor_next(cursor)) {
		struct bytes key = store_cursor_key(cursor);

		if (key.len < prefix || memcmp(key.data, PREFIX, prefix) != 0)
			break;
		map_put(broker->gateways, BYTES((const char *)key.data + prefix, key.len - prefix), broker);
	}
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r < 0 ? r : read_held(broker);
}

void gateway_meet(struct broker *broker, const char *name)
{
	char key[sizeof(PREFIX) + 64];

	if (map_put(broker->gateways, bytes_of(name), broker))
		return;
	snprintf(key, sizeof(key), "%s%s", PREFIX, name);
	store_batch_put(broker->batch, FAMILY_META, bytes_of(key), bytes_of("1"));
}

bool gateway_strike(struct broker *broker, const char *name)
{
	char key[sizeof(PREFIX) + 64];

	if (!map_remove(broker->gateways, bytes_of(name)))
		return false;
	snprintf(key, sizeof(key), "%s%s", PREFIX, name);
	store_batch_delete(broker->batch, FAMILY_META, bytes_of(key));
	return true;
}

void claim_park(struct broker *broker, const struct session *session, uint64_t request, struct bytes message)
{
	struct parked_claim *claim = memory_new(sizeof(*claim));

	claim->epoch = session->epoch;
	claim->request = request;
	buffer_add(&claim->message, message.data, message.len);
	list_append(&broker->parked, &claim->hook);
}

static void claim_free(struct parked_claim *claim)
{
	list_remove(&claim->hook);
	buffer_free(&claim->message);
	free(claim);
}

void claims_retry(struct broker *broker)
{
	if (list_empty(&broker->parked) || !gateways_drained(broker))
		return;
	LIST_EACH_SAFE (hook, &broker->parked) {
		struct parked_claim *claim = LIST_ENTRY(hook, struct parked_claim, hook);
		struct session *session = session_by_epoch(broker, claim->epoch);

		if (session)
			hear_publish(broker, session, claim->request, buffer_bytes(&claim->message));
		claim_free(claim);
	}
}

void claims_stir(struct broker *broker)
{
	if (claims_parked(broker) > 0 && gateways_drained(broker))
		broker->stirred = true;
}

/* A claim that its owner did not live to see numbered is released. */
void claims_forget(struct broker *broker, uint64_t epoch)
{
	LIST_EACH_SAFE (hook, &broker->parked) {
		struct parked_claim *claim = LIST_ENTRY(hook, struct parked_claim, hook);

		if (claim->epoch == epoch)
			claim_free(claim);
	}
}

size_t claims_parked(const struct broker *broker)
{
	size_t count = 0;

	LIST_EACH (hook, &broker->parked)
		count++;
	LIST_EACH (hook, &broker->held)
		count++;
	return count;
}

void claims_release(struct broker *broker)
{
	if (list_empty(&broker->held) || !gateways_drained(broker))
		return;
	LIST_EACH_SAFE (hook, &broker->held) {
		struct answer *answer = LIST_ENTRY(hook, struct answer, hook);
		struct session *session = session_by_epoch(broker, answer->epoch);

		if (session) {
			session->wants_progress = true;
			answer_say(broker, session, answer);
		}
		answer_free(answer);
	}
}

void claims_free(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->parked)
		claim_free(LIST_ENTRY(hook, struct parked_claim, hook));
	LIST_EACH_SAFE (hook, &broker->held)
		answer_free(LIST_ENTRY(hook, struct answer, hook));
}

/*
 * claim.c: keeps a claim waiting until no gateway can hold a stop that the broker has not seen
 *
 * Owns:      the durable list of gateways (rows gateway/<name> of family meta), the parked claims, the held
 *            answers.
 * Promises:  a claim gets its number, and its answer leaves, only while every gateway that ever said hello
 *            has a live session, an empty spool, and a promise that still holds not to answer from the spool.
 *            In a log that got another identity no claim is answered until the operator releases them: the
 *            log may have forgotten that a mail was sent.
 */
#include "bus/broker/queue/claim.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/commit.h"
#include "bus/broker/session/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char PREFIX[] = "gateway/", UNOWNED[] = "1";

struct gateway {
	char owner[WHO_MAX]; /* its identity; empty: not known, or any number is allowed */
};

struct parked_claim {
	struct list hook;
	uint64_t epoch;
	uint64_t request;
	struct buffer message;
};

struct claims {
	struct list parked;   /* struct parked_claim */
	struct list held;     /* struct answer: claims that are committed and wait for the gateways again */
	bool all_held;        /* since the log got another identity */
	struct map *gateways; /* name -> struct gateway: every gateway that ever said hello */
};

struct claims *claims_new(void)
{
	struct claims *claims = memory_new(sizeof(*claims));

	claims->gateways = map_new();
	list_init(&claims->parked);
	list_init(&claims->held);
	return claims;
}

struct asking {
	const struct broker *broker;
	bool all;
};

static bool gateway_is_drained(const struct broker *broker, struct bytes name)
{
	LIST_EACH (hook, &broker->sessions->all) {
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
	struct asking asking = { .broker = broker, .all = !broker->claims->all_held };

	map_each(broker->claims->gateways, ask_gateway, &asking);
	return asking.all;
}

bool claims_are_held(const struct broker *broker)
{
	return broker->claims->all_held;
}

void gateways_each(
	const struct broker *broker, void (*each)(struct bytes name, void *value, void *context), void *context)
{
	map_each(broker->claims->gateways, each, context);
}

bool claims_free_again(struct broker *broker)
{
	bool held = broker->claims->all_held;

	broker->claims->all_held = false;
	store_batch_delete(broker->batch, FAMILY_META, bytes_of(CLAIMS_HELD));
	claims_stir(broker);
	return held;
}

static int read_held(struct broker *broker)
{
	struct buffer row = { 0 };
	int r = store_get(broker->store, FAMILY_META, bytes_of(CLAIMS_HELD), &row);

	broker->claims->all_held = r == 0;
	buffer_free(&row);
	return r == -ENOENT ? 0 : r;
}

/* Releases before 0.2.0 wrote "1" and did not name the owner. */
static void note_gateway(struct broker *broker, struct bytes name, struct bytes owner)
{
	struct gateway *gateway = memory_new(sizeof(*gateway));

	if (!bytes_equal(owner, bytes_of(UNOWNED)))
		text_copy_bytes(gateway->owner, sizeof(gateway->owner), owner);
	free(map_put(broker->claims->gateways, name, gateway));
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
		note_gateway(
			broker, BYTES((const char *)key.data + prefix, key.len - prefix), store_cursor_value(cursor));
	}
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r < 0 ? r : read_held(broker);
}

static void name_owner(const struct broker *broker, const char *who, char ret[WHO_MAX])
{
	const struct identity *identity = broker->registry ? registry_find(broker->registry, who) : NULL;

	if (!identity || identity->names == IDENTITY_NAMES_MOST)
		snprintf(ret, WHO_MAX, "%s", UNOWNED);
	else
		snprintf(ret, WHO_MAX, "%s %s", identity->is_user ? "user" : "key", identity->name);
}

void gateway_meet(struct broker *broker, const char *name, const char *who)
{
	const struct gateway *known = map_get(broker->claims->gateways, bytes_of(name));
	char key[sizeof(PREFIX) + 64], owner[WHO_MAX];

	name_owner(broker, who, owner);
	if (known && (known->owner[0] || strcmp(owner, UNOWNED) == 0))
		return;
	note_gateway(broker, bytes_of(name), bytes_of(owner));
	snprintf(key, sizeof(key), "%s%s", PREFIX, name);
	store_batch_put(broker->batch, FAMILY_META, bytes_of(key), bytes_of(owner));
}

struct counting {
	const char *owner;
	uint32_t count;
	char names[160]; /* as many names as fit */
};

static void count_owned(struct bytes name, void *value, void *context)
{
	const struct gateway *gateway = value;
	struct counting *counting = context;
	size_t len = strlen(counting->names);

	if (strcmp(gateway->owner, counting->owner) != 0)
		return;
	counting->count++;
	snprintf(counting->names + len, sizeof(counting->names) - len, "%s%.*s", len ? ", " : "", (int)name.len,
		(const char *)name.data);
}

bool gateway_is_one_too_many(
	struct broker *broker, const char *name, const struct identity *identity, const char *who, char ret_why[256])
{
	struct counting counting = { .owner = "" };
	uint32_t most = identity_gateways_most(identity);
	char owner[WHO_MAX];

	if (map_get(broker->claims->gateways, bytes_of(name)) || identity->names == IDENTITY_NAMES_MOST)
		return false;
	name_owner(broker, who, owner);
	counting.owner = owner;
	map_each(broker->claims->gateways, count_owned, &counting);
	if (counting.count < most)
		return false;
	snprintf(ret_why, 256,
		"the %.70s may be %u gateways (\"names\") and was %.80s: strike one off that is gone (cartbus gateway "
		"strike), or allow more",
		owner, most, counting.names);
	return true;
}

bool gateway_strike(struct broker *broker, const char *name)
{
	char key[sizeof(PREFIX) + 64];

	struct gateway *gateway = map_remove(broker->claims->gateways, bytes_of(name));

	if (!gateway)
		return false;
	free(gateway);
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
	list_append(&broker->claims->parked, &claim->hook);
}

static void claim_free(struct parked_claim *claim)
{
	list_remove(&claim->hook);
	buffer_free(&claim->message);
	free(claim);
}

void claims_retry(struct broker *broker)
{
	if (list_empty(&broker->claims->parked) || !gateways_drained(broker))
		return;
	LIST_EACH_SAFE (hook, &broker->claims->parked) {
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
		broker->needs_dispatch = true;
}

/* Releases the parked claims of a session that ended before they were numbered. */
void claims_forget(struct broker *broker, uint64_t epoch)
{
	LIST_EACH_SAFE (hook, &broker->claims->parked) {
		struct parked_claim *claim = LIST_ENTRY(hook, struct parked_claim, hook);

		if (claim->epoch == epoch)
			claim_free(claim);
	}
}

size_t claims_parked(const struct broker *broker)
{
	size_t count = 0;

	LIST_EACH (hook, &broker->claims->parked)
		count++;
	LIST_EACH (hook, &broker->claims->held)
		count++;
	return count;
}

void claim_hold(struct broker *broker, struct answer *answer)
{
	list_remove(&answer->hook);
	list_append(&broker->claims->held, &answer->hook);
}

void claims_release(struct broker *broker)
{
	if (list_empty(&broker->claims->held) || !gateways_drained(broker))
		return;
	LIST_EACH_SAFE (hook, &broker->claims->held) {
		struct answer *answer = LIST_ENTRY(hook, struct answer, hook);
		struct session *session = session_by_epoch(broker, answer->epoch);

		if (session) {
			session->wants_progress = true;
			answer_send(broker, session, answer);
		}
		answer_free(answer);
	}
}

static void free_gateway(struct bytes name, void *value, void *context)
{
	(void)name;
	(void)context;
	free(value);
}

void claims_free(struct claims *claims)
{
	map_each(claims->gateways, free_gateway, NULL);
	map_free(claims->gateways);
	LIST_EACH_SAFE (hook, &claims->parked)
		claim_free(LIST_ENTRY(hook, struct parked_claim, hook));
	LIST_EACH_SAFE (hook, &claims->held)
		answer_free(LIST_ENTRY(hook, struct answer, hook));
	free(claims);
}

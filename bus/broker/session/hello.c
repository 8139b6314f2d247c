/*
 * hello.c: a peer's hello: admitted, refused, or refused for now
 *
 * Promises:  every session gets an epoch and a mailbox that no other ever had. An exclusive service has one
 *            active instance. A peer that remembers more than the log holds is the proof that the log was
 *            shortened: the broker stops. A peer whose memory is proved wrong by the numbers that this start
 *            of the broker has given is refused itself, and no other peer is affected.
 * Read next: session.c, lease.c (leases that the peer still holds)
 */
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/admin/erase.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/log/retain.h"
#include "bus/broker/queue/claim.h"
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"
#include "bus/wire/protocol.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static void refuse_hello(struct broker *broker, struct bytes peer, const char *who, const char *reason, bool final)
{
	Control control = { .which_what = Control_refusal_tag };

	refused(broker, REFUSED_HELLO, who, NULL, "%s", reason);
	TEXT_COPY(control.what.refusal.reason, reason);
	control.what.refusal.final = final;
	control_now(broker, peer, &control);
}

/* One witness is enough: the other peers may remember less, but this is not the log that they knew. */
static void say_forgotten(struct broker *broker, const Hello *hello, const char *what)
{
	char found[400];

	snprintf(found, sizeof(found), "%s (%s says so): confirmed messages are missing", what, hello->instance);
	log_mark_forgotten(broker->log, found);
	broker->broken = -EUCLEAN;
	snprintf(broker->why, sizeof(broker->why),
		"%s. Put the newest state folder of the broker back; if it is gone for good, see cartbus-broker "
		"--new-identity",
		found);
}

/*
 * The peer remembers a number above the head that this very start would have given: it has given none, so the
 * peer's memory is false, not the log. The same holds for a peer that remembers numbers, or an opening, and
 * no log.
 */
static bool is_false_memory(const struct broker *broker, const Hello *hello, uint64_t remembered, char reason[256])
{
	bool names_log = hello->log[0] != '\0', is_above = remembered > log_head(broker->log);

	if (names_log ? !is_above || hello->opening != log_opening(broker->log) : !is_above && hello->opening == 0)
		return false;
	snprintf(reason, 256,
		"it says it learnt of message %llu, and %s: its state is damaged, or it is not what it "
		"says: " FOLDED_ANEW("the state folder of %.32s"),
		(unsigned long long)remembered,
		hello->log[0] == '\0' ? "names no log" : "this start of the broker has told of none above its head",
		hello->instance);
	return true;
}

/* The rights of this peer as this service; 0: the peer may not be this service. */
static unsigned rights_of(const struct broker *broker, const char *who, const char *service, const char *instance)
{
	const struct identity *identity = broker->registry ? registry_find(broker->registry, who) : NULL;

	if (!broker->registry)
		return RIGHTS_ALL;
	return identity && identity_may_be(identity, service, instance) ? identity->rights : 0;
}

/* The version of the protocol; 0: the peer and this broker have no version in common. */
static uint32_t spoken(const Hello *hello)
{
	return protocol_common(protocol_named(hello->version_least), protocol_named(hello->version));
}

/* Refused for now: a peer of another release waits until the broker is of that release, too. */
static bool is_of_another_release(const Hello *hello, char reason[256])
{
	if (spoken(hello) > 0)
		return false;
	snprintf(reason, 256,
		"%.40s speaks versions %u to %u of the protocol and this broker %d to %d: install the same release of "
		"cartbus on both sides",
		hello->instance, protocol_named(hello->version_least), protocol_named(hello->version), PROTOCOL_LEAST,
		PROTOCOL_MOST);
	return true;
}

/* The reason why this hello is refused for good; false: it is not. */
static bool is_refused(
	struct broker *broker, struct bytes routing, const char *who, const Hello *hello, char reason[256])
{
	uint64_t most = hello->remembered > hello->cursor ? hello->remembered : hello->cursor;

	reason[0] = '\0';
	if (routing.len > sizeof(((struct session *)0)->routing))
		snprintf(reason, 256, "its routing id is too long");
	else if (topology_peer(&broker->topology, hello->service) < 0)
		snprintf(reason, 256, "no peer \"%s\" is declared in topology.conf", hello->service);
	else if (hello->instance[0] == '\0' || !text_is_utf8(bytes_of(hello->instance)) ||
		text_has_control(hello->instance))
		snprintf(reason, 256, "an instance needs a printable name");
	else if (rights_of(broker, who, hello->service, hello->instance) == 0)
		snprintf(reason, 256,
			"%.20s may not be %.32s of service %.32s: see \"cartbus keys list\" for TCP, and [broker] "
			"users for this machine",
			who, hello->instance, hello->service);
	else if (hello->log[0] != '\0' && strcmp(hello->log, log_id(broker->log)) != 0)
		snprintf(reason, 256,
			"its state belongs to log %.32s and this is %.32s: if this is the one meant (restored, or "
			"begun anew), " FOLDED_ANEW("the state folder of %.32s"),
			hello->log, log_id(broker->log), hello->instance);
	else if (is_false_memory(broker, hello, most, reason))
		return true;
	else if (log_forgot(broker->log, most, hello->opening, reason))
		say_forgotten(broker, hello, reason);
	return reason[0] != '\0';
}

static struct session *find_instance(struct broker *broker, int peer, const char *instance)
{
	LIST_EACH (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session->peer == peer && strcmp(session->instance, instance) == 0)
			return session;
	}
	return NULL;
}

static bool other_is_active(const struct broker *broker, int peer)
{
	LIST_EACH (hook, &broker->sessions->all)
		if (LIST_ENTRY(hook, struct session, hook)->peer == peer)
			return true;
	return false;
}

static void greet(const struct broker *broker, const Hello *hello, Welcome *welcome)
{
	welcome->version = spoken(hello);
	TEXT_COPY(welcome->log, log_id(broker->log));
	welcome->head = log_head(broker->log);
	welcome->opening = log_opening(broker->log);
	welcome->wall_us = broker_wall_us(broker);
}

/* If messages after the peer's cursor were dropped or erased meanwhile, the peer is told to fold anew. */
static void tell_rebuild(struct broker *broker, struct bytes peer, const Hello *hello)
{
	Control control = { .which_what = Control_welcome_tag };

	greet(broker, hello, &control.what.welcome);
	control.what.welcome.heartbeat_ms = (uint32_t)(broker->settings.heartbeat_us / US_PER_MS);
	control.what.welcome.rebuild = true;
	control_now(broker, peer, &control);
}

static void tell_standby(struct broker *broker, struct bytes peer, const Hello *hello)
{
	Control control = { .which_what = Control_welcome_tag };
	Welcome *welcome = &control.what.welcome;

	greet(broker, hello, welcome);
	welcome->heartbeat_ms = (uint32_t)(broker->settings.heartbeat_us / US_PER_MS);
	control_now(broker, peer, &control);
}

/* 63 bits that no peer can guess: an epoch in a frame is the proof of having been welcomed. */
static uint64_t fresh_epoch(const struct broker *broker)
{
	uint64_t epoch = 0;

	while (epoch == 0 || session_by_epoch(broker, epoch)) {
		if (getrandom(&epoch, sizeof(epoch), 0) != sizeof(epoch))
			die("the kernel gives no random numbers: %s", strerror(errno));
		epoch &= INT64_MAX; /* JSON has no larger numbers */
	}
	return epoch;
}

static struct session *session_new(
	struct broker *broker, int peer, struct bytes routing, const char *who, const Hello *hello)
{
	struct session *session = memory_new(sizeof(*session));

	session->peer = peer;
	TEXT_COPY(session->instance, hello->instance);
	TEXT_COPY(session->run, hello->run);
	if (text_is_utf8(bytes_of(hello->host)) && !text_has_control(hello->host))
		TEXT_COPY(session->host, hello->host);
	memcpy(session->routing, routing.data, routing.len);
	session->routing_len = routing.len;
	TEXT_COPY(session->who, who);
	session->rights = rights_of(broker, who, hello->service, hello->instance);
	session->gateway = broker->topology.peers[peer].gateway;
	session->hears_further = hello->hears_further;
	session->batch_projections = hello->unhurried;
	session->spooled = hello->spooled;
	session->heard_boot_us = broker_boot_us(broker);
	session->cursor = hello->cursor;
	session->told = hello->cursor;
	session->wants_progress = true;
	session->epoch = fresh_epoch(broker);
	session->order = ++broker->sessions->begun;
	list_init(&session->leased);
	return session;
}

static void enlist(struct broker *broker, struct session *session)
{
	struct bytes routing = BYTES(session->routing, session->routing_len);
	struct session *before = session_by_peer(broker, routing);

	if (before)
		session_end(broker, before, PARTING_AGAIN);
	list_append(&broker->sessions->all, &session->hook);
	map_put(broker->sessions->by_epoch, map_number(&session->epoch), session);
	map_put(broker->sessions->by_peer, routing, session);
}

/* The welcome leaves with the next commit: by then a new gateway is on the disk. */
static void welcome_later(struct broker *broker, const struct session *session, const Hello *hello, const char *mailbox)
{
	Control control = { .which_what = Control_welcome_tag };
	Welcome *welcome = &control.what.welcome;

	welcome->epoch = session->epoch;
	TEXT_COPY(welcome->lane, mailbox);
	greet(broker, hello, welcome);
	welcome->active = true;
	welcome->heartbeat_ms = (uint32_t)(broker->settings.heartbeat_us / US_PER_MS);
	control_later(broker, BYTES(session->routing, session->routing_len), &control);
}

static int begin(struct broker *broker, struct session *session, const Hello *hello)
{
	char mailbox[160] = "";
	int r;

	if (session->cursor == 0)
		session->backfill = backfill_new(broker, session->peer);
	r = broker->out.open_mailbox(broker->out.context, session->epoch, session->who, mailbox);
	if (r < 0)
		return r;
	enlist(broker, session);
	if (session->gateway)
		gateway_meet(broker, session->instance, session->who);
	for (pb_size_t i = 0; i < hello->held_count; i++)
		lease_adopt(broker, session, &hello->held[i]);
	welcome_later(broker, session, hello, mailbox);
	return 0;
}

static uint32_t sessions_of(const struct broker *broker, const struct identity *identity)
{
	uint32_t count = 0;

	LIST_EACH (hook, &broker->sessions->all)
		count += registry_find(broker->registry, LIST_ENTRY(hook, struct session, hook)->who) == identity;
	return count;
}

/* Refused for now: a session may end, or an entry be removed. */
static bool is_one_too_many(
	struct broker *broker, const char *who, const Hello *hello, const struct session *known, char reason[256])
{
	const struct identity *identity = broker->registry ? registry_find(broker->registry, who) : NULL;
	int peer = topology_peer(&broker->topology, hello->service);

	if (!identity)
		return false;
	if (!known && sessions_of(broker, identity) >= identity_sessions_most(identity)) {
		snprintf(reason, 256, "%.64s may be %u instances at a time (\"names\"), and is so many already",
			identity->name, identity_sessions_most(identity));
		return true;
	}
	return broker->topology.peers[peer].gateway &&
		gateway_is_one_too_many(broker, hello->instance, identity, who, reason);
}

void hear_hello(struct broker *broker, struct bytes routing, const char *who, const Hello *hello)
{
	char reason[256];
	struct session *session;
	int peer;

	if (is_of_another_release(hello, reason)) {
		refuse_hello(broker, routing, who, reason, false);
		return;
	}
	if (is_refused(broker, routing, who, hello, reason)) {
		refuse_hello(broker, routing, who, reason, true);
		return;
	}
	peer = topology_peer(&broker->topology, hello->service);
	session = find_instance(broker, peer, hello->instance);
	if (is_one_too_many(broker, who, hello, session, reason)) {
		refuse_hello(broker, routing, who, reason, false);
		return;
	}
	if (session)
		session_end(broker, session, strcmp(session->run, hello->run) == 0 ? PARTING_AGAIN : PARTING_CRASH);
	if (broker->topology.peers[peer].exclusive && other_is_active(broker, peer)) {
		tell_standby(broker, routing, hello);
		return;
	}
	if ((rebuild_is_due(broker, peer, hello->instance) && hello->cursor > 0) ||
		retain_is_too_old(broker, peer, hello->cursor) || erase_is_too_old(broker, peer, hello->cursor)) {
		tell_rebuild(broker, routing, hello);
		return;
	}
	session = session_new(broker, peer, routing, who, hello);
	if (begin(broker, session, hello) < 0) {
		backfill_free(session->backfill);
		free(session);
		refuse_hello(broker, routing, who, "the broker could not open a lane", false);
	}
}

void broker_admit(struct broker *broker, const struct registry *registry)
{
	broker->registry = registry;
	LIST_EACH_SAFE (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);
		const char *service = broker->topology.peers[session->peer].name;

		session->rights = rights_of(broker, session->who, service, session->instance);
		if (session->rights == 0)
			session_end(broker, session, PARTING_CRASH);
	}
}

void broker_on_reload(struct broker *broker, reload_fn *reload, void *context)
{
	broker->reload = reload;
	broker->reload_context = context;
}

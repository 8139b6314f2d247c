/*
 * gate.c: the handler that libzmq asks about every connection (ZAP, RFC 27)
 *
 * Owns:      the handler's socket; the addresses from which each key was let in.
 * Promises:  a client that is not admitted by name is refused; so is one with another mechanism, a credential
 *            of another size, an address without a uid, or a malformed request. The broker's own thread
 *            answers: while that is silent, no client gets in.
 * Read next: hub.c (which sockets are guarded), registry.c (which peers are known)
 */
#include "bus/wire/gate.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93 /* libzmq 4.3 has it, but declares it only with its drafts */
#endif

static const char HANDLER[] = "inproc://zeromq.zap.01";

enum part { VERSION, REQUEST, DOMAIN, ADDRESS, ROUTING, MECHANISM, CREDENTIAL, PARTS, PART_MAX = 256 };

struct gate {
	void *socket;
	gate_admit_fn *admit;
	void *context;
	uint64_t refused;
	struct list arrivals;
};

/* A key and an address that it was let in from. */
struct arrival {
	struct list hook;
	char who[WHO_MAX], address[PART_MAX + 1];
};

struct zap_request {
	uint8_t part[PARTS][PART_MAX + 1]; /* NUL-terminated */
	size_t len[PARTS];
	int count;
};

struct gate *gate_new(void *zmq_context, gate_admit_fn *admit, void *context)
{
	struct gate *gate = memory_new(sizeof(*gate));
	int linger = 0;

	gate->admit = admit;
	gate->context = context;
	list_init(&gate->arrivals);
	gate->socket = zmq_socket(zmq_context, ZMQ_REP);
	if (gate->socket)
		zmq_setsockopt(gate->socket, ZMQ_LINGER, &linger, sizeof(linger));
	if (gate->socket && zmq_bind(gate->socket, HANDLER) == 0)
		return gate;
	gate_free(gate);
	return NULL;
}

/* Forgets the arrivals of a peer; NULL: of all peers. */
static void forget(struct gate *gate, const char *who)
{
	LIST_EACH_SAFE (hook, &gate->arrivals) {
		struct arrival *arrival = LIST_ENTRY(hook, struct arrival, hook);

		if (who && strcmp(arrival->who, who) != 0)
			continue;
		list_remove(hook);
		free(arrival);
	}
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	forget(gate, NULL);
	if (gate->socket)
		zmq_close(gate->socket);
	free(gate);
}

void *gate_socket(struct gate *gate)
{
	return gate->socket;
}

uint64_t gate_refused(const struct gate *gate)
{
	return gate->refused;
}

bool gate_let_in(const struct gate *gate, const char *who, const char *address)
{
	LIST_EACH (hook, &gate->arrivals) {
		const struct arrival *arrival = LIST_ENTRY(hook, struct arrival, hook);

		if (strcmp(arrival->who, who) == 0 && strcmp(arrival->address, address) == 0)
			return true;
	}
	return false;
}

void gate_forget(struct gate *gate, const char *who)
{
	forget(gate, who);
}

static void note_arrival(struct gate *gate, const char *who, const char *address)
{
	struct arrival *arrival;

	if (!text_starts(who, "key:") || gate_let_in(gate, who, address))
		return;
	arrival = memory_new(sizeof(*arrival));
	TEXT_COPY(arrival->who, who);
	TEXT_COPY(arrival->address, address);
	list_append(&gate->arrivals, &arrival->hook);
}

static bool hear_zap_request(struct gate *gate, struct zap_request *request)
{
	int more = 1;

	for (request->count = 0; more; request->count++) {
		int at = request->count < PARTS ? request->count : CREDENTIAL;
		int len = zmq_recv(gate->socket, request->part[at], PART_MAX, ZMQ_DONTWAIT);
		size_t size = sizeof(more);

		if (len < 0)
			return false;
		request->len[at] = (size_t)len > PART_MAX ? 0 : (size_t)len;
		request->part[at][request->len[at]] = '\0';
		zmq_getsockopt(gate->socket, ZMQ_RCVMORE, &more, &size);
	}
	return true;
}

static bool is(const struct zap_request *request, enum part part, const char *text)
{
	return strcmp((const char *)request->part[part], text) == 0 && request->len[part] == strlen(text);
}

/* Over ipc the peer's address ends in uid:gid:pid. */
static bool name_uid(const struct zap_request *request, char ret_who[WHO_MAX])
{
	const char *address = (const char *)request->part[ADDRESS], *at = address + request->len[ADDRESS];
	int colons = 0;

	while (at > address && colons < 3)
		colons += *--at == ':';
	if (colons < 3 || at[1] < '0' || at[1] > '9')
		return false;
	snprintf(ret_who, WHO_MAX, "uid:%lu", strtoul(at + 1, NULL, 10));
	return true;
}

static bool name_of(const struct zap_request *request, char ret_who[WHO_MAX])
{
	ret_who[0] = '\0';
	if (!is(request, VERSION, "1.0"))
		return false;
	if (request->count == PARTS && request->len[CREDENTIAL] == CURVE_KEY && is(request, MECHANISM, "CURVE")) {
		memcpy(ret_who, "key:", 4);
		text_hex(request->part[CREDENTIAL], CURVE_KEY, ret_who + 4);
		return true;
	}
	return request->count == CREDENTIAL && is(request, MECHANISM, "NULL") && name_uid(request, ret_who);
}

static void reply(struct gate *gate, const struct zap_request *request, bool admitted, const char *who)
{
	const char *parts[] = { admitted ? "200" : "400", admitted ? "OK" : "not admitted", admitted ? who : "", "" };

	zmq_send(gate->socket, "1.0", 3, ZMQ_SNDMORE | ZMQ_DONTWAIT);
	zmq_send(gate->socket, request->part[REQUEST], request->len[REQUEST], ZMQ_SNDMORE | ZMQ_DONTWAIT);
	for (int i = 0; i < 4; i++)
		zmq_send(gate->socket, parts[i], strlen(parts[i]), ZMQ_DONTWAIT | (i < 3 ? ZMQ_SNDMORE : 0));
}

void gate_answer(struct gate *gate)
{
	struct zap_request request;
	char who[WHO_MAX];

	while (hear_zap_request(gate, &request)) {
		const char *place = (const char *)request.part[DOMAIN];
		bool admitted = name_of(&request, who) && gate->admit(gate->context, place, who);

		gate->refused += !admitted;
		if (admitted)
			note_arrival(gate, who, (const char *)request.part[ADDRESS]);
		reply(gate, &request, admitted, who);
	}
}

static int set(void *socket, int option, const void *value, size_t len)
{
	return zmq_setsockopt(socket, option, value, len) < 0 ? -zmq_errno() : 0;
}

int gate_guard(void *socket, const char *place, const struct curve_pair *key)
{
	int enforce = 1, is_server = key != NULL, r;

	r = set(socket, ZMQ_ZAP_DOMAIN, place, strlen(place));
	r = r < 0 ? r : set(socket, ZMQ_ZAP_ENFORCE_DOMAIN, &enforce, sizeof(enforce));
	r = r < 0 ? r : set(socket, ZMQ_CURVE_SERVER, &is_server, sizeof(is_server));
	if (key && r == 0)
		r = set(socket, ZMQ_CURVE_SECRETKEY, key->secret_key, CURVE_KEY);
	return r;
}

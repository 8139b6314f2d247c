/*
 * gate.h: decides which peers may connect
 *
 * libzmq asks the gate (ZAP, RFC 27) about every connection to a socket that gate_guard has set up, before it
 * reads a byte. A peer is named "uid:1000" over ipc and "key:<64 hex digits>" over TCP; that name is the
 * User-Id of each of its messages.
 *
 * CURVE alone fails open: without a handler, or with a handler and no domain, an unknown key is let in. A guarded socket has the
 * domain and is told to enforce it.
 */
#ifndef WIRE_GATE_H
#define WIRE_GATE_H

#include "bus/wire/curve.h"
#include <stdbool.h>

enum { WHO_MAX = 72 };

struct gate;

/* May the peer `who` connect to `place`? Neither is NULL. */
typedef bool gate_admit_fn(void *context, const char *place, const char *who);

/*
 * Uses ZeroMQ's context, which is borrowed; to be called before any of its sockets is bound. NULL: the
 * context has a handler already.
 */
struct gate *gate_new(void *zmq_context, gate_admit_fn *admit, void *context);
void gate_free(struct gate *gate); /* takes NULL */
void *gate_socket(struct gate *gate);
void gate_answer(struct gate *gate); /* answers all waiting requests without blocking */
uint64_t gate_refused(const struct gate *gate);
/* Over TCP: was the peer `who` admitted from this address since the last gate_forget? */
bool gate_let_in(const struct gate *gate, const char *who, const char *address);
void gate_forget(struct gate *gate, const char *who);

/*
 * Sets the options for the next bind of `socket`: over TCP with this key; `key` NULL: over ipc with the
 * peer's uid. 0 or a negative errno.
 */
int gate_guard(void *socket, const char *place, const struct curve_pair *key);

#endif

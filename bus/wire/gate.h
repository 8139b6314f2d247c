/*
 * gate.h: who may connect at all
 *
 * libzmq asks here (ZAP, RFC 27) about every connection to a socket that gate_guard has set up, before a byte of it is read. Who
 * comes is named "uid:1000" over ipc and "key:<64 hex digits>" over TCP; that name is the User-Id of each of its messages.
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

/* May `who` connect to `place`? NULL is not possible for either. */
typedef bool gate_admit_fn(void *context, const char *place, const char *who);

/* Takes ZeroMQ's context; before any socket of it is bound. NULL: it has a handler already. */
struct gate *gate_new(void *zmq_context, gate_admit_fn *admit, void *context);
void gate_free(struct gate *gate); /* takes NULL */
void *gate_socket(struct gate *gate);
void gate_answer(struct gate *gate); /* all that ask, without waiting */
uint64_t gate_refused(const struct gate *gate);
/* Over TCP: was `who` let in from this address, since it was last forgotten? */
bool gate_let_in(const struct gate *gate, const char *who, const char *address);
void gate_forget(struct gate *gate, const char *who);

/* The options of the next bind of `socket`: over TCP with this key, over ipc (NULL) with the peer's uid. */
int gate_guard(void *socket, const char *place, const struct curve_pair *key);

#endif

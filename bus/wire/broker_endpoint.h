/*
 * broker_endpoint.h: the address of a process's broker, and how the process identifies itself to it
 *
 * On the broker's machine a process uses the sockets below [paths] run, and its uid identifies it. On another
 * machine [connect] broker gives the address, and the key file identifies the process; the broker proves
 * itself with the key in broker.pub.
 */
#ifndef WIRE_BROKER_ENDPOINT_H
#define WIRE_BROKER_ENDPOINT_H

#include "bus/wire/curve.h"

struct broker_endpoint {
	char run[192];
	char host[128]; /* empty: over ipc */
	int port;
	char key_name[64]; /* the name of the key file */
	uint8_t broker_key[CURVE_KEY];
	struct curve_pair key;
};

/* The ports of a broker that listens on TCP, as offsets from the configured port. */
enum {
	PORT_CONTROL,
	PORT_INGRESS,
	PORT_TAP,
	PORT_TAP_CLEAR,
	PORT_MAILBOXES, /* this one and the following, one per session over TCP */
	PORTS = 256
};

/* `config` knows bus_keys. */
int broker_endpoint_read(
	const struct config *config, const char *service, struct broker_endpoint *ret, char ret_why[256]);
/* The same with this key instead of the one that [connect] key names. */
int broker_endpoint_read_as(
	const struct config *config, const char *key_name, struct broker_endpoint *ret, char ret_why[256]);
struct broker_endpoint broker_endpoint_local(const char *run); /* over ipc */
/* The endpoint of "control" and so on. -EINVAL: [paths] run is too long for a socket's name. */
int broker_endpoint_of(const struct broker_endpoint *endpoint, const char *name, int port_offset, char ret[192]);
/*
 * Does this machine have the address of [broker] listen? 0, or a negative errno with the reason that a start
 * would give. A host name is not looked up: 0.
 */
int broker_endpoint_listen_try(const char *listen, char ret_why[256]);
/*
 * The endpoint of the mailbox that a welcome names. Over TCP only its port counts (tcp, any host, 7404); the
 * host is the one that the process connected to.
 */
int broker_endpoint_mailbox(const struct broker_endpoint *endpoint, const char *mailbox, char ret[192]);
/* Why the broker does not answer, as far as this process can tell, and what helps. */
void broker_endpoint_why(const struct broker_endpoint *endpoint, char ret[256]);
/* Sets all options that a socket needs before it connects. 0 or a negative errno. */
int broker_endpoint_prepare(const struct broker_endpoint *endpoint, void *socket);
int broker_endpoint_tcp_options(
	void *socket, const char *host); /* heartbeats and deadlines of either end; 0 or a negative errno */

#endif

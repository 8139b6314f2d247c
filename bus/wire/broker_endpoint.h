/*
 * broker_endpoint.h: where a process's broker is, and what shows the broker who comes
 *
 * On the broker's machine: the sockets below [paths] run; the process's uid says who it is. From another one: [connect] broker is
 * the address, and the key file says who it is; the broker proves itself with the key in broker.pub.
 */
#ifndef WIRE_BROKER_ENDPOINT_H
#define WIRE_BROKER_ENDPOINT_H

#include "bus/wire/curve.h"

struct broker_endpoint {
	char run[192];
	char host[128]; /* empty: over ipc */
	int port;
	char key_name[64]; /* of the file */
	uint8_t broker_key[CURVE_KEY];
	struct curve_pair key;
};

/* Ports of a broker that listens on TCP, from the one that is configured. */
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
/* With this key, instead of the one that [connect] key names. */
int broker_endpoint_read_as(
	const struct config *config, const char *key_name, struct broker_endpoint *ret, char ret_why[256]);
struct broker_endpoint broker_endpoint_local(const char *run); /* over ipc */
/* The endpoint of "control" and so on. -EINVAL: [paths] run is too long for a socket's name. */
int broker_endpoint_of(const struct broker_endpoint *endpoint, const char *name, int port_offset, char ret[192]);
/*
 * Has this machine the address of [broker] listen? 0; a negative errno, and why not, in the words of a start. A name is not looked up: 0.
 */
int broker_endpoint_listen_try(const char *listen, char ret_why[256]);
/* A mailbox as a welcome names it. Over TCP only its port counts (tcp, any host, 7404): the host is the one that was reached. */
int broker_endpoint_mailbox(const struct broker_endpoint *endpoint, const char *mailbox, char ret[192]);
/* Why nobody answers there, as far as it can be told from here, and what helps. */
void broker_endpoint_why(const struct broker_endpoint *endpoint, char ret[256]);
/* Everything that a socket needs before it connects. */
int broker_endpoint_prepare(const struct broker_endpoint *endpoint, void *socket);
int broker_endpoint_tcp_options(
	void *socket, const char *host); /* heartbeats and deadlines of either end; 0 or a negative errno */

#endif

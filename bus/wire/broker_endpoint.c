/*
 * broker_endpoint.c: the address of a process's broker, and the key that the process shows it
 *
 * Promises:  over TCP no socket connects without CURVE; a process never talks to a broker that does not hold
 *            the key of broker.pub; a connection that is cut is noticed and made anew within seconds.
 * Fails by:  a negative errno and the remedy in words.
 * Read next: zmq_link.c, gate.c
 */
#include "bus/wire/broker_endpoint.h"
#include "bus/base/listen_at.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

enum {
	HEARTBEAT_MS = 500, /* ZeroMQ's own heartbeat, over TCP: a peer behind a cut wire is silent, not closed */
	HEARTBEAT_PATIENCE_MS = 2000,
	CONNECT_PATIENCE_MS = 2000,
	UNACKNOWLEDGED_MS = 4000, /* after this time TCP gives a connection up */
};

struct broker_endpoint broker_endpoint_local(const char *run)
{
	struct broker_endpoint endpoint = { 0 };

	TEXT_COPY(endpoint.run, run);
	return endpoint;
}

int broker_endpoint_read(
	const struct config *config, const char *service, struct broker_endpoint *ret, char ret_why[256])
{
	const char *name = config_get(config, "connect", NULL, "key");

	return broker_endpoint_read_as(config, name && *name ? name : service, ret, ret_why);
}

int broker_endpoint_read_as(
	const struct config *config, const char *key_name, struct broker_endpoint *ret, char ret_why[256])
{
	const char *broker = config_get(config, "connect", NULL, "broker");
	const char *folder = config_get(config, "paths", NULL, "keys");
	int r;

	*ret = broker_endpoint_local(config_get(config, "paths", NULL, "run"));
	if (!broker || !*broker)
		return 0;
	if (!curve_address(broker, ret->host, &ret->port))
		return -EINVAL; /* the address is not from a configuration: those are judged */
	TEXT_COPY(ret->key_name, key_name);
	r = curve_read_public(folder, curve_broker_name, ret->broker_key, ret_why);
	return r < 0 ? r : curve_read_pair(folder, ret->key_name, &ret->key, ret_why);
}

int broker_endpoint_listen_try(const char *listen, char ret_why[256])
{
	char host[128] = "";
	int port, fd;

	if (!curve_address(listen, host, &port))
		return -EINVAL; /* the address is not from a configuration: those are judged */
	fd = listen_at(host, "0", 0);
	if (fd >= 0)
		close(fd);
	if (fd != -EADDRNOTAVAIL)
		return 0; /* any other error depends on the user and the moment */
	snprintf(ret_why, 256,
		"[broker] listen = %.128s: %s: give an address of this machine (ip addr lists those that it has)",
		listen, strerror(-fd));
	return fd;
}

int broker_endpoint_of(const struct broker_endpoint *endpoint, const char *name, int port_offset, char ret[192])
{
	int len = *endpoint->host ? snprintf(ret, 192, "tcp://%s:%d", endpoint->host, endpoint->port + port_offset)
				  : snprintf(ret, 192, "ipc://%s/%s", endpoint->run, name);

	return len >= 192 ? -EINVAL : 0;
}

int broker_endpoint_mailbox(const struct broker_endpoint *endpoint, const char *mailbox, char ret[192])
{
	static const char any[] = "tcp://*:";

	if (!*endpoint->host)
		return text_starts(mailbox, "ipc://") && snprintf(ret, 192, "%s", mailbox) < 192 ? 0 : -EINVAL;
	if (!text_starts(mailbox, any))
		return -EINVAL;
	return snprintf(ret, 192, "tcp://%s:%s", endpoint->host, mailbox + sizeof(any) - 1) < 192 ? 0 : -EINVAL;
}

/* Was the folder made for the user of this process? A folder that this user cannot see was made for others. */
static bool is_among_users(const char *folder)
{
	struct stat there;

	return stat(folder, &there) == 0 && (there.st_uid == geteuid() || group_member(there.st_gid));
}

void broker_endpoint_why(const struct broker_endpoint *endpoint, char ret[256])
{
	char control[220];

	if (*endpoint->host) {
		snprintf(ret, 256, "nobody answers at %s:%d", endpoint->host, endpoint->port);
		return;
	}
	snprintf(control, sizeof(control), "%s/control", endpoint->run);
	if (access(control, W_OK) < 0 && errno == EACCES)
		snprintf(ret, 256, "this user may not use %s: %s", control,
			is_among_users(endpoint->run)
				? "restart cartbus-broker, which makes it, and its folder, anew"
				: "say it with sudo, or as a user whom the broker lets in ([user] of cartbus.conf)");
	else
		snprintf(ret, 256, "nobody answers at %s", control);
}

static int set_number(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value)) < 0 ? -zmq_errno() : 0;
}

static int set_key(void *socket, int option, const uint8_t key[CURVE_KEY])
{
	return zmq_setsockopt(socket, option, key, CURVE_KEY) < 0 ? -zmq_errno() : 0;
}

int broker_endpoint_tcp_options(void *socket, const char *host)
{
	int r = set_number(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS);

	r = r < 0 ? r : set_number(socket, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_PATIENCE_MS);
	r = r < 0 ? r : set_number(socket, ZMQ_TCP_MAXRT, UNACKNOWLEDGED_MS);
	r = r < 0 ? r : set_number(socket, ZMQ_CONNECT_TIMEOUT, CONNECT_PATIENCE_MS);
	return r < 0 || host[0] != '[' ? r : set_number(socket, ZMQ_IPV6, 1);
}

int broker_endpoint_prepare(const struct broker_endpoint *endpoint, void *socket)
{
	int r;

	if (!*endpoint->host)
		return 0;
	r = broker_endpoint_tcp_options(socket, endpoint->host);
	r = r < 0 ? r : set_key(socket, ZMQ_CURVE_SERVERKEY, endpoint->broker_key);
	r = r < 0 ? r : set_key(socket, ZMQ_CURVE_PUBLICKEY, endpoint->key.public_key);
	return r < 0 ? r : set_key(socket, ZMQ_CURVE_SECRETKEY, endpoint->key.secret_key);
}

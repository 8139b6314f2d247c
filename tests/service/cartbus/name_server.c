/* name_server.c: a name server at a port of this machine, which knows a few records by heart */
#include "tests/service/cartbus/name_server.h"

#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <arpa/inet.h>
#include <ldns/ldns.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PACKET_MAX = 4096 };

struct name_server {
	const char *const *records;
	int fd;
	char address[40];
	pthread_t thread;
};

/* The records of this name; of those only the asked type is put in. Returns whether there is any. */
static bool add_records(const struct name_server *server, const ldns_rr *question, ldns_pkt *answer)
{
	bool is_known = false;

	for (const char *const *text = server->records; *text; text++) {
		ldns_rr *record = NULL;

		if (ldns_rr_new_frm_str(&record, *text, 60, NULL, NULL) != LDNS_STATUS_OK)
			die("this is no record: %s", *text);
		bool is_asked = ldns_dname_compare(ldns_rr_owner(record), ldns_rr_owner(question)) == 0;
		is_known |= is_asked;
		if (is_asked && ldns_rr_get_type(record) == ldns_rr_get_type(question))
			ldns_pkt_push_rr(answer, LDNS_SECTION_ANSWER, record);
		else
			ldns_rr_free(record);
	}
	return is_known;
}

static void answer_one(
	const struct name_server *server, const uint8_t *packet, size_t len, const struct sockaddr_in *to)
{
	ldns_pkt *asked = NULL, *answer = ldns_pkt_new();
	uint8_t *wire = NULL;
	size_t wire_len = 0;

	if (ldns_wire2pkt(&asked, packet, len) == LDNS_STATUS_OK &&
		ldns_rr_list_rr_count(ldns_pkt_question(asked)) == 1) {
		const ldns_rr *question = ldns_rr_list_rr(ldns_pkt_question(asked), 0);

		ldns_pkt_set_id(answer, ldns_pkt_id(asked));
		ldns_pkt_set_qr(answer, true);
		ldns_pkt_push_rr(answer, LDNS_SECTION_QUESTION, ldns_rr_clone(question));
		if (!add_records(server, question, answer))
			ldns_pkt_set_rcode(answer, LDNS_RCODE_NXDOMAIN);
		if (ldns_pkt2wire(&wire, answer, &wire_len) == LDNS_STATUS_OK)
			sendto(server->fd, wire, wire_len, 0, (const struct sockaddr *)to, sizeof(*to));
	}
	free(wire);
	ldns_pkt_free(asked);
	ldns_pkt_free(answer);
}

static void *serve(void *context)
{
	const struct name_server *server = context;
	uint8_t packet[PACKET_MAX];

	for (;;) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		ssize_t len = recvfrom(server->fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &from_len);

		if (len <= 0)
			return NULL; /* an empty packet of our own: the end */
		answer_one(server, packet, (size_t)len, &from);
	}
}

struct name_server *name_server_new(const char *const *records)
{
	struct name_server *server = memory_new(sizeof(*server));
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(here);

	server->records = records;
	server->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&here, len) < 0 ||
		getsockname(server->fd, (struct sockaddr *)&here, &len) < 0)
		die("no port for a name server");
	snprintf(server->address, sizeof(server->address), "127.0.0.1@%d", ntohs(here.sin_port));
	if (pthread_create(&server->thread, NULL, serve, server) != 0)
		die("no thread for a name server");
	return server;
}

void name_server_free(struct name_server *server)
{
	struct sockaddr_in here;
	socklen_t len = sizeof(here);

	getsockname(server->fd, (struct sockaddr *)&here, &len);
	sendto(server->fd, "", 0, 0, (struct sockaddr *)&here, len);
	pthread_join(server->thread, NULL);
	close(server->fd);
	free(server);
}

const char *name_server_address(const struct name_server *server)
{
	return server->address;
}

/*
 * served.h: a whole gateway with real connections, in front of a simulated bus, in virtual time
 */
#ifndef TESTS_SERVICE_GATEWAY_SERVED_H
#define TESTS_SERVICE_GATEWAY_SERVED_H

#include "bus/actor/process/loop.h"
#include "bus/actor/process/watchdog.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/zmq_link.h"
#include "given.h"
#include "proto/platform_topics.h"
#include "services/carts/intake/intake.h"
#include "services/kit/settings/settings.h"
#include "services/kit/web/signed_link.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/gateway/http.h"
#include "services/platform/unsub/unsub.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HANDED = 3, PATIENCE = 3000, TURNS = 60, HEARD_MOST = 8000, BODY_MOST = 1024 * 1024 };
#ifndef SERVED_CONFIG
#define SERVED_CONFIG "" /* further lines of cartbus.conf */
#endif
#define ROUND_US (20 * US_PER_MS)

static const char KEY[] = "0123456789abcdef0123456789abcdef";
#ifndef SERVED_BESIDE
#define SERVED_BESIDE /* further services */
#endif
static const struct service *const services[] = { &gateway, &unsub, &intake, SERVED_BESIDE NULL };

static char folder[64], heard[HEARD_MOST];
static struct sim *sim;
static struct link *no_broker;
static struct activity activity;
static struct loop *loop;
static struct http *http;
static struct config *config;
static uint16_t port;
static int supervisors; /* the same socket: what connects while no gateway runs waits in it */

static inline void hand_over_socket(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	char pid[20];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 20), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	port = ntohs(at.sin_port);
	supervisors = fcntl(fd, F_DUPFD, HANDED + 1);
	assert_int_equal(dup2(fd, HANDED), HANDED);
	if (fd != HANDED)
		close(fd);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
}

static inline void configure(void)
{
	struct config_error error;
	char text[600];

	snprintf(text, sizeof(text),
		"[paths]\nstate = %s/state\nshops = %s/shops\nsecrets = %s/secrets\n" SERVED_CONFIG, folder, folder,
		folder);
	if (config_parse(text, "cartbus.conf", settings_keys, &config, &error) < 0)
		fail_msg("%s", error.text);
}

static inline void turn(void)
{
	loop_prepare(loop);
	loop_wait(loop, 0);
	sim_run_until(sim, sim_now_us(sim) + ROUND_US);
}

static inline void pass(int64_t us)
{
	for (int i = 0; i < TURNS; i++) {
		turn();
		sim_run_until(sim, sim_now_us(sim) + us / TURNS);
	}
}

static inline int begin(void **state)
{
	(void)state;
	hand_over_socket();
	TEXT_COPY(folder, fresh_folder());
	write_below(folder, "secrets/address.key", KEY, 0600);
	write_below(folder, "secrets/link.key", KEY, 0600);
	write_below(folder, "secrets/admin.key", KEY, 0600);
	write_below(folder, "secrets/webhook/demo", KEY, 0600);
	write_below(folder, "shops/demo/shop.conf", "[shop]\ntitle = Demo\n", 0600);
	write_below(folder, "state/gateway/spool/.new", "", 0600);
	configure();
	sim = sim_new(services, INT64_C(20000) * US_PER_DAY, 1);
	for (int i = 0; services[i]; i++)
		sim_start(sim, services[i]->name, services[i], NULL);
	sim_run_until_idle(sim);
	const struct broker_endpoint nobody = broker_endpoint_local(folder);
	assert_int_equal(zmq_link_new(&nobody, &no_broker), 0);
	loop = loop_new(no_broker, NULL, &activity);
	http = http_start(loop, sim_runtime(sim, "gateway"), config, sim_clock(sim));
	pass(US_PER_S);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	http_stop(http);
	loop_free(loop);
	no_broker->close(no_broker);
	sim_free(sim);
	config_free(config);
	close(supervisors);
	remove_folder(folder);
	return 0;
}

static inline int come(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* The whole answer to a request. */
static inline const char *ask(const char *head, struct bytes body)
{
	struct pollfd ready = { .fd = come(), .events = POLLIN };
	size_t len = 0, sent = 0;
	ssize_t n = -1;

	assert_int_equal(send(ready.fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (int i = 0; i < PATIENCE && n != 0; i++) {
		turn();
		if (sent < body.len) {
			n = send(
				ready.fd, (const char *)body.data + sent, body.len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
			sent += n > 0 ? (size_t)n : 0;
		}
		poll(&ready, 1, 1);
		n = recv(ready.fd, heard + len, sizeof(heard) - len - 1, MSG_DONTWAIT);
		len += n > 0 ? (size_t)n : 0;
	}
	heard[len] = '\0';
	assert_int_equal(n, 0);
	close(ready.fd);
	return heard;
}

static inline void must_answer(const char *answer, const char *status, const char *words)
{
	char line[60];

	snprintf(line, sizeof(line), "HTTP/1.1 %s ", status);
	if (!text_starts(answer, line) || !strstr(answer, words))
		fail_msg("no \"%s\" with \"%s\" in %s", status, words, answer);
}

static inline const char *get(const char *method, const char *path)
{
	char head[200];

	snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", method, path);
	return ask(head, bytes_of(""));
}

#endif

/*
 * webhooks.c: posts signed webhooks, as fast as they are answered, over connections that are kept where the other side keeps them
 *
 *   bench_webhooks PORT SHOP SECRET COUNT CONNECTIONS TIMESTAMP PREFIX [HZ]
 *
 * With HZ so many a second, else as fast as possible. Prints the rate and the 99th percentile of the time to the answer: from the
 * first byte sent, or with HZ from when the request was due, so that those count as well that could not be sent because others
 * were not answered. Every body is a new cart of our own endpoint, with an id and an address of its own; TIMESTAMP is what the
 * gateway's clock shows ("@RATE,REAL,WALL" for a scaled one). TIMESTAMP "shopify": Shopify webhooks of 2.5 KB instead, all of them
 * written and signed before the time begins, because the CPU that takes is not the gateway's.
 */
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 256, STALL_MS = 10000, SHOPIFY_LINES = 5 };

struct load {
	const char *shop, *secret, *prefix;
	uint16_t port;
	int connections;
	bool shopify;
	int64_t start_us, step_us; /* of the pace; step 0: none */
	uint64_t count, posted, answered, refused;
	struct clock clock;   /* the gateway's */
	struct buffer *ready; /* Shopify's, signed; NULL: none */
	int64_t *latencies_us;
};

struct connection {
	int fd;
	bool busy;
	int64_t since_us; /* boot time: sent, or due */
	char answer[2048];
	size_t answer_len;
};

static void open_connection(const struct load *load, struct connection *connection)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(load->port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	connection->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connection->fd < 0 || connect(connection->fd, (struct sockaddr *)&address, sizeof(address)))
		die("cannot connect to port %u: %s", load->port, strerror(errno));
	connection->answer_len = 0;
}

static void write_body(const struct load *load, struct buffer *body)
{
	unsigned long long n = load->posted;

	buffer_printf(body,
		"{\"id\":\"%s-%llu\",\"event\":\"changed\",\"cart\":\"%s-%llu\",\"email\":\"shopper%llu@%s.example\","
		"\"first_name\":\"Ada\",\"locale\":\"de-DE\",\"consent\":true,\"currency\":\"EUR\",\"total\":\"12.50\","
		"\"recovery_url\":\"https://shop.example/cart/%llu\",\"items\":[{\"title\":\"Tulpen, 20 "
		"Stiele\",\"sku\":\"T20\","
		"\"product_id\":\"1\",\"variant_id\":\"2\",\"quantity\":1,\"price\":\"12.50\"}]}",
		load->prefix, n, load->prefix, n, n, load->prefix, n);
}

/* As Shopify's carts/update: a token of its own, and lines of what shops sell. */
static void write_shopify_body(const struct load *load, unsigned long long n, struct buffer *body)
{
	buffer_printf(
		body, "{\"id\":\"%s-%llu\",\"token\":\"%s-%llu\",\"line_items\":[", load->prefix, n, load->prefix, n);
	for (int i = 0; i < SHOPIFY_LINES; i++)
		buffer_printf(body,
			"%s{\"id\":%d,\"properties\":{},\"quantity\":1,\"variant_id\":%d,\"key\":\"70491220518828857%d:"
			"33f1\",\"discounted_price\":\"12.50\",\"discounts\":[],\"gift_card\":false,\"grams\":200,"
			"\"line_price\":\"12.50\",\"original_line_price\":\"12.50\",\"original_price\":\"12.50\","
			"\"price\":\"12.50\",\"product_id\":%d,\"sku\":\"T20\",\"taxable\":true,\"title\":\"Tulpen, 20 "
			"Stiele\",\"total_discount\":\"0.00\",\"vendor\":\"Blumen\"}",
			i ? "," : "", 1000 + i, 2000 + i, i, 3000 + i);
	buffer_printf(body,
		"],\"note\":null,\"updated_at\":\"2026-11-21T02:00:00Z\",\"created_at\":\"2026-11-21T02:00:00Z\"}");
}

static void sign_shopify(const struct load *load, struct bytes body, char ret[65])
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	HMAC(EVP_sha256(), load->secret, (int)strlen(load->secret), body.data, body.len, mac, &len);
	EVP_EncodeBlock((unsigned char *)ret, mac, (int)len);
}

static void write_shopify_request(const struct load *load, unsigned long long n, struct buffer *request)
{
	struct buffer body = { 0 };
	char signature[65];

	write_shopify_body(load, n, &body);
	sign_shopify(load, buffer_bytes(&body), signature);
	buffer_printf(request,
		"POST /hooks/%s/shopify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		"X-Shopify-Topic: carts/update\r\nX-Shopify-Hmac-Sha256: %s\r\nX-Shopify-Webhook-Id: %s-%llu\r\n"
		"Content-Length: %zu\r\n\r\n",
		load->shop, signature, load->prefix, n, body.len);
	buffer_add(request, body.data, body.len);
	buffer_free(&body);
}

static void sign(const struct load *load, const char *stamp, struct bytes body, char ret[65])
{
	struct buffer covered = { 0 };
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	buffer_printf(&covered, "%s.", stamp);
	buffer_add(&covered, body.data, body.len);
	HMAC(EVP_sha256(), load->secret, (int)strlen(load->secret), covered.data, covered.len, mac, &len);
	text_hex(mac, len, ret);
	buffer_free(&covered);
}

static void write_request(const struct load *load, struct buffer *request)
{
	struct buffer body = { 0 };
	char stamp[24], signature[65];

	write_body(load, &body);
	snprintf(stamp, sizeof(stamp), "%lld", (long long)(clock_wall_us(&load->clock) / US_PER_S));
	sign(load, stamp, buffer_bytes(&body), signature);
	buffer_printf(request,
		"POST /hooks/%s/cart HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		"X-Cartbus-Timestamp: %s\r\nX-Cartbus-Signature: %s\r\nContent-Length: %zu\r\n\r\n",
		load->shop, stamp, signature, body.len);
	buffer_add(request, body.data, body.len);
	buffer_free(&body);
}

static void make_ready(struct load *load)
{
	load->ready = calloc(load->count, sizeof(*load->ready));
	for (uint64_t i = 0; i < load->count; i++)
		write_shopify_request(load, i, &load->ready[i]);
}

static int64_t due_us(const struct load *load)
{
	return load->start_us + (int64_t)load->posted * load->step_us;
}

static void post_one(struct load *load, struct connection *connection)
{
	struct buffer request = { 0 };
	struct clock real = clock_system();

	if (load->ready)
		request = load->ready[load->posted];
	else
		write_request(load, &request);
	connection->since_us = load->step_us ? due_us(load) : clock_boot_us(&real);
	if (send(connection->fd, request.data, request.len, MSG_NOSIGNAL) != (ssize_t)request.len)
		die("a request was not taken whole");
	connection->busy = true;
	load->posted++;
	buffer_free(&request);
}

/* How long the whole answer is; 0: not there yet. */
static size_t answer_size(const struct connection *connection)
{
	const char *end = strstr(connection->answer, "\r\n\r\n");
	const char *length = strcasestr(connection->answer, "content-length:");

	if (!end)
		return 0;
	return (size_t)(end + 4 - connection->answer) + (length && length < end ? strtoul(length + 15, NULL, 10) : 0);
}

static void hear_one(struct load *load, struct connection *connection)
{
	struct clock real = clock_system();
	ssize_t got = recv(connection->fd, connection->answer + connection->answer_len,
		sizeof(connection->answer) - 1 - connection->answer_len, 0);
	size_t size;

	if (got <= 0)
		die("the gateway closed a connection in the middle of a request");
	connection->answer_len += (size_t)got;
	connection->answer[connection->answer_len] = '\0';
	size = answer_size(connection);
	if (size == 0 || connection->answer_len < size)
		return;
	if (!strstr(connection->answer, " 200 "))
		load->refused++;
	load->latencies_us[load->answered++] = clock_boot_us(&real) - connection->since_us;
	connection->busy = false;
	connection->answer_len = 0;
	if (strcasestr(connection->answer, "connection: close")) {
		close(connection->fd);
		open_connection(load, connection);
	}
}

static bool is_time(const struct load *load)
{
	struct clock real = clock_system();

	return !load->step_us || clock_boot_us(&real) >= due_us(load);
}

/* For an answer, or until the next one is due if a connection is free for it. */
static void wait_for_answers(const struct load *load, struct pollfd *fds, bool one_is_free)
{
	int64_t wait_us = STALL_MS * US_PER_MS;
	struct clock real = clock_system();
	struct timespec wait;

	if (load->step_us && load->posted < load->count && one_is_free) {
		wait_us = due_us(load) - clock_boot_us(&real);
		wait_us = wait_us > 0 ? wait_us : 0;
	}
	wait = (struct timespec){ .tv_sec = wait_us / US_PER_S, .tv_nsec = wait_us % US_PER_S * 1000 };
	if (ppoll(fds, (nfds_t)load->connections, &wait, NULL) <= 0 && wait_us == STALL_MS * US_PER_MS)
		die("the gateway did not answer within %d s", STALL_MS / 1000);
}

static void run(struct load *load)
{
	static struct connection connections[CONNECTIONS_MAX];
	struct pollfd fds[CONNECTIONS_MAX];

	for (int i = 0; i < load->connections; i++)
		open_connection(load, &connections[i]);
	while (load->answered < load->count) {
		bool one_is_free = false;

		for (int i = 0; i < load->connections; i++) {
			if (!connections[i].busy && load->posted < load->count && is_time(load))
				post_one(load, &connections[i]);
			one_is_free |= !connections[i].busy;
			fds[i] = (struct pollfd){ .fd = connections[i].fd, .events = connections[i].busy ? POLLIN : 0 };
		}
		wait_for_answers(load, fds, one_is_free);
		for (int i = 0; i < load->connections; i++) {
			if (fds[i].revents)
				hear_one(load, &connections[i]);
		}
	}
}

static int by_size(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

static struct clock clock_of(const char *text)
{
	long long real_us, wall_us;
	double rate;

	if (sscanf(text, "@%lf,%lld,%lld", &rate, &real_us, &wall_us) == 3)
		return clock_scaled(rate, real_us, wall_us);
	return clock_system();
}

int main(int argc, char **argv)
{
	struct clock real = clock_system();
	struct load load;
	int64_t start_us;
	double seconds;

	log_open("bench", LOG_WARNING);
	if (argc != 8 && argc != 9)
		die("usage: bench_webhooks PORT SHOP SECRET COUNT CONNECTIONS TIMESTAMP PREFIX [HZ]");
	load = (struct load){ .port = (uint16_t)atoi(argv[1]),
		.shop = argv[2],
		.secret = argv[3],
		.count = strtoull(argv[4], NULL, 10),
		.connections = atoi(argv[5]),
		.clock = clock_of(argv[6]),
		.prefix = argv[7],
		.shopify = strcmp(argv[6], "shopify") == 0,
		.step_us = argc == 9 ? US_PER_S / atoi(argv[8]) : 0 };
	if (load.connections < 1 || load.connections > CONNECTIONS_MAX || load.count < 1)
		die("COUNT is at least 1, CONNECTIONS at most %d", CONNECTIONS_MAX);
	load.latencies_us = calloc(load.count, sizeof(*load.latencies_us));
	if (load.shopify)
		make_ready(&load);
	start_us = load.start_us = clock_boot_us(&real);
	run(&load);
	seconds = (double)(clock_boot_us(&real) - start_us) / US_PER_S;
	qsort(load.latencies_us, load.answered, sizeof(*load.latencies_us), by_size);
	printf("webhook_rate %.0f requests/s\nwebhook_p99 %.2f ms\n", (double)load.answered / seconds,
		(double)load.latencies_us[load.answered * 99 / 100] / US_PER_MS);
	free(load.latencies_us);
	free(load.ready);
	if (load.refused)
		die("%llu webhooks were not answered 200", (unsigned long long)load.refused);
	return 0;
}

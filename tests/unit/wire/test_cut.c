/* test_cut.c: connections are cut by the port they came to and the address they came from, and no others */
#include "bus/wire/connections.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct listener {
	int fd, port;
};

struct link {
	int near, far;
};

static struct sockaddr_in at(const char *address, int port)
{
	struct sockaddr_in ret = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	inet_pton(AF_INET, address, &ret.sin_addr);
	return ret;
}

static struct listener listen_somewhere(void)
{
	struct listener listener = { .fd = socket(AF_INET, SOCK_STREAM, 0) };
	struct sockaddr_in address = at("127.0.0.1", 0);
	socklen_t len = sizeof(address);

	assert_int_equal(bind(listener.fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener.fd, 8), 0);
	assert_int_equal(getsockname(listener.fd, (struct sockaddr *)&address, &len), 0);
	listener.port = ntohs(address.sin_port);
	return listener;
}

static struct link come_from(const char *address, const struct listener *listener)
{
	struct link link = { .far = socket(AF_INET, SOCK_STREAM, 0) };
	struct sockaddr_in here = at(address, 0), there = at("127.0.0.1", listener->port);

	assert_int_equal(bind(link.far, (struct sockaddr *)&here, sizeof(here)), 0);
	assert_int_equal(connect(link.far, (struct sockaddr *)&there, sizeof(there)), 0);
	link.near = accept(listener->fd, NULL, NULL);
	assert_true(link.near >= 0);
	return link;
}

/* As the other end sees it. */
static bool is_cut(const struct link *link)
{
	char byte;

	return recv(link->far, &byte, 1, MSG_DONTWAIT) == 0;
}

static void part(struct link *link)
{
	close(link->near);
	close(link->far);
}

static bool is_second_host(void *context, const char *address)
{
	(void)context;
	return strcmp(address, "127.0.0.2") == 0;
}

static void only_who_came_from_that_address_to_that_port_is_cut(void **state)
{
	struct listener ours = listen_somewhere(), others = listen_somewhere();
	struct link first = come_from("127.0.0.1", &ours), second = come_from("127.0.0.2", &ours);
	struct link elsewhere = come_from("127.0.0.2", &others);

	(void)state;
	assert_int_equal(cut_connections(ours.port, 1, is_second_host, NULL), 1);
	assert_true(is_cut(&second));
	assert_false(is_cut(&first));
	assert_false(is_cut(&elsewhere));
	part(&first);
	part(&second);
	part(&elsewhere);
	close(others.fd);
	close(ours.fd);
}

static void a_port_that_listens_goes_on(void **state)
{
	struct listener ours = listen_somewhere();
	struct link before = come_from("127.0.0.2", &ours), after;

	(void)state;
	assert_int_equal(cut_connections(ours.port, 1, is_second_host, NULL), 1);
	after = come_from("127.0.0.2", &ours);
	assert_false(is_cut(&after));
	part(&before);
	part(&after);
	close(ours.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_came_from_that_address_to_that_port_is_cut),
		cmocka_unit_test(a_port_that_listens_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

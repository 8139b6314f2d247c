/* test_listen_at.c: a socket that listens at a TCP address, or only takes it */
#include "bus/base/cleanup.h"
#include "bus/base/listen_at.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

static int option_of(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, name, &value, &len), 0);
	return value;
}

static void port_of(int fd, char ret[8])
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	snprintf(ret, 8, "%d", ntohs(address.sin_port));
}

static void a_socket_listens_where_it_is_told_to_and_never_blocks(void **state)
{
	_cleanup_close_ int fd = listen_at("127.0.0.1", "0", 5);
	char port[8];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(option_of(fd, SO_TYPE), SOCK_STREAM);
	assert_int_equal(option_of(fd, SO_ACCEPTCONN), 1);
	assert_int_equal(option_of(fd, SO_REUSEADDR), 1); /* a program that begins anew finds its port */
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	port_of(fd, port);
	assert_int_equal(listen_at("127.0.0.1", port, 5), -EADDRINUSE);
}

static void an_address_may_be_taken_without_listening(void **state)
{
	_cleanup_close_ int fd = listen_at("127.0.0.1", "0", 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(option_of(fd, SO_ACCEPTCONN), 0);
}

static void an_address_that_is_none_or_not_ours_is_told_apart(void **state)
{
	(void)state;
	assert_int_equal(listen_at("shop.example", "0", 5), -EINVAL);
	assert_int_equal(listen_at("127.0.0.1", "none", 5), -EINVAL);
	assert_int_equal(listen_at("192.0.2.1", "0", 5), -EADDRNOTAVAIL); /* RFC 5737: nobody's */
}

static void what_fails_leaves_nothing_open(void **state)
{
	int lowest = lowest_free_descriptor();

	(void)state;
	listen_at("192.0.2.1", "0", 5);
	assert_int_equal(lowest_free_descriptor(), lowest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_listens_where_it_is_told_to_and_never_blocks),
		cmocka_unit_test(an_address_may_be_taken_without_listening),
		cmocka_unit_test(an_address_that_is_none_or_not_ours_is_told_apart),
		cmocka_unit_test(what_fails_leaves_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_probe.c: where no stranger can try a socket, that socket is named, and nothing counts as proven (test_hub.c has the others) */
#include "bus/wire/hub.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>
#include <zmq.h>

enum { FIRST_PORT = 7400 };

/* Of this context ZeroMQ gives so many sockets, and one is taken already. */
static void assert_unproven(int sockets_most)
{
	struct curve_pair key;
	const struct hub_settings settings = { .host = "127.0.0.1", .port = FIRST_PORT, .key = &key };
	void *context = zmq_ctx_new(), *taken;
	char why[256] = "";

	curve_make(&key);
	assert_int_equal(zmq_ctx_set(context, ZMQ_MAX_SOCKETS, sockets_most), 0);
	taken = zmq_socket(context, ZMQ_PAIR);
	assert_non_null(taken);
	assert_int_equal(probe_closed(context, NULL, &settings, 2, ZMQ_DEALER, why), -EMFILE);
	assert_non_null(strstr(why, " at tcp://127.0.0.1:7402 ("));
	assert_non_null(strstr(why, strerror(EMFILE)));
	zmq_close(taken);
	zmq_ctx_term(context);
}

static void where_zeromq_gives_no_socket_nothing_is_proven_and_the_place_is_named(void **state)
{
	(void)state;
	assert_unproven(1);
	assert_unproven(2); /* none to hear by how it went */
	assert_unproven(3); /* none for what tells it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_zeromq_gives_no_socket_nothing_is_proven_and_the_place_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

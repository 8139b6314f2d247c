/* test_handshake.c: a peer that connects learns whether the broker knows its key; a gate in a thread plays the broker */
#include "bus/wire/gate.h"
#include "bus/wire/zmq_link.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { ROUND_MS = 5 };
static const int64_t PATIENCE_US = 20 * 1000 * 1000, A_MOMENT_US = 100 * 1000;

struct scene {
	void *context, *door;
	struct gate *gate;
	struct curve_pair key;
	pthread_t thread;
	_Atomic bool ends;
	struct broker_endpoint broker; /* of the peer */
	char known[WHO_MAX];
};

static bool admit(void *context, const char *place, const char *who)
{
	const struct scene *scene = context;

	(void)place;
	return strcmp(who, scene->known) == 0;
}

static void *answer(void *context)
{
	struct scene *scene = context;

	while (!scene->ends) {
		zmq_pollitem_t item = { .socket = gate_socket(scene->gate), .events = ZMQ_POLLIN };

		zmq_poll(&item, 1, ROUND_MS);
		gate_answer(scene->gate);
	}
	return NULL;
}

static void name(const struct curve_pair *pair, char ret[WHO_MAX])
{
	size_t len = (size_t)snprintf(ret, WHO_MAX, "key:");

	for (int i = 0; i < CURVE_KEY; i++)
		len += (size_t)snprintf(ret + len, WHO_MAX - len, "%02x", pair->public_key[i]);
}

static void begin(struct scene *scene)
{
	char endpoint[64];
	size_t len = sizeof(endpoint);

	*scene = (struct scene){ .context = zmq_ctx_new() };
	curve_make(&scene->key);
	curve_make(&scene->broker.key);
	name(&scene->broker.key, scene->known);
	scene->gate = gate_new(scene->context, admit, scene);
	scene->door = zmq_socket(scene->context, ZMQ_ROUTER);
	assert_int_equal(gate_guard(scene->door, "control", &scene->key), 0);
	assert_int_equal(zmq_bind(scene->door, "tcp://127.0.0.1:*"), 0);
	assert_int_equal(zmq_getsockopt(scene->door, ZMQ_LAST_ENDPOINT, endpoint, &len), 0);
	snprintf(scene->broker.host, sizeof(scene->broker.host), "127.0.0.1");
	scene->broker.port = atoi(strrchr(endpoint, ':') + 1);
	memcpy(scene->broker.broker_key, scene->key.public_key, CURVE_KEY);
	assert_int_equal(pthread_create(&scene->thread, NULL, answer, scene), 0);
}

static void stop_answering(struct scene *scene)
{
	if (!scene->ends) {
		scene->ends = true;
		pthread_join(scene->thread, NULL);
	}
}

static void end(struct scene *scene)
{
	stop_answering(scene);
	zmq_close(scene->door);
	gate_free(scene->gate);
	zmq_ctx_term(scene->context);
}

static void a_key_that_is_known_is_let_in_and_another_is_refused(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	assert_int_equal(handshake_try(&scene.broker, PATIENCE_US), 0);
	curve_make(&scene.broker.key);
	assert_int_equal(handshake_try(&scene.broker, PATIENCE_US), -EACCES);
	end(&scene);
}

static void where_nobody_answers_or_another_broker_it_is_given_up(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	curve_make(&scene.key);
	memcpy(scene.broker.broker_key, scene.key.public_key, CURVE_KEY);
	assert_int_equal(handshake_try(&scene.broker, A_MOMENT_US), -ETIMEDOUT);
	stop_answering(&scene);
	assert_int_equal(handshake_try(&scene.broker, A_MOMENT_US), -ETIMEDOUT);
	end(&scene);
}

static void an_address_that_is_none_is_told_at_once(void **state)
{
	struct broker_endpoint broker = { .host = "no host", .port = 7400 };

	(void)state;
	curve_make(&broker.key);
	assert_int_equal(handshake_try(&broker, PATIENCE_US), -EINVAL);
	memset(broker.run, 'r', sizeof(broker.run) - 1);
	broker.host[0] = '\0';
	assert_int_equal(handshake_try(&broker, PATIENCE_US), -EINVAL);
}

static void what_was_heard_last_counts_and_what_is_not_watched_stays_unknown(void **state)
{
	struct scene scene;
	void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER), *watching;
	enum handshake known = HANDSHAKE_NONE;
	char endpoint[64];

	(void)state;
	begin(&scene);
	assert_int_equal(handshake_hear(NULL, HANDSHAKE_REFUSED), HANDSHAKE_REFUSED);
	watching = handshake_watch(context, socket);
	assert_non_null(watching);
	assert_int_equal(handshake_hear(watching, known), HANDSHAKE_NONE);
	assert_int_equal(broker_endpoint_prepare(&scene.broker, socket), 0);
	snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", scene.broker.port);
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	for (int ms = 0; known == HANDSHAKE_NONE && ms < PATIENCE_US / 1000; ms++) {
		zmq_poll(NULL, 0, 1);
		known = handshake_hear(watching, known);
	}
	assert_int_equal(known, HANDSHAKE_LET_IN);
	assert_int_equal(handshake_hear(watching, known), HANDSHAKE_LET_IN);
	handshake_unwatch(socket, watching);
	handshake_unwatch(socket, NULL);
	zmq_close(socket);
	zmq_ctx_term(context);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_that_is_known_is_let_in_and_another_is_refused),
		cmocka_unit_test(where_nobody_answers_or_another_broker_it_is_given_up),
		cmocka_unit_test(an_address_that_is_none_is_told_at_once),
		cmocka_unit_test(what_was_heard_last_counts_and_what_is_not_watched_stays_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

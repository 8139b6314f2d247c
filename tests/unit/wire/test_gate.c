/* test_gate.c: nobody passes who is not admitted by name; and without the gate, or while it is silent, nobody at all */
#include "bus/wire/gate.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <string.h>
#include <unistd.h>
#include <zmq.h>

enum { A_MOMENT_MS = 300, PATIENCE_MS = 5000 };

struct scene {
	void *broker, *peers; /* contexts */
	struct gate *gate;
	void *door; /* the guarded PULL */
	char endpoint[160];
	struct curve_pair key;
	char asked_place[64], asked_who[WHO_MAX];
	bool admits;
};

static bool admit(void *context, const char *place, const char *who)
{
	struct scene *scene = context;

	snprintf(scene->asked_place, sizeof(scene->asked_place), "%s", place);
	snprintf(scene->asked_who, sizeof(scene->asked_who), "%s", who);
	return scene->admits;
}

static void bind_door(struct scene *scene, const char *endpoint, const struct curve_pair *key)
{
	size_t len = sizeof(scene->endpoint);

	scene->door = zmq_socket(scene->broker, ZMQ_PULL);
	assert_int_equal(gate_guard(scene->door, "ingress", key), 0);
	assert_int_equal(zmq_bind(scene->door, endpoint), 0);
	assert_int_equal(zmq_getsockopt(scene->door, ZMQ_LAST_ENDPOINT, scene->endpoint, &len), 0);
}

static void begin(struct scene *scene, bool admits)
{
	*scene = (struct scene){ .broker = zmq_ctx_new(), .peers = zmq_ctx_new(), .admits = admits };
	scene->gate = gate_new(scene->broker, admit, scene);
	assert_non_null(scene->gate);
	curve_make(&scene->key);
}

static void end(struct scene *scene)
{
	zmq_close(scene->door);
	gate_free(scene->gate);
	zmq_ctx_term(scene->broker);
	zmq_ctx_term(scene->peers);
}

/* Says one word to the door; with a key, over CURVE. */
static void *knock(struct scene *scene, const struct curve_pair *mine)
{
	void *socket = zmq_socket(scene->peers, ZMQ_PUSH);
	int linger = 0;

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	if (mine) {
		zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, scene->key.public_key, CURVE_KEY);
		zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, mine->public_key, CURVE_KEY);
		zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, mine->secret_key, CURVE_KEY);
	}
	assert_int_equal(zmq_connect(socket, scene->endpoint), 0);
	assert_int_equal(zmq_send(socket, "word", 4, ZMQ_DONTWAIT), 4);
	return socket;
}

/* Whether the word comes; the gate answers meanwhile, if it is there and not silent. ret_who: whose it is said to be. */
static bool arrives(struct scene *scene, bool answering, int within_ms, char ret_who[WHO_MAX])
{
	zmq_pollitem_t items[] = { { .socket = scene->door, .events = ZMQ_POLLIN },
		{ .fd = -1, .events = ZMQ_POLLIN } };
	zmq_msg_t word;
	bool came = false;

	if (answering)
		items[1] = (zmq_pollitem_t){ .socket = gate_socket(scene->gate), .events = ZMQ_POLLIN };
	while (!came && zmq_poll(items, answering ? 2 : 1, within_ms) > 0) {
		if (items[1].revents)
			gate_answer(scene->gate);
		came = items[0].revents != 0;
	}
	if (!came)
		return false;
	zmq_msg_init(&word);
	zmq_msg_recv(&word, scene->door, 0);
	snprintf(ret_who, WHO_MAX, "%s", zmq_msg_gets(&word, "User-Id"));
	zmq_msg_close(&word);
	return true;
}

static void over_tcp_a_key_is_its_name_and_every_word_carries_it(void **state)
{
	struct scene scene;
	struct curve_pair mine;
	char who[WHO_MAX];
	void *peer;

	(void)state;
	begin(&scene, true);
	curve_make(&mine);
	bind_door(&scene, "tcp://127.0.0.1:*", &scene.key);
	peer = knock(&scene, &mine);
	assert_true(arrives(&scene, true, PATIENCE_MS, who));
	assert_string_equal(who, scene.asked_who);
	assert_int_equal(strlen(who), 4 + 2 * CURVE_KEY);
	assert_string_equal(scene.asked_place, "ingress");
	assert_true(gate_let_in(scene.gate, who, "127.0.0.1"));
	assert_false(gate_let_in(scene.gate, who, "127.0.0.2"));
	gate_forget(scene.gate, who);
	assert_false(gate_let_in(scene.gate, who, "127.0.0.1"));
	zmq_close(peer);
	end(&scene);
}

static void over_ipc_a_uid_is_its_name(void **state)
{
	struct folder folder = folder_new();
	char endpoint[160], who[WHO_MAX], me[WHO_MAX];
	struct scene scene;
	void *peer;

	(void)state;
	begin(&scene, true);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/door", folder.path);
	snprintf(me, sizeof(me), "uid:%lu", (unsigned long)getuid());
	bind_door(&scene, endpoint, NULL);
	peer = knock(&scene, NULL);
	assert_true(arrives(&scene, true, PATIENCE_MS, who));
	assert_string_equal(who, me);
	zmq_close(peer);
	end(&scene);
	folder_remove(&folder);
}

static void who_is_not_admitted_is_counted_and_not_heard(void **state)
{
	struct scene scene;
	struct curve_pair mine;
	char who[WHO_MAX];
	void *peer;

	(void)state;
	begin(&scene, false);
	curve_make(&mine);
	bind_door(&scene, "tcp://127.0.0.1:*", &scene.key);
	peer = knock(&scene, &mine);
	assert_false(arrives(&scene, true, A_MOMENT_MS, who));
	assert_true(gate_refused(scene.gate) > 0);
	assert_false(gate_let_in(scene.gate, scene.asked_who, "127.0.0.1"));
	zmq_close(peer);
	end(&scene);
}

static void who_brings_no_key_is_not_even_asked_about(void **state)
{
	struct scene scene;
	char who[WHO_MAX];
	void *peer;

	(void)state;
	begin(&scene, true);
	bind_door(&scene, "tcp://127.0.0.1:*", &scene.key);
	peer = knock(&scene, NULL);
	assert_false(arrives(&scene, true, A_MOMENT_MS, who));
	assert_string_equal(scene.asked_who, "");
	zmq_close(peer);
	end(&scene);
}

/* NULL over TCP: an address without a uid has no name. */
static void without_curve_nobody_has_a_name_over_tcp(void **state)
{
	struct scene scene;
	char who[WHO_MAX];
	void *peer;

	(void)state;
	begin(&scene, true);
	bind_door(&scene, "tcp://127.0.0.1:*", NULL);
	peer = knock(&scene, NULL);
	assert_false(arrives(&scene, true, A_MOMENT_MS, who));
	assert_true(gate_refused(scene.gate) > 0);
	assert_string_equal(scene.asked_who, "");
	zmq_close(peer);
	end(&scene);
}

static void while_the_gate_is_silent_nobody_gets_in(void **state)
{
	struct scene scene;
	struct curve_pair mine;
	char who[WHO_MAX];
	void *peer;

	(void)state;
	begin(&scene, true);
	curve_make(&mine);
	bind_door(&scene, "tcp://127.0.0.1:*", &scene.key);
	peer = knock(&scene, &mine);
	assert_false(arrives(&scene, false, A_MOMENT_MS, who));
	assert_true(arrives(&scene, true, PATIENCE_MS, who)); /* it was only late */
	zmq_close(peer);
	end(&scene);
}

static void without_a_gate_nobody_gets_in(void **state)
{
	struct scene scene;
	struct curve_pair mine;
	char who[WHO_MAX];
	void *peer;

	(void)state;
	begin(&scene, true);
	gate_free(scene.gate);
	scene.gate = NULL;
	curve_make(&mine);
	bind_door(&scene, "tcp://127.0.0.1:*", &scene.key);
	peer = knock(&scene, &mine);
	assert_false(arrives(&scene, false, A_MOMENT_MS, who));
	zmq_close(peer);
	end(&scene);
}

static void there_is_one_gate(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, true);
	assert_null(gate_new(scene.broker, admit, &scene));
	scene.door = zmq_socket(scene.broker, ZMQ_PULL);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_tcp_a_key_is_its_name_and_every_word_carries_it),
		cmocka_unit_test(over_ipc_a_uid_is_its_name),
		cmocka_unit_test(who_is_not_admitted_is_counted_and_not_heard),
		cmocka_unit_test(who_brings_no_key_is_not_even_asked_about),
		cmocka_unit_test(without_curve_nobody_has_a_name_over_tcp),
		cmocka_unit_test(while_the_gate_is_silent_nobody_gets_in),
		cmocka_unit_test(without_a_gate_nobody_gets_in),
		cmocka_unit_test(there_is_one_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

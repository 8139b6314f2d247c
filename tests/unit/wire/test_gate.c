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
static void *connect_peer(struct scene *scene, const struct curve_pair *mine)
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
	peer = connect_peer(&scene, &mine);
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
	peer = connect_peer(&scene, NULL);
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
	peer = connect_peer(&scene, &mine);
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
	peer = connect_peer(&scene, NULL);
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
	peer = connect_peer(&scene, NULL);
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
	peer = connect_peer(&scene, &mine);
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
	peer = connect_peer(&scene, &mine);
	assert_false(arrives(&scene, false, A_MOMENT_MS, who));
	zmq_close(peer);
	end(&scene);
}

/* What libzmq would ask (RFC 27), asked by hand: so many parts; *ret_who: as whom it is let in. Returns whether it is. */
static bool asks(struct scene *scene, const char *const *parts, const size_t *lens, size_t count, char ret_who[WHO_MAX])
{
	void *socket = zmq_socket(scene->broker, ZMQ_REQ);
	zmq_pollitem_t item = { .socket = gate_socket(scene->gate), .events = ZMQ_POLLIN };
	char answer[6][80] = { "" };
	int linger = 0, patience = PATIENCE_MS;

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(zmq_connect(socket, "inproc://zeromq.zap.01"), 0);
	for (size_t i = 0; i < count; i++)
		assert_true(zmq_send(socket, parts[i], lens[i], i + 1 < count ? ZMQ_SNDMORE : 0) >= 0);
	assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
	gate_answer(scene->gate);
	for (int i = 0; i < 6; i++)
		assert_true(zmq_recv(socket, answer[i], sizeof(answer[i]) - 1, 0) >= 0);
	zmq_close(socket);
	assert_string_equal(answer[0], "1.0");
	assert_memory_equal(answer[1], parts[1], lens[1]);
	assert_true(strcmp(answer[2], "200") == 0 || strcmp(answer[2], "400") == 0);
	snprintf(ret_who, WHO_MAX, "%s", answer[4]);
	return strcmp(answer[2], "200") == 0;
}

static void what_it_is_asked_oddly_it_refuses(void **state)
{
	enum { PARTS_MOST = 8 };
	static const char key[] = "0123456789abcdef0123456789abcdef", long_part[1000] = "x";
	static const struct {
		const char *parts[PARTS_MOST];
		size_t key_len;  /* of the seventh */
		const char *who; /* NULL: refused */
	} cases[] = {
		{ { "1.0", "7", "door", "1.2.3.4", "", "CURVE", key }, CURVE_KEY,
			"key:3031323334353637383961626364656630313233343536373839616263646566" },
		{ { "1.0", "7", "door", "1.2.3.4", "", "CURVE", key }, CURVE_KEY - 1, NULL },
		{ { "1.0", "7", "door", "1.2.3.4", "", "CURVE", long_part }, sizeof(long_part), NULL },
		{ { "1.0", "7", "door", "1.2.3.4", "", "CURVE" }, 0, NULL },
		{ { "1.0", "7", "door", "1.2.3.4", "", "CURVE", key, "more" }, CURVE_KEY, NULL },
		{ { "1.1", "7", "door", "1.2.3.4", "", "CURVE", key }, CURVE_KEY, NULL },
		{ { "1.0", "7", "door", "1.2.3.4", "", "curve", key }, CURVE_KEY, NULL },
		{ { "1.0", "7", "door", "1.2.3.4", "", "PLAIN", "me", "secret" }, 2, NULL },
		{ { "1.0", "7", "door", "localhost:1000:100:4711", "", "NULL" }, 0, "uid:1000" },
		{ { "1.0", "7", "door", "a:b:0:0:1", "", "NULL" }, 0, "uid:0" },
		{ { "1.0", "7", "door", "localhost:1000:100:4711", "", "NULL", key }, CURVE_KEY, NULL },
		{ { "1.0", "7", "door", "1000:100:4711", "", "NULL" }, 0, NULL },
		{ { "1.0", "7", "door", "localhost::100:4711", "", "NULL" }, 0, NULL },
		{ { "1.0", "7", "door", "localhost:/0:100:4711", "", "NULL" }, 0, NULL },
		{ { "1.0", "7", "door", "localhost:x:100:4711", "", "NULL" }, 0, NULL },
		{ { "1.0", "7", "door", "", "", "NULL" }, 0, NULL },
		{ { "1.0", "7", "door", "localhost:1000:100:4711", "" }, 0, NULL },
		{ { "1.0", "7" }, 0, NULL },
	};
	struct scene scene;
	char who[WHO_MAX];
	uint64_t refused = 0;

	(void)state;
	begin(&scene, true);
	scene.door = zmq_socket(scene.broker, ZMQ_PULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t lens[PARTS_MOST], count = 0;

		for (; count < PARTS_MOST && cases[i].parts[count]; count++)
			lens[count] = count == 6 ? cases[i].key_len : strlen(cases[i].parts[count]);
		memset(scene.asked_who, 0, sizeof(scene.asked_who));
		assert_int_equal(asks(&scene, cases[i].parts, lens, count, who), cases[i].who != NULL);
		assert_string_equal(who, cases[i].who ? cases[i].who : "");
		assert_string_equal(scene.asked_who, who); /* who has no name is not asked about */
		refused += !cases[i].who;
		assert_int_equal(gate_refused(scene.gate), refused);
	}
	assert_true(gate_let_in(scene.gate, cases[0].who, "1.2.3.4"));
	assert_false(gate_let_in(scene.gate, "uid:1000", "localhost:1000:100:4711")); /* that is over ipc */
	end(&scene);
}

static void who_is_forgotten_is_forgotten_alone(void **state)
{
	static const char one[] = "11111111111111111111111111111111", other[] = "22222222222222222222222222222222";
	const size_t lens[] = { 3, 1, 4, 7, 0, 5, CURVE_KEY };
	struct scene scene;
	char first[WHO_MAX], second[WHO_MAX];

	(void)state;
	begin(&scene, true);
	scene.door = zmq_socket(scene.broker, ZMQ_PULL);
	for (int again = 0; again < 2; again++) {
		assert_true(asks(&scene, (const char *const[]){ "1.0", "7", "door", "1.2.3.4", "", "CURVE", one }, lens,
			7, first));
		assert_true(asks(&scene, (const char *const[]){ "1.0", "7", "door", "1.2.3.5", "", "CURVE", one }, lens,
			7, first));
		assert_true(asks(&scene, (const char *const[]){ "1.0", "7", "door", "1.2.3.4", "", "CURVE", other },
			lens, 7, second));
	}
	gate_forget(scene.gate, first);
	assert_false(gate_let_in(scene.gate, first, "1.2.3.4"));
	assert_false(gate_let_in(scene.gate, first, "1.2.3.5"));
	assert_true(gate_let_in(scene.gate, second, "1.2.3.4"));
	scene.admits = false;
	assert_false(asks(
		&scene, (const char *const[]){ "1.0", "7", "door", "1.2.3.4", "", "CURVE", one }, lens, 7, second));
	assert_string_equal(second, "");
	assert_false(gate_let_in(scene.gate, first, "1.2.3.4"));
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
		cmocka_unit_test(what_it_is_asked_oddly_it_refuses),
		cmocka_unit_test(who_is_forgotten_is_forgotten_alone),
		cmocka_unit_test(there_is_one_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

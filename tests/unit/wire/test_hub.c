/* the hub, met over real sockets */
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/frame.h"
#include "bus/wire/hub.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

enum { PATIENCE_MS = 5000 };

struct scene {
	char run[64];
	struct hub *hub;
	void *context;
};

static char me[WHO_MAX]; /* as the gate names this process over ipc */

static bool admit_me(void *context, const char *place, const char *who)
{
	(void)context;
	(void)place;
	return strcmp(who, me) == 0;
}

static int turned_away;

static char turned_away_at[32], turned_away_who[WHO_MAX], turned_away_why[200];

static void count_refused(void *context, const char *place, const char *who, const char *why)
{
	(void)context;
	TEXT_COPY(turned_away_at, place);
	TEXT_COPY(turned_away_who, who);
	TEXT_COPY(turned_away_why, why);
	turned_away++;
}

static struct scene set_scene(void)
{
	struct scene scene = { .run = "/tmp/hub-test-XXXXXX" };
	struct hub_settings settings = { .admit = admit_me, .refused = count_refused };
	char why[256] = "";

	snprintf(me, sizeof(me), "uid:%lu", (unsigned long)getuid());
	folder_make(scene.run);
	snprintf(settings.run, sizeof(settings.run), "%s", scene.run);
	assert_int_equal(hub_open(&settings, &scene.hub, why), 0);
	assert_string_equal(why, "");
	scene.context = zmq_ctx_new();
	return scene;
}

static void end_scene(struct scene *scene)
{
	char command[128];

	hub_close(scene->hub);
	zmq_ctx_term(scene->context);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->run);
	assert_int_equal(system(command), 0);
}

static void *connect_to(struct scene *scene, int type, const char *endpoint)
{
	void *socket = zmq_socket(scene->context, type);
	int linger = 0, patience = PATIENCE_MS;

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	return socket;
}

static void *connect_named(struct scene *scene, int type, const char *name)
{
	char endpoint[160];

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", scene->run, name);
	return connect_to(scene, type, endpoint);
}

static bool becomes_tapped(struct hub *hub, bool wanted)
{
	for (int i = 0; i < 500 && hub_is_tapped(hub) != wanted; i++)
		hub_wait(hub, 10000);
	return hub_is_tapped(hub) == wanted;
}

static struct bytes next_frame(struct scene *scene, const char **ret_who)
{
	struct bytes frame = { 0 };
	int r = -EAGAIN;

	for (int i = 0; i < 100 && r == -EAGAIN; i++) {
		hub_wait(scene->hub, 50000);
		r = hub_hear_frame(scene->hub, ret_who, &frame);
	}
	assert_int_equal(r, 0);
	return frame;
}

static void a_frame_arrives_whole(void **state)
{
	struct scene scene = set_scene();
	void *push = connect_named(&scene, ZMQ_PUSH, "ingress");
	const char *who;
	struct bytes frame;

	(void)state;
	assert_int_equal(zmq_send(push, "one", 3, 0), 3);
	frame = next_frame(&scene, &who);
	assert_true(bytes_equal(frame, bytes_of("one")));
	assert_string_equal(who, me);
	assert_int_equal(hub_hear_frame(scene.hub, &who, &frame), -EAGAIN);
	zmq_close(push);
	end_scene(&scene);
}

static void what_has_several_parts_or_is_a_little_too_large_comes_as_nothing_with_its_uid(void **state)
{
	struct scene scene = set_scene();
	void *push = connect_named(&scene, ZMQ_PUSH, "ingress"), *dealer = connect_named(&scene, ZMQ_DEALER, "control");
	uint8_t *large = calloc(1, FRAME_BYTES_MAX + 1);
	struct bytes peer, message = BYTES("", 1);
	const char *who = NULL;
	int r = -EAGAIN;

	(void)state;
	assert_int_equal(zmq_send(push, "many", 4, ZMQ_SNDMORE), 4);
	assert_int_equal(zmq_send(push, "parts", 5, 0), 5);
	assert_int_equal(next_frame(&scene, &who).len, 0);
	assert_string_equal(who, me);
	assert_int_equal(zmq_send(push, large, FRAME_BYTES_MAX + 1, 0), FRAME_BYTES_MAX + 1);
	assert_int_equal(next_frame(&scene, &who).len, 0);
	assert_string_equal(who, me);
	assert_int_equal(zmq_send(dealer, "many", 4, ZMQ_SNDMORE), 4);
	assert_int_equal(zmq_send(dealer, "parts", 5, 0), 5);
	for (int i = 0; i < 100 && r == -EAGAIN; i++) {
		hub_wait(scene.hub, 50000);
		r = hub_hear_control(scene.hub, &peer, &who, &message);
	}
	assert_int_equal(r, 0);
	assert_int_equal(message.len, 0);
	assert_string_equal(who, me);
	free(large);
	zmq_close(push);
	zmq_close(dealer);
	end_scene(&scene);
}

static void who_says_something_to_a_tap_is_told(void **state)
{
	struct scene scene = set_scene();
	void *odd = connect_named(&scene, ZMQ_XSUB, "tap");

	(void)state;
	turned_away = 0;
	assert_int_equal(zmq_send(odd, "\x01", 1, 0), 1);
	assert_true(becomes_tapped(scene.hub, true));
	assert_int_equal(turned_away, 0);
	assert_int_equal(zmq_send(odd, "what?", 5, 0), 5);
	for (int i = 0; i < 100 && turned_away == 0; i++)
		hub_wait(scene.hub, 50000);
	assert_int_equal(turned_away, 1);
	assert_string_equal(turned_away_at, "tap");
	assert_string_equal(turned_away_who, me);
	assert_non_null(strstr(turned_away_why, "something was said to it"));
	zmq_close(odd);
	end_scene(&scene);
}

static void a_question_comes_with_its_uid_and_is_answered(void **state)
{
	struct scene scene = set_scene();
	void *dealer = connect_named(&scene, ZMQ_DEALER, "control");
	struct bytes peer, message;
	char answer[16];
	const char *who = NULL;
	int r = -EAGAIN;

	(void)state;
	assert_int_equal(zmq_send(dealer, "hello", 5, 0), 5);
	for (int i = 0; i < 100 && r == -EAGAIN; i++) {
		hub_wait(scene.hub, 50000);
		r = hub_hear_control(scene.hub, &peer, &who, &message);
	}
	assert_int_equal(r, 0);
	assert_true(bytes_equal(message, bytes_of("hello")));
	assert_string_equal(who, me);
	hub_control(scene.hub, peer, bytes_of("welcome"));
	assert_int_equal(zmq_recv(dealer, answer, sizeof(answer), 0), 7);
	zmq_close(dealer);
	end_scene(&scene);
}

static void what_is_said_before_the_peer_has_connected_arrives_in_order(void **state)
{
	struct scene scene = set_scene();
	char endpoint[160], got[8];
	void *pull;

	(void)state;
	assert_int_equal(hub_open_mailbox(scene.hub, 7, me, endpoint), 0);
	assert_int_equal(hub_push(scene.hub, 7, bytes_of("a")), 0);
	assert_int_equal(hub_push(scene.hub, 7, bytes_of("b")), 0);
	pull = connect_to(&scene, ZMQ_PULL, endpoint);
	for (int i = 0; i < 20; i++)
		hub_wait(scene.hub, 5000);
	assert_int_equal(hub_push(scene.hub, 7, bytes_of("c")), 0);
	for (const char *expected = "abc"; *expected; expected++) {
		for (int i = 0; i < 20; i++)
			hub_wait(scene.hub, 1000);
		assert_int_equal(zmq_recv(pull, got, sizeof(got), 0), 1);
		assert_int_equal(got[0], *expected);
	}
	zmq_close(pull);
	end_scene(&scene);
}

static void a_peer_that_is_gone_is_noticed_by_a_send(void **state)
{
	struct scene scene = set_scene();
	char endpoint[160], got[8];
	void *pull;
	int r = 0;

	(void)state;
	assert_int_equal(hub_open_mailbox(scene.hub, 7, me, endpoint), 0);
	pull = connect_to(&scene, ZMQ_PULL, endpoint);
	assert_int_equal(hub_push(scene.hub, 7, bytes_of("a")), 0);
	for (int i = 0; i < 50; i++)
		hub_wait(scene.hub, 2000);
	assert_int_equal(zmq_recv(pull, got, sizeof(got), 0), 1);
	zmq_close(pull);
	for (int i = 0; i < 100 && r == 0; i++) {
		hub_wait(scene.hub, 10000);
		r = hub_push(scene.hub, 7, bytes_of("b"));
	}
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(hub_push(scene.hub, 8, bytes_of("no such lane")), -EAGAIN);
	end_scene(&scene);
}

static void what_is_too_large_is_not_heard(void **state)
{
	struct scene scene = set_scene();
	void *push = connect_named(&scene, ZMQ_PUSH, "ingress");
	const size_t much = 3 * (size_t)FRAME_BYTES_MAX;
	uint8_t *huge = calloc(1, much);
	struct bytes frame;
	const char *who;
	int r = -EAGAIN;

	(void)state;
	assert_int_equal(zmq_send(push, huge, much, 0), much);
	for (int i = 0; i < 20 && r == -EAGAIN; i++) {
		hub_wait(scene.hub, 10000);
		r = hub_hear_frame(scene.hub, &who, &frame);
	}
	assert_int_equal(r, -EAGAIN);
	free(huge);
	zmq_close(push);
	end_scene(&scene);
}

static void a_tap_gets_topic_head_and_message(void **state)
{
	struct scene scene = set_scene();
	void *tap = connect_named(&scene, ZMQ_SUB, "tap-clear");
	char got[64];
	int len = -1, patience = 50;

	(void)state;
	zmq_setsockopt(tap, ZMQ_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(zmq_setsockopt(tap, ZMQ_SUBSCRIBE, "cart.", 5), 0);
	for (int i = 0; i < 100 && len < 0; i++) {
		hub_tap(scene.hub, "timer.set", "demo", bytes_of("head"), bytes_of("message"), bytes_of("masked"));
		hub_tap(scene.hub, "cart.state", "demo", bytes_of("head"), bytes_of("message"), bytes_of("masked"));
		hub_wait(scene.hub, 1000);
		len = zmq_recv(tap, got, sizeof(got), 0);
	}
	assert_int_equal(len, sizeof("cart.state") + sizeof("demo"));
	assert_string_equal(got + sizeof("cart.state"), "demo");
	assert_int_equal(zmq_recv(tap, got, sizeof(got), 0), 4);
	assert_int_equal(zmq_recv(tap, got, sizeof(got), 0), 7);
	zmq_close(tap);
	end_scene(&scene);
}

static void a_tap_without_the_right_gets_what_is_masked(void **state)
{
	struct scene scene = set_scene();
	void *tap = connect_named(&scene, ZMQ_SUB, "tap");
	char got[64];
	int len = -1, patience = 50;

	(void)state;
	zmq_setsockopt(tap, ZMQ_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(zmq_setsockopt(tap, ZMQ_SUBSCRIBE, "cart.", 5), 0);
	for (int i = 0; i < 100 && len < 0; i++) {
		hub_tap(scene.hub, "cart.state", "demo", bytes_of("head"), bytes_of("message"), bytes_of("masked"));
		hub_wait(scene.hub, 1000);
		len = zmq_recv(tap, got, sizeof(got), 0);
	}
	assert_true(len > 0);
	assert_int_equal(zmq_recv(tap, got, sizeof(got), 0), 4);
	assert_int_equal(zmq_recv(tap, got, sizeof(got), 0), 6);
	assert_memory_equal(got, "masked", 6);
	zmq_close(tap);
	end_scene(&scene);
}

static void it_knows_whether_anybody_taps(void **state)
{
	struct scene scene = set_scene();
	void *one, *other;

	(void)state;
	assert_false(hub_is_tapped(scene.hub));
	one = connect_named(&scene, ZMQ_SUB, "tap");
	other = connect_named(&scene, ZMQ_SUB, "tap-clear");
	assert_int_equal(zmq_setsockopt(one, ZMQ_SUBSCRIBE, "", 0), 0);
	assert_true(becomes_tapped(scene.hub, true));
	zmq_close(one); /* without a word: gone is gone */
	assert_true(becomes_tapped(scene.hub, false));
	assert_int_equal(zmq_setsockopt(other, ZMQ_SUBSCRIBE, "cart.", 5), 0);
	assert_true(becomes_tapped(scene.hub, true));
	assert_int_equal(zmq_setsockopt(other, ZMQ_UNSUBSCRIBE, "cart.", 5), 0);
	assert_true(becomes_tapped(scene.hub, false));
	zmq_close(other);
	end_scene(&scene);
}

static void noise_is_told_with_its_socket(void **state)
{
	struct scene scene = set_scene();
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	(void)state;
	turned_away = 0;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/ingress", scene.run);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	for (int i = 0; i < 5000 && recv(fd, &byte, 1, MSG_DONTWAIT) < 0; i++) /* until the broker's end is open */
		hub_wait(scene.hub, 1000);
	shutdown(fd, SHUT_WR);
	for (int i = 0; i < 500 && turned_away == 0; i++)
		hub_wait(scene.hub, 10000);
	assert_int_equal(turned_away, 1);
	assert_string_equal(turned_away_at, "ingress");
	assert_non_null(strstr(turned_away_why, "without a handshake"));
	close(fd);
	end_scene(&scene);
}

/* --- over TCP --- */

static bool admits_all;
static char admitted[WHO_MAX];

static bool admit_one(void *context, const char *place, const char *who)
{
	(void)context;
	(void)place;
	return admits_all || strcmp(who, admitted) == 0;
}

struct far {
	struct scene scene;
	struct hub_settings settings;
	struct curve_pair key;
	struct broker_endpoint broker; /* of a peer, whose key is admitted */
};

/* At some port of which the next ones are free as well. */
static void set_far(struct far *far)
{
	char why[256];
	int r = -1;

	*far = (struct far){ .scene = { .run = "/tmp/hub-test-XXXXXX", .context = zmq_ctx_new() } };
	folder_make(far->scene.run);
	curve_make(&far->key);
	curve_make(&far->broker.key);
	admits_all = false;
	snprintf(admitted, sizeof(admitted), "key:");
	text_hex(far->broker.key.public_key, CURVE_KEY, admitted + strlen(admitted));
	far->settings = (struct hub_settings){
		.admit = admit_one, .refused = count_refused, .host = "127.0.0.1", .key = &far->key
	};
	TEXT_COPY(far->settings.run, far->scene.run);
	far->settings.port = 10000 + getpid() % 20000;
	for (; r < 0 && far->settings.port < 60000; far->settings.port += r < 0 ? PORTS : 0)
		r = hub_open(&far->settings, &far->scene.hub, why);
	assert_int_equal(r, 0);
	TEXT_COPY(far->broker.host, far->settings.host);
	far->broker.port = far->settings.port;
	memcpy(far->broker.broker_key, far->key.public_key, CURVE_KEY);
}

static void *connect_far(struct far *far, int type, const char *endpoint)
{
	void *socket = zmq_socket(far->scene.context, type);
	int linger = 0;

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	assert_int_equal(broker_endpoint_prepare(&far->broker, socket), 0);
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	return socket;
}

static void over_tcp_a_stranger_is_refused_at_each_socket(void **state)
{
	struct far far;
	char why[256] = "";

	(void)state;
	set_far(&far);
	assert_int_equal(hub_probe(far.scene.hub, why), 0);
	assert_string_equal(why, "");
	admits_all = true;
	assert_int_equal(hub_probe(far.scene.hub, why), -EPERM);
	assert_non_null(strstr(why, "a stranger with an unknown key was not refused at tcp://127.0.0.1:"));
	assert_non_null(strstr(why, "it was let in"));
	end_scene(&far.scene);
}

static void without_tcp_there_is_nothing_to_prove(void **state)
{
	struct scene scene = set_scene();
	char why[256] = "";

	(void)state;
	assert_int_equal(hub_probe(scene.hub, why), 0);
	assert_string_equal(why, "");
	end_scene(&scene);
}

static void nothing_listens_over_tcp_without_a_key(void **state)
{
	struct hub_settings settings = {
		.run = "/tmp", .admit = admit_me, .refused = count_refused, .host = "127.0.0.1", .port = 7400
	};
	struct hub *hub = NULL;
	char why[256];

	(void)state;
	assert_int_equal(hub_open(&settings, &hub, why), -EINVAL);
	assert_null(hub);
	assert_string_equal(why, "nothing listens over TCP without a key of the broker");
}

static void each_mailbox_over_tcp_has_a_port_of_its_own_behind_the_shared_ones(void **state)
{
	char first[160], second[160], endpoint[192], got[8];
	struct far far;
	void *pull;
	int len = -1, port;

	(void)state;
	set_far(&far);
	assert_int_equal(hub_open_mailbox(far.scene.hub, 7, admitted, first), 0);
	assert_int_equal(hub_open_mailbox(far.scene.hub, 8, admitted, second), 0);
	assert_true(text_starts(first, "tcp://*:"));
	assert_string_not_equal(first, second);
	port = atoi(first + strlen("tcp://*:"));
	assert_in_range(port, far.settings.port + PORT_MAILBOXES, far.settings.port + PORTS - 1);
	assert_int_equal(broker_endpoint_mailbox(&far.broker, first, endpoint), 0);
	pull = connect_far(&far, ZMQ_PULL, endpoint);
	assert_int_equal(hub_push(far.scene.hub, 7, bytes_of("one")), 0);
	for (int i = 0; i < 5000 && len < 0; i++) {
		hub_wait(far.scene.hub, 1000);
		len = zmq_recv(pull, got, sizeof(got), ZMQ_DONTWAIT);
	}
	assert_int_equal(len, 3);
	hub_close_mailbox(far.scene.hub, 7);
	assert_int_equal(hub_push(far.scene.hub, 7, bytes_of("late")), -EAGAIN);
	zmq_close(pull);
	end_scene(&far.scene);
}

static void what_a_key_has_open_is_cut(void **state)
{
	struct far far;
	void *push;
	const char *who;
	char endpoint[192];

	(void)state;
	set_far(&far);
	assert_int_equal(hub_cut(far.scene.hub, admitted), 0); /* nothing yet */
	assert_int_equal(broker_endpoint_of(&far.broker, "ingress", PORT_INGRESS, endpoint), 0);
	push = connect_far(&far, ZMQ_PUSH, endpoint);
	assert_int_equal(zmq_send(push, "one", 3, 0), 3);
	assert_true(bytes_equal(next_frame(&far.scene, &who), bytes_of("one")));
	assert_string_equal(who, admitted);
	assert_int_equal(hub_cut(far.scene.hub, me), 0);
	admitted[strlen(admitted) - 1] ^= 1; /* it does not come again */
	char gone[WHO_MAX];
	TEXT_COPY(gone, admitted);
	gone[strlen(gone) - 1] ^= 1;
	assert_int_equal(hub_cut(far.scene.hub, gone), 1);
	zmq_close(push);
	end_scene(&far.scene);
}

static void a_folder_that_cannot_be_used_is_named(void **state)
{
	struct hub_settings settings = { .run = "/no/such/folder", .admit = admit_me, .refused = count_refused };
	struct hub *hub = NULL;
	char why[256] = "";

	(void)state;
	assert_true(hub_open(&settings, &hub, why) < 0);
	assert_non_null(strstr(why, "/no/such/folder"));
}

static void a_hub_that_gets_no_descriptors_says_what_it_could_not_do(void **state)
{
	struct hub_settings settings = { .run = "/no/such/folder", .admit = admit_me, .refused = count_refused };
	struct rlimit few, before;
	struct hub *hub = NULL;
	char why[256] = "";
	int r;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ .rlim_cur = STDERR_FILENO + 1, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = hub_open(&settings, &hub, why);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(r < 0);
	assert_null(hub);
	assert_non_null(strstr(why, "the gate cannot be set up: Too many open files"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_arrives_whole),
		cmocka_unit_test(what_has_several_parts_or_is_a_little_too_large_comes_as_nothing_with_its_uid),
		cmocka_unit_test(who_says_something_to_a_tap_is_told),
		cmocka_unit_test(a_question_comes_with_its_uid_and_is_answered),
		cmocka_unit_test(what_is_said_before_the_peer_has_connected_arrives_in_order),
		cmocka_unit_test(a_peer_that_is_gone_is_noticed_by_a_send),
		cmocka_unit_test(what_is_too_large_is_not_heard),
		cmocka_unit_test(a_tap_gets_topic_head_and_message),
		cmocka_unit_test(it_knows_whether_anybody_taps),
		cmocka_unit_test(a_tap_without_the_right_gets_what_is_masked),
		cmocka_unit_test(noise_is_told_with_its_socket),
		cmocka_unit_test(over_tcp_a_stranger_is_refused_at_each_socket),
		cmocka_unit_test(without_tcp_there_is_nothing_to_prove),
		cmocka_unit_test(nothing_listens_over_tcp_without_a_key),
		cmocka_unit_test(each_mailbox_over_tcp_has_a_port_of_its_own_behind_the_shared_ones),
		cmocka_unit_test(what_a_key_has_open_is_cut),
		cmocka_unit_test(a_folder_that_cannot_be_used_is_named),
		cmocka_unit_test(a_hub_that_gets_no_descriptors_says_what_it_could_not_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

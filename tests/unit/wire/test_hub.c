/* the hub, met over real sockets */
#include "bus/wire/frame.h"
#include "bus/wire/hub.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static void count_refused(void *context, const char *place, const char *who, const char *why)
{
	(void)context;
	(void)place;
	(void)who;
	(void)why;
	turned_away++;
}

static struct scene set_scene(void)
{
	struct scene scene = { .run = "/tmp/hub-test-XXXXXX" };
	struct hub_settings settings = { .admit = admit_me, .refused = count_refused };
	char why[256];

	snprintf(me, sizeof(me), "uid:%lu", (unsigned long)getuid());
	assert_non_null(mkdtemp(scene.run));
	snprintf(settings.run, sizeof(settings.run), "%s", scene.run);
	assert_int_equal(hub_open(&settings, &scene.hub, why), 0);
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
	assert_int_equal(hub_open_lane(scene.hub, 7, me, endpoint), 0);
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
	assert_int_equal(hub_open_lane(scene.hub, 7, me, endpoint), 0);
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

static void a_folder_that_cannot_be_used_is_named(void **state)
{
	struct hub_settings settings = { .run = "/no/such/folder", .admit = admit_me, .refused = count_refused };
	struct hub *hub = NULL;
	char why[256] = "";

	(void)state;
	assert_true(hub_open(&settings, &hub, why) < 0);
	assert_non_null(strstr(why, "/no/such/folder"));
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
		cmocka_unit_test(a_folder_that_cannot_be_used_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_inbox.c: nobody sleeps while a socket holds something, whatever became of its descriptor */
#include "bus/base/clock.h"
#include "bus/wire/inbox.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { INBOXES = 2 };
#define PATIENCE_US (5 * US_PER_S)
#define MOMENT_US (1 * US_PER_MS)

struct scene {
	void *context, *peers[INBOXES];
	struct inbox inboxes[INBOXES];
	int pipe[2];
};

static void *pair(struct scene *scene, bool binds, int which)
{
	void *socket = zmq_socket(scene->context, ZMQ_PAIR);
	char endpoint[32];

	snprintf(endpoint, sizeof(endpoint), "inproc://%d", which);
	assert_int_equal(binds ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint), 0);
	return socket;
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .context = zmq_ctx_new() };
	assert_int_equal(pipe(scene->pipe), 0);
	for (int i = 0; i < INBOXES; i++) {
		assert_int_equal(inbox_set(&scene->inboxes[i], pair(scene, true, i)), 0);
		scene->peers[i] = pair(scene, false, i);
	}
}

static void end(struct scene *scene)
{
	for (int i = 0; i < INBOXES; i++) {
		zmq_close(scene->inboxes[i].socket);
		zmq_close(scene->peers[i]);
		close(scene->pipe[i]);
	}
	zmq_ctx_term(scene->context);
}

static int wait_for(struct scene *scene, int64_t timeout_us)
{
	struct inbox *inboxes[INBOXES] = { &scene->inboxes[0], &scene->inboxes[1] };
	struct pollfd polled[INBOXES + 1] = { [INBOXES] = { .fd = scene->pipe[0], .events = POLLIN } };

	return inboxes_wait(inboxes, INBOXES, polled, INBOXES + 1, timeout_us);
}

static int hear(struct scene *scene, int which)
{
	zmq_msg_t message;
	int r;

	zmq_msg_init(&message);
	r = inbox_receive(&scene->inboxes[which], &message);
	zmq_msg_close(&message);
	return r;
}

/* Until all of them are known to be empty. */
static void empty(struct scene *scene)
{
	for (int i = 0; i < INBOXES; i++)
		while (hear(scene, i) == 0)
			;
	assert_int_equal(wait_for(scene, MOMENT_US), 0);
}

static void say(struct scene *scene, int which)
{
	assert_int_equal(zmq_send(scene->peers[which], "one", 3, 0), 3);
}

static bool is_readable(const struct inbox *inbox)
{
	struct pollfd polled = { .fd = inbox->fd, .events = POLLIN };

	return poll(&polled, 1, 0) > 0;
}

static void what_is_said_ends_the_wait(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	for (int which = 0; which < INBOXES; which++) {
		empty(&scene);
		say(&scene, which);
		assert_true(wait_for(&scene, PATIENCE_US) > 0);
		assert_true(scene.inboxes[which].unsure);
		assert_false(scene.inboxes[!which].unsure);
		assert_int_equal(hear(&scene, which), 0);
		assert_int_equal(hear(&scene, which), -EAGAIN);
	}
	end(&scene);
}

static void what_was_not_heard_out_is_not_slept_over(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	empty(&scene);
	say(&scene, 1);
	say(&scene, 1);
	assert_true(wait_for(&scene, PATIENCE_US) > 0);
	assert_int_equal(hear(&scene, 1), 0);
	assert_false(is_readable(&scene.inboxes[1]));
	assert_true(wait_for(&scene, PATIENCE_US) > 0);
	assert_int_equal(hear(&scene, 1), 0);
	end(&scene);
}

/* Sending looks at what was done to the socket, and with that the descriptor has told all it had to tell. */
static void what_came_while_something_was_sent_is_not_slept_over(void **state)
{
	struct scene scene;
	int events;
	size_t size = sizeof(events);

	(void)state;
	begin(&scene);
	empty(&scene);
	say(&scene, 0);
	assert_int_equal(zmq_getsockopt(scene.inboxes[0].socket, ZMQ_EVENTS, &events, &size), 0);
	inbox_sent(&scene.inboxes[0]);
	assert_false(is_readable(&scene.inboxes[0]));
	assert_true(wait_for(&scene, PATIENCE_US) > 0);
	assert_int_equal(hear(&scene, 0), 0);
	end(&scene);
}

/* ZeroMQ is asked nothing where the last wait was told that there was nothing. */
static void what_came_since_the_last_wait_is_heard_after_the_next(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	empty(&scene);
	say(&scene, 0);
	assert_int_equal(hear(&scene, 0), -EAGAIN);
	assert_true(wait_for(&scene, PATIENCE_US) > 0);
	assert_int_equal(hear(&scene, 0), 0);
	end(&scene);
}

static void what_was_heard_without_it_is_not_asked_for(void **state)
{
	struct scene scene;
	char text[4];

	(void)state;
	begin(&scene);
	empty(&scene);
	say(&scene, 0);
	assert_true(wait_for(&scene, PATIENCE_US) > 0);
	assert_int_equal(zmq_recv(scene.inboxes[0].socket, text, sizeof(text), ZMQ_DONTWAIT), 3);
	assert_int_equal(zmq_recv(scene.inboxes[0].socket, text, sizeof(text), ZMQ_DONTWAIT), -1);
	inbox_emptied(&scene.inboxes[0]);
	assert_int_equal(wait_for(&scene, MOMENT_US), 0);
	say(&scene, 0);
	assert_true(wait_for(&scene, PATIENCE_US) > 0);
	assert_int_equal(hear(&scene, 0), 0);
	end(&scene);
}

static void what_nobody_hears_is_told_again(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	empty(&scene);
	say(&scene, 0);
	for (int i = 0; i < 3; i++)
		assert_true(wait_for(&scene, PATIENCE_US) > 0);
	empty(&scene);
	end(&scene);
}

static void another_descriptor_ends_the_wait_too(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	empty(&scene);
	assert_int_equal(write(scene.pipe[1], "x", 1), 1);
	assert_int_equal(wait_for(&scene, PATIENCE_US), 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_ends_the_wait),
		cmocka_unit_test(what_was_not_heard_out_is_not_slept_over),
		cmocka_unit_test(what_came_while_something_was_sent_is_not_slept_over),
		cmocka_unit_test(what_came_since_the_last_wait_is_heard_after_the_next),
		cmocka_unit_test(what_was_heard_without_it_is_not_asked_for),
		cmocka_unit_test(what_nobody_hears_is_told_again),
		cmocka_unit_test(another_descriptor_ends_the_wait_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

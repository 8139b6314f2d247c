/*
 * test_zmq_link.c: a process's end of the sockets: it never blocks, and keeps nothing for a broker that is not there
 */
#include "bus/wire/zmq_link.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>
#include <zmq.h>

enum { PATIENCE_MS = 5000, OTHERS = 2 };

/* The broker's ends are plain sockets. */
struct scene {
	struct folder folder;
	void *context, *ingress, *control;
	struct link *link;
	struct buffer heard;
};

static void *bind_to(struct scene *scene, int type, const char *name)
{
	void *socket = zmq_socket(scene->context, type);
	int linger = 0, patience = PATIENCE_MS;
	char endpoint[128];

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", scene->folder.path, name);
	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof(patience));
	zmq_setsockopt(socket, ZMQ_SNDTIMEO, &patience, sizeof(patience));
	assert_int_equal(zmq_bind(socket, endpoint), 0);
	return socket;
}

static void open_broker(struct scene *scene)
{
	scene->ingress = bind_to(scene, ZMQ_PULL, "ingress");
	scene->control = bind_to(scene, ZMQ_ROUTER, "control");
}

static void open_link(struct scene *scene)
{
	struct broker_endpoint broker = broker_endpoint_local(scene->folder.path);

	assert_int_equal(zmq_link_new(&broker, &scene->link), 0);
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .folder = folder_new(), .context = zmq_ctx_new() };
}

static void end(struct scene *scene)
{
	scene->link->close(scene->link);
	if (scene->ingress)
		zmq_close(scene->ingress);
	if (scene->control)
		zmq_close(scene->control);
	zmq_ctx_term(scene->context);
	buffer_free(&scene->heard);
	folder_remove(&scene->folder);
}

/* As soon as it is connected. */
static void say(struct scene *scene, const char *words)
{
	int r = -EAGAIN;

	for (int ms = 0; r == -EAGAIN && ms < PATIENCE_MS; ms++) {
		r = scene->link->say(scene->link, bytes_of(words));
		if (r == -EAGAIN)
			zmq_poll(NULL, 0, 1);
	}
	assert_int_equal(r, 0);
}

static void hello(struct scene *scene, const char *words)
{
	int r = -EAGAIN;

	for (int ms = 0; r == -EAGAIN && ms < PATIENCE_MS; ms++) {
		r = scene->link->control(scene->link, bytes_of(words));
		if (r == -EAGAIN)
			zmq_poll(NULL, 0, 1);
	}
	assert_int_equal(r, 0);
}

static void assert_comes(void *socket, const char *words)
{
	char heard[32];
	int len = zmq_recv(socket, heard, sizeof(heard), 0);

	assert_int_equal(len, strlen(words));
	assert_memory_equal(heard, words, strlen(words));
}

/* What the link hears next: by `hear`, within patience. */
static void assert_hears(struct scene *scene, int (*hear)(struct link *, struct buffer *), const char *words)
{
	int r;

	while ((r = hear(scene->link, &scene->heard)) == -EAGAIN)
		assert_int_equal(zmq_link_wait(scene->link, NULL, 0, -1), 0);
	assert_int_equal(r, 0);
	assert_string_equal(buffer_text(&scene->heard), words);
}

static void open_mailbox(struct scene *scene, const char *name, void **ret_mailbox)
{
	char endpoint[128];

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", scene->folder.path, name);
	*ret_mailbox = bind_to(scene, ZMQ_PUSH, name);
	assert_int_equal(scene->link->open_mailbox(scene->link, endpoint), 0);
}

static void nothing_is_kept_for_a_broker_that_is_not_there(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	open_link(&scene);
	assert_int_equal(scene.link->say(scene.link, bytes_of("lost")), -EAGAIN);
	assert_int_equal(scene.link->control(scene.link, bytes_of("lost")), -EAGAIN);
	assert_int_equal(scene.link->hear_control(scene.link, &scene.heard), -EAGAIN);
	assert_int_equal(scene.link->hear_mailbox(scene.link, &scene.heard), -EAGAIN);
	open_broker(&scene);
	say(&scene, "kept");
	assert_comes(scene.ingress, "kept");
	end(&scene);
}

static void a_question_is_answered_and_each_answer_stands_alone(void **state)
{
	struct scene scene;
	char who[32];
	int len;

	(void)state;
	begin(&scene);
	open_broker(&scene);
	open_link(&scene);
	hello(&scene, "hello");
	len = zmq_recv(scene.control, who, sizeof(who), 0);
	assert_true(len > 0);
	assert_comes(scene.control, "hello");
	assert_int_equal(zmq_send(scene.control, who, (size_t)len, ZMQ_SNDMORE), len);
	assert_int_equal(zmq_send(scene.control, "a long welcome", 14, 0), 14);
	assert_int_equal(zmq_send(scene.control, who, (size_t)len, ZMQ_SNDMORE), len);
	assert_int_equal(zmq_send(scene.control, "short", 5, 0), 5);
	assert_hears(&scene, scene.link->hear_control, "a long welcome");
	assert_hears(&scene, scene.link->hear_control, "short");
	assert_int_equal(scene.link->hear_control(scene.link, &scene.heard), -EAGAIN);
	assert_string_equal(buffer_text(&scene.heard), "short");
	end(&scene);
}

static void a_new_mailbox_takes_the_place_of_the_one_before(void **state)
{
	struct scene scene;
	void *first, *second;

	(void)state;
	begin(&scene);
	open_broker(&scene);
	open_link(&scene);
	open_mailbox(&scene, "lane-1", &first);
	assert_int_equal(zmq_send(first, "one", 3, 0), 3);
	assert_hears(&scene, scene.link->hear_mailbox, "one");
	open_mailbox(&scene, "lane-2", &second);
	assert_int_equal(zmq_send(second, "two", 3, 0), 3);
	assert_hears(&scene, scene.link->hear_mailbox, "two");
	assert_int_equal(scene.link->open_mailbox(scene.link, "tcp://*:7404"), -EINVAL); /* not our broker's */
	assert_int_equal(scene.link->hear_mailbox(scene.link, &scene.heard), -EAGAIN);
	assert_int_equal(
		scene.link->open_mailbox(scene.link, "ipc://"), -EINVAL); /* nothing that can be connected to */
	assert_int_equal(scene.link->hear_mailbox(scene.link, &scene.heard), -EAGAIN);
	assert_int_equal(zmq_link_wait(scene.link, NULL, 0, 0), 0);
	zmq_close(first);
	zmq_close(second);
	end(&scene);
}

/* A gap in it would go unseen. */
static void a_mailbox_that_was_cut_is_not_connected_again(void **state)
{
	enum { A_MOMENT_MS = 100 };
	struct scene scene;
	void *mailbox;
	int patience = A_MOMENT_MS;

	(void)state;
	begin(&scene);
	open_broker(&scene);
	open_link(&scene);
	open_mailbox(&scene, "lane", &mailbox);
	assert_int_equal(zmq_send(mailbox, "one", 3, 0), 3);
	assert_hears(&scene, scene.link->hear_mailbox, "one");
	zmq_close(mailbox);
	zmq_close(scene.ingress);
	zmq_close(scene.control);
	zmq_ctx_term(scene.context); /* it is closed when this returns */
	scene.context = zmq_ctx_new();
	scene.ingress = scene.control = NULL;
	mailbox = bind_to(&scene, ZMQ_PUSH, "lane");
	zmq_setsockopt(mailbox, ZMQ_SNDTIMEO, &patience, sizeof(patience));
	assert_int_equal(zmq_send(mailbox, "two", 3, 0), -1);
	zmq_close(mailbox);
	end(&scene);
}

static void a_wait_tells_which_other_descriptor_is_ready(void **state)
{
	struct pollfd others[OTHERS];
	struct scene scene;
	int pipes[OTHERS][2];
	void *mailbox = NULL;

	(void)state;
	begin(&scene);
	open_broker(&scene);
	open_link(&scene);
	for (int i = 0; i < OTHERS; i++) {
		assert_int_equal(pipe(pipes[i]), 0);
		others[i] = (struct pollfd){ .fd = pipes[i][0], .events = POLLIN };
	}
	for (int with_mailbox = 0; with_mailbox < 2; with_mailbox++) {
		char byte;

		if (with_mailbox)
			open_mailbox(&scene, "lane", &mailbox);
		assert_int_equal(write(pipes[1][1], "x", 1), 1);
		assert_int_equal(zmq_link_wait(scene.link, others, OTHERS, 0), 0);
		assert_int_equal(others[0].revents, 0);
		assert_int_equal(others[1].revents, POLLIN);
		assert_int_equal(read(pipes[1][0], &byte, 1), 1);
		assert_int_equal(zmq_link_wait(scene.link, others, OTHERS, 0), 0);
		assert_int_equal(others[1].revents, 0);
	}
	assert_int_equal(zmq_send(mailbox, "one", 3, 0), 3);
	assert_hears(&scene, scene.link->hear_mailbox, "one");
	for (int i = 0; i < OTHERS; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	zmq_close(mailbox);
	end(&scene);
}

static void a_folder_whose_name_is_too_long_is_refused_at_once(void **state)
{
	struct link *link = NULL;
	struct broker_endpoint broker;
	char run[192];

	(void)state;
	memset(run, 'r', sizeof(run) - 1);
	run[sizeof(run) - 1] = '\0';
	broker = broker_endpoint_local(run);
	assert_int_equal(zmq_link_new(&broker, &link), -EINVAL);
	assert_null(link);
}

static void over_ipc_nothing_is_known_to_be_in_the_way(void **state)
{
	struct scene scene;
	char why[256];

	(void)state;
	begin(&scene);
	open_link(&scene);
	assert_null(scene.link->obstacle(scene.link));
	scene.link->why(scene.link, why);
	assert_non_null(strstr(why, "nobody answers at "));
	assert_non_null(strstr(why, scene.folder.path));
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_kept_for_a_broker_that_is_not_there),
		cmocka_unit_test(a_question_is_answered_and_each_answer_stands_alone),
		cmocka_unit_test(a_new_mailbox_takes_the_place_of_the_one_before),
		cmocka_unit_test(a_mailbox_that_was_cut_is_not_connected_again),
		cmocka_unit_test(a_wait_tells_which_other_descriptor_is_ready),
		cmocka_unit_test(a_folder_whose_name_is_too_long_is_refused_at_once),
		cmocka_unit_test(over_ipc_nothing_is_known_to_be_in_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

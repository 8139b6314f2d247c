/* test_mailbox.c: a mailbox is for one peer and one connection, and what is said before it comes is not lost */
#include "bus/base/file.h"
#include "bus/wire/mailbox.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

enum { EPOCH = 77, PATIENCE_MS = 5000, EARLY = 256 };

struct scene {
	struct folder folder;
	struct hub_settings settings;
	void *context;
	struct gate *gate;
	struct mailboxes *mailboxes;
};

static bool admit(void *context, const char *place, const char *who)
{
	return mailboxes_admit(((struct scene *)context)->mailboxes, place, who);
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .folder = folder_new(), .context = zmq_ctx_new() };
	snprintf(scene->settings.run, sizeof(scene->settings.run), "%s", scene->folder.path);
	scene->gate = gate_new(scene->context, admit, scene);
	scene->mailboxes = mailboxes_new(scene->context, &scene->settings);
}

static void end(struct scene *scene)
{
	mailboxes_free(scene->mailboxes);
	gate_free(scene->gate);
	zmq_ctx_term(scene->context);
	folder_remove(&scene->folder);
}

static void *connect_to(struct scene *scene, const char *endpoint)
{
	void *socket = zmq_socket(scene->context, ZMQ_PULL);

	assert_int_equal(zmq_connect(socket, endpoint), 0);
	return socket;
}

/* The gate answers, and what waits for the peer goes out, until it hears something. */
static int hear(struct scene *scene, void *peer, char to[16])
{
	zmq_pollitem_t items[] = { { .socket = peer, .events = ZMQ_POLLIN },
		{ .socket = gate_socket(scene->gate), .events = ZMQ_POLLIN } };

	for (int waited = 0; waited < PATIENCE_MS && !items[0].revents; waited += 5) {
		zmq_poll(items, 2, 5);
		gate_answer(scene->gate);
		mailboxes_retry(scene->mailboxes);
	}
	return items[0].revents ? zmq_recv(peer, to, 16, ZMQ_DONTWAIT) : -1;
}

static void me(char who[WHO_MAX])
{
	snprintf(who, WHO_MAX, "uid:%lu", (unsigned long)getuid());
}

static void what_is_said_before_the_peer_comes_arrives_in_order(void **state)
{
	char endpoint[160], who[WHO_MAX], heard[16];
	struct scene scene;
	void *peer;

	(void)state;
	begin(&scene);
	me(who);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH, who, endpoint), 0);
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("one")), 0);
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("two")), 0);
	assert_true(mailboxes_retry(scene.mailboxes));
	peer = connect_to(&scene, endpoint);
	assert_int_equal(hear(&scene, peer, heard), 3);
	assert_memory_equal(heard, "one", 3);
	assert_int_equal(hear(&scene, peer, heard), 3);
	assert_memory_equal(heard, "two", 3);
	assert_false(mailboxes_retry(scene.mailboxes));
	zmq_close(peer);
	end(&scene);
}

static void nobody_waits_for_a_peer_that_never_comes(void **state)
{
	char endpoint[160], who[WHO_MAX];
	struct scene scene;

	(void)state;
	begin(&scene);
	me(who);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH, who, endpoint), 0);
	for (int i = 0; i < EARLY; i++)
		assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("early")), 0);
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("too much")), -EAGAIN);
	end(&scene);
}

static void a_mailbox_admits_its_own_peer_and_only_once(void **state)
{
	char endpoint[160];
	struct scene scene;

	(void)state;
	begin(&scene);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH, "uid:4711", endpoint), 0);
	assert_false(mailboxes_admit(scene.mailboxes, "lane 77", "uid:4712"));
	assert_false(mailboxes_admit(scene.mailboxes, "lane 78", "uid:4711"));
	assert_false(mailboxes_admit(scene.mailboxes, "lane 77x", "uid:4711"));
	assert_false(mailboxes_admit(scene.mailboxes, "lane ", "uid:4711"));
	assert_false(mailboxes_admit(scene.mailboxes, "control", "uid:4711"));
	assert_false(mailboxes_admit(scene.mailboxes, "door 77", "uid:4711"));
	assert_false(mailboxes_admit(scene.mailboxes, "", "uid:4711"));
	assert_true(mailboxes_admit(scene.mailboxes, "lane 77", "uid:4711"));
	assert_false(mailboxes_admit(scene.mailboxes, "lane 77", "uid:4711"));
	end(&scene);
}

static void a_second_connection_takes_nothing_of_the_first(void **state)
{
	char endpoint[160], who[WHO_MAX], heard[16];
	struct scene scene;
	void *peer, *thief;

	(void)state;
	begin(&scene);
	me(who);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH, who, endpoint), 0);
	peer = connect_to(&scene, endpoint);
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("one")), 0);
	assert_int_equal(hear(&scene, peer, heard), 3);
	thief = connect_to(&scene, endpoint);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("more")), 0);
		assert_int_equal(hear(&scene, peer, heard), 4);
	}
	assert_int_equal(zmq_recv(thief, heard, sizeof(heard), ZMQ_DONTWAIT), -1);
	assert_int_equal(gate_refused(scene.gate), 1);
	zmq_close(thief);
	zmq_close(peer);
	end(&scene);
}

static void a_mailbox_whose_peer_has_gone_says_so(void **state)
{
	char endpoint[160], who[WHO_MAX], heard[16];
	struct scene scene;
	void *peer;
	int r = 0;

	(void)state;
	begin(&scene);
	me(who);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH, who, endpoint), 0);
	peer = connect_to(&scene, endpoint);
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("one")), 0);
	assert_int_equal(hear(&scene, peer, heard), 3);
	zmq_close(peer);
	for (int i = 0; i < 1000 && r == 0; i++) {
		zmq_poll(NULL, 0, 5);
		r = mailboxes_push(scene.mailboxes, EPOCH, bytes_of("more"));
	}
	assert_int_equal(r, -EAGAIN);
	end(&scene);
}

static void a_closed_mailbox_is_nobodys(void **state)
{
	char first[160], second[160];
	struct scene scene;

	(void)state;
	begin(&scene);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH, "uid:4711", first), 0);
	assert_int_equal(mailboxes_open(scene.mailboxes, EPOCH + 1, "uid:4711", second), 0);
	assert_string_not_equal(first, second);
	mailboxes_close(scene.mailboxes, EPOCH);
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("late")), -EAGAIN);
	assert_false(mailboxes_admit(scene.mailboxes, "lane 77", "uid:4711"));
	assert_true(mailboxes_admit(scene.mailboxes, "lane 78", "uid:4711"));
	end(&scene);
}

static void what_a_killed_broker_left_is_taken_away_and_nothing_else(void **state)
{
	struct hub_settings settings = { .by_group = false };
	struct folder folder = folder_new();
	char stale[128], other[128];
	struct mailboxes *mailboxes;
	void *context = zmq_ctx_new();

	(void)state;
	FOLDER_PATH(stale, folder, "lane-0123456789abcdef");
	FOLDER_PATH(other, folder, "lane");
	assert_int_equal(file_write_durably(stale, bytes_of(""), 0600), 0);
	assert_int_equal(file_write_durably(other, bytes_of(""), 0600), 0);
	snprintf(settings.run, sizeof(settings.run), "%s", folder.path);
	mailboxes = mailboxes_new(context, &settings);
	assert_int_equal(access(stale, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	mailboxes_free(mailboxes);
	snprintf(settings.run, sizeof(settings.run), "/no/such/folder");
	mailboxes_free(mailboxes_new(context, &settings));
	mailboxes_free(NULL);
	zmq_ctx_term(context);
	folder_remove(&folder);
}

static void a_mailbox_that_cannot_be_bound_is_none(void **state)
{
	char endpoint[160];
	struct scene scene;

	(void)state;
	begin(&scene);
	snprintf(scene.settings.run, sizeof(scene.settings.run), "/no/such/folder");
	assert_true(mailboxes_open(scene.mailboxes, EPOCH, "uid:4711", endpoint) < 0);
	memset(scene.settings.run, 'r', sizeof(scene.settings.run) - 1); /* a name of a socket has at most 107 bytes */
	assert_true(mailboxes_open(scene.mailboxes, EPOCH, "uid:4711", endpoint) < 0);
	assert_false(mailboxes_admit(scene.mailboxes, "lane 77", "uid:4711"));
	assert_int_equal(mailboxes_push(scene.mailboxes, EPOCH, bytes_of("late")), -EAGAIN);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_before_the_peer_comes_arrives_in_order),
		cmocka_unit_test(nobody_waits_for_a_peer_that_never_comes),
		cmocka_unit_test(a_mailbox_admits_its_own_peer_and_only_once),
		cmocka_unit_test(a_second_connection_takes_nothing_of_the_first),
		cmocka_unit_test(a_mailbox_whose_peer_has_gone_says_so),
		cmocka_unit_test(a_closed_mailbox_is_nobodys),
		cmocka_unit_test(what_a_killed_broker_left_is_taken_away_and_nothing_else),
		cmocka_unit_test(a_mailbox_that_cannot_be_bound_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_broker_endpoint.c: where the broker is, and with which keys; what is wrong is said before anything connects */
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/bus_keys.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

static struct folder folder;
static struct curve_pair broker, ours;

static void put(const char *name, const uint8_t key[CURVE_KEY], mode_t mode)
{
	char path[160], hex[CURVE_HEX];
	FILE *file;

	FOLDER_PATH(path, folder, name);
	text_hex(key, CURVE_KEY, hex);
	file = fopen(path, "w");
	fprintf(file, "%s\n", hex);
	fclose(file);
	chmod(path, mode);
}

static int put_keys(void **state)
{
	(void)state;
	folder = folder_new();
	curve_make(&broker);
	curve_make(&ours);
	put("broker.pub", broker.public_key, 0644);
	put("sender.key", ours.secret_key, 0600);
	return 0;
}

static int remove_keys(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

/* [connect] says `words`. */
static int read_with(const char *words, struct broker_endpoint *ret, char why[256])
{
	char text[400];
	struct config *config;
	struct config_error error;
	int r;

	snprintf(text, sizeof(text), "[paths]\nrun = /tmp/run\nkeys = %s\n[connect]\n%s\n", folder.path, words);
	assert_int_equal(config_parse(text, "cartbus.conf", bus_keys, &config, &error), 0);
	r = broker_endpoint_read(config, "sender", ret, why);
	config_free(config);
	return r;
}

static void without_a_broker_it_is_this_machine(void **state)
{
	char why[256], endpoint[192];
	struct broker_endpoint destination;

	(void)state;
	assert_int_equal(read_with("", &destination, why), 0);
	assert_int_equal(broker_endpoint_of(&destination, "control", PORT_CONTROL, endpoint), 0);
	assert_string_equal(endpoint, "ipc:///tmp/run/control");
	assert_int_equal(broker_endpoint_mailbox(&destination, "ipc:///tmp/run/lane-1", endpoint), 0);
	assert_string_equal(endpoint, "ipc:///tmp/run/lane-1");
	assert_int_equal(broker_endpoint_mailbox(&destination, "tcp://*:7404", endpoint),
		-EINVAL); /* our broker never names an address of TCP here */
}

static void over_tcp_the_host_is_the_one_that_was_configured(void **state)
{
	char why[256], endpoint[192];
	struct broker_endpoint destination;

	(void)state;
	assert_int_equal(read_with("broker = 10.0.0.7:7400", &destination, why), 0);
	assert_memory_equal(destination.broker_key, broker.public_key, CURVE_KEY);
	assert_memory_equal(destination.key.public_key, ours.public_key, CURVE_KEY); /* made of the secret one */
	assert_int_equal(broker_endpoint_of(&destination, "ingress", PORT_INGRESS, endpoint), 0);
	assert_string_equal(endpoint, "tcp://10.0.0.7:7401");
	assert_int_equal(broker_endpoint_mailbox(&destination, "tcp://*:7404", endpoint), 0);
	assert_string_equal(endpoint, "tcp://10.0.0.7:7404");
	assert_int_equal(broker_endpoint_mailbox(&destination, "tcp://10.9.9.9:7404", endpoint), -EINVAL);
	assert_int_equal(broker_endpoint_mailbox(&destination, "ipc:///etc/passwd", endpoint), -EINVAL);
}

static void what_is_wrong_names_the_file_and_the_remedy(void **state)
{
	static const char *const wrong[] = { "broker = 10.0.0.7", "broker = :7400", "broker = 10.0.0.7:80",
		"broker = 10.0.0.7:65535", "broker = 10.0.0.7:7400x" };
	char why[256], text[100], path[160];
	struct config_error error;
	struct config *config;
	struct curve_pair pair;
	struct broker_endpoint destination;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "[connect]\n%s\n", wrong[i]);
		assert_int_equal(config_parse(text, "cartbus.conf", bus_keys, &config, &error), -EINVAL);
		assert_non_null(strstr(error.text, "cartbus.conf:2: [connect] broker: expected host:port"));
	}
	assert_int_equal(read_with("broker = 10.0.0.7:7400\nkey = other", &destination, why), -ENOENT);
	assert_non_null(strstr(why, "other.key is missing; \"cartbus keys make NAME\" on the broker's host makes it"));
	put("sender.key", ours.secret_key, 0644);
	assert_int_equal(read_with("broker = 10.0.0.7:7400", &destination, why), -EPERM);
	assert_non_null(strstr(why, "chmod 600"));
	FOLDER_PATH(path, folder, "broker.pub");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(read_with("broker = 10.0.0.7:7400", &destination, why), -ENOENT);
	assert_non_null(strstr(why, "broker.pub is missing; copy it here from the broker's host"));
	assert_int_equal(curve_read_pair(folder.path, curve_broker_name, &pair, why), -ENOENT);
	assert_non_null(strstr(why, "broker.key is missing; \"cartbus secrets make\" makes it"));
}

static void a_key_that_is_none_is_refused(void **state)
{
	char why[256], path[160];
	struct broker_endpoint destination;
	FILE *file;

	(void)state;
	FOLDER_PATH(path, folder, "broker.pub");
	file = fopen(path, "w");
	fprintf(file, "0123456789abcdef\n");
	fclose(file);
	assert_int_equal(read_with("broker = 10.0.0.7:7400", &destination, why), -EBADMSG);
	assert_non_null(strstr(why, "broker.pub holds no key"));
}

/* What libzmq then demands of the other end. */
static void nothing_connects_over_tcp_without_curve(void **state)
{
	void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_PUSH);
	char why[256];
	struct broker_endpoint destination;
	int mechanism;
	size_t len = sizeof(mechanism);

	(void)state;
	assert_int_equal(read_with("broker = 10.0.0.7:7400", &destination, why), 0);
	assert_int_equal(broker_endpoint_prepare(&destination, socket), 0);
	assert_int_equal(zmq_getsockopt(socket, ZMQ_MECHANISM, &mechanism, &len), 0);
	assert_int_equal(mechanism, ZMQ_CURVE);
	zmq_close(socket);
	zmq_ctx_term(context);
}

static void an_address_is_a_host_and_a_port_that_leaves_room_for_mailboxes(void **state)
{
	static const char *const right[] = { "a:1024", "a:65000", "[::1]:7400", "10.0.0.7:07400" };
	static const char *const wrong[] = { "", "a", ":7400", "a:", "a:1023", "a:65001", "a: 7400", "a:+7400",
		"a:-7400", "a:7400x", "a:x", "a:/7400", "a::" };
	char host[128], text[160];
	int port;

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_true(curve_address(right[i], host, &port));
	assert_string_equal(host, "10.0.0.7");
	assert_int_equal(port, 7400);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(curve_address(wrong[i], host, &port));
	snprintf(text, sizeof(text), "%0127d:7400", 0);
	assert_true(curve_address(text, host, &port));
	assert_int_equal(strlen(host), 127);
	snprintf(text, sizeof(text), "%0128d:7400", 0);
	assert_false(curve_address(text, host, &port));
}

static void a_name_that_just_fits_is_taken(void **state)
{
	char run[192], mailbox[200], endpoint[192];
	struct broker_endpoint destination;

	(void)state;
	for (size_t more = 0; more < 2; more++) {
		size_t len = sizeof(endpoint) - 1 - strlen("ipc:///control") + more;

		memset(run, 'r', len);
		run[len] = '\0';
		destination = broker_endpoint_local(run);
		assert_int_equal(
			broker_endpoint_of(&destination, "control", PORT_CONTROL, endpoint), more ? -EINVAL : 0);
		snprintf(mailbox, sizeof(mailbox), "ipc://%s/lane-12", run);
		assert_int_equal(broker_endpoint_mailbox(&destination, mailbox, endpoint), more ? -EINVAL : 0);
	}
	snprintf(destination.host, sizeof(destination.host), "far");
	snprintf(mailbox, sizeof(mailbox), "tcp://*:%0180d", 0);
	assert_int_equal(broker_endpoint_mailbox(&destination, mailbox, endpoint), 0);
	snprintf(mailbox, sizeof(mailbox), "tcp://*:%0182d", 0);
	assert_int_equal(broker_endpoint_mailbox(&destination, mailbox, endpoint), -EINVAL);
}

/* What a user who is not root is told about the sockets in `run`. */
static void why_for_another_user(const char *run, const char *expected)
{
	struct broker_endpoint destination = broker_endpoint_local(run);
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (child == 0) {
		char why[256];

		if (setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		broker_endpoint_why(&destination, why);
		_exit(!strstr(why, expected));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void why_nobody_answers_is_told_with_what_helps(void **state)
{
	struct broker_endpoint destination = { .host = "far.example", .port = 7400 };
	char why[256], path[160];

	(void)state;
	broker_endpoint_why(&destination, why);
	assert_string_equal(why, "nobody answers at far.example:7400");
	destination = broker_endpoint_local(folder.path);
	broker_endpoint_why(&destination, why);
	assert_non_null(strstr(why, "nobody answers at "));
	assert_non_null(strstr(why, "/control"));
	if (geteuid() != 0)
		return;
	FOLDER_PATH(path, folder, "control");
	assert_int_equal(file_write_durably(path, bytes_of(""), 0600), 0);
	why_for_another_user(folder.path, "say it with sudo"); /* the folder was made for others */
	assert_int_equal(chown(folder.path, 65534, 65534), 0);
	why_for_another_user(folder.path, "restart cartbus-broker");
	assert_int_equal(chown(path, 65534, 65534), 0);
	why_for_another_user(folder.path, "nobody answers at ");
	assert_int_equal(chown(folder.path, 0, getegid()), 0);
}

static void a_name_that_does_not_fit_is_refused_and_not_cut(void **state)
{
	char run[192], endpoint[192];
	struct broker_endpoint destination;

	(void)state;
	memset(run, 'r', sizeof(run) - 1);
	run[sizeof(run) - 1] = '\0';
	destination = broker_endpoint_local(run);
	assert_int_equal(broker_endpoint_of(&destination, "control", PORT_CONTROL, endpoint), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_broker_it_is_this_machine, put_keys, remove_keys),
		cmocka_unit_test_setup_teardown(
			over_tcp_the_host_is_the_one_that_was_configured, put_keys, remove_keys),
		cmocka_unit_test_setup_teardown(what_is_wrong_names_the_file_and_the_remedy, put_keys, remove_keys),
		cmocka_unit_test_setup_teardown(a_key_that_is_none_is_refused, put_keys, remove_keys),
		cmocka_unit_test_setup_teardown(nothing_connects_over_tcp_without_curve, put_keys, remove_keys),
		cmocka_unit_test_setup_teardown(why_nobody_answers_is_told_with_what_helps, put_keys, remove_keys),
		cmocka_unit_test(an_address_is_a_host_and_a_port_that_leaves_room_for_mailboxes),
		cmocka_unit_test(a_name_that_just_fits_is_taken),
		cmocka_unit_test(a_name_that_does_not_fit_is_refused_and_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

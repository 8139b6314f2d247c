/* test_check_local.c: whose port is taken by whom, as `config check` tells it: sockets of this test listen, and are found */
#include "services/cartbus/doctor/check_local.h"

#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <arpa/inet.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { TRIES_MOST = 100, STRANGER = 65533, SERVICE = 65534 };

/* In the place of the C library's: the users of a unit's installation, where `has_users`. */
static bool has_users;

struct passwd *getpwnam(const char *name)
{
	static struct passwd user = { .pw_uid = SERVICE };

	return has_users && strcmp(name, "cartbus-gateway") == 0 ? &user : NULL;
}

/* ---- sockets ---- */

static bool is_v6(const char *host)
{
	return strchr(host, ':');
}

/* -1: this address and port cannot be had here. `only_v6`: a socket of "::" does not take what comes for IPv4 addresses. */
static int bound_as(const char *host, int port, int only_v6)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	int fd = socket(is_v6(host) ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), again = 1, r;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again));
	if (is_v6(host)) {
		assert_int_equal(inet_pton(AF_INET6, host, &v6.sin6_addr), 1);
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof(only_v6));
		r = bind(fd, (struct sockaddr *)&v6, sizeof(v6));
	} else {
		assert_int_equal(inet_pton(AF_INET, host, &v4.sin_addr), 1);
		r = bind(fd, (struct sockaddr *)&v4, sizeof(v4));
	}
	if (r == 0)
		return fd;
	close(fd);
	return -1;
}

static int bound(const char *host, int port)
{
	return bound_as(host, port, 0);
}

static int port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = { .any = { 0 } };
	socklen_t len = sizeof(at);

	assert_int_equal(getsockname(fd, &at.any, &len), 0);
	return ntohs(at.any.sa_family == AF_INET ? at.v4.sin_port : at.v6.sin6_port);
}

/*
 * Listens at `theirs`. ret_kept is a socket that is bound to the same port at `ours`, so that no other program takes the port there. Two
 * sockets with SO_REUSEADDR can both be bound; the kernel refuses the second one only when it is to listen.
 */
static int listener_as(const char *theirs, int only_v6, const char *ours, int *ret_kept)
{
	for (int i = 0; i < TRIES_MOST; i++) {
		int kept = bound(ours, 0), fd;

		assert_true(kept >= 0);
		*ret_kept = kept;
		fd = bound_as(theirs, port_of(kept), only_v6);
		if (fd >= 0 && listen(fd, 1) == 0)
			return fd;
		close(kept);
		if (fd >= 0)
			close(fd);
	}
	fail_msg("no port of %s is free", theirs);
	return -1;
}

static int listener(const char *theirs, const char *ours, int *ret_kept)
{
	return listener_as(theirs, 0, ours, ret_kept);
}

static bool has_v6(void)
{
	int fd = bound("::1", 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- what is said ---- */

static struct folder home;
static char heard[2000];
static int faults; /* values of the configuration that are wrong, in whose place a default is read */

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard), "%s\n", words);
}

/* How many ports are wrong where the gateway is to listen there; what is said of it is in `heard`. */
static int check(const char *host, int port, const char *more)
{
	struct command command = { .name = "config check", .config_faults = faults, .hear = hear };
	struct config_error error = { "" };
	char text[600];
	int wrong;

	heard[0] = '\0';
	snprintf(text, sizeof(text),
		"[paths]\nrun = %s/run\n[gateway]\nlisten = %s\nport = %d\n[monitor]\nport = 0\n%s", home.path, host,
		port, more);
	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &command.config, &error), 0);
	wrong = check_ports(&command);
	config_free(command.config);
	return wrong;
}

/* ---- the tests ---- */

static void a_port_is_taken_where_two_sockets_keep_each_other_out(void **state)
{
	static const struct {
		const char *theirs, *ours;
		bool is_free, only_v6;
	} cases[] = {
		{ "127.0.0.1", "127.0.0.1", false, false },
		{ "127.0.0.1", "127.0.0.2", true, false },
		{ "127.0.0.1", "0.0.0.0", false, false },
		{ "0.0.0.0", "127.0.0.2", false, false },
		{ "127.0.0.1", "::", false, false },
		{ "127.0.0.1", "::1", true, false },
		{ "0.0.0.0", "::1", true, false },
		{ "::1", "::1", false, false },
		{ "::1", "::", false, false },
		{ "::1", "127.0.0.1", true, false },
		{ "::1", "0.0.0.0", true, false },
		{ "::", "::1", false, false },
		{ "::", "127.0.0.1", false, false },
		{ "::ffff:127.0.0.1", "127.0.0.1", false, false },
		{ "::ffff:127.0.0.1", "127.0.0.2", true, false },
		{ "::ffff:127.0.0.1", "0.0.0.0", false, false },
		{ "::", "127.0.0.1", true, true },
		{ "::", "0.0.0.0", true, true },
		{ "::", "::1", false, true },
		{ "::", "::", false, true },
	};
	bool v6 = has_v6();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char wanted[200] = "";
		int fd, kept, port, wrong;

		if (!v6 && (is_v6(cases[i].theirs) || is_v6(cases[i].ours)))
			continue;
		fd = listener_as(cases[i].theirs, cases[i].only_v6, cases[i].ours, &kept);
		port = port_of(fd);
		wrong = check(cases[i].ours, port, "");
		if (!cases[i].is_free)
			snprintf(wanted, sizeof(wanted),
				"[gateway] port: cannot listen on %s port %d: a test (uid %u) has it; ", cases[i].ours,
				port, geteuid());
		if (wrong != !cases[i].is_free || !text_starts(heard, wanted) || !*heard != !*wanted)
			fail_msg("%s listens, and %s is to: %d, %s", cases[i].theirs, cases[i].ours, wrong, heard);
		assert_int_equal(listen(kept, 1) == 0, cases[i].is_free); /* the kernel says the same */
		close(fd);
		close(kept);
	}
}

static void a_connection_whose_listener_is_gone_keeps_nobody_out(void **state)
{
	int kept, fd = listener("127.0.0.1", "127.0.0.1", &kept), port = port_of(fd), ours, theirs;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ours, (struct sockaddr *)&to, sizeof(to)), 0);
	theirs = accept(fd, NULL, NULL);
	assert_true(theirs >= 0);
	assert_int_equal(check("127.0.0.1", port, ""), 1);
	close(fd);
	assert_int_equal(check("127.0.0.1", port, ""), 0);
	assert_string_equal(heard, "");
	close(ours);
	close(theirs);
	close(kept);
}

static void nobodys_port_is_told_of_while_another_one_may_be_meant(void **state)
{
	int kept, fd = listener("127.0.0.1", "127.0.0.1", &kept);

	(void)state;
	faults = 1;
	assert_int_equal(check("127.0.0.1", port_of(fd), ""), 0);
	assert_string_equal(heard, "");
	faults = 0;
	assert_int_equal(check("127.0.0.1", port_of(fd), ""), 1);
	close(fd);
	close(kept);
}

static void who_has_the_port_is_named_without_what_a_terminal_would_obey(void **state)
{
	int kept, fd = listener("127.0.0.1", "127.0.0.1", &kept);

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "a\033[31m\ntest"), 0);
	assert_int_equal(check("127.0.0.1", port_of(fd), ""), 1);
	assert_null(strchr(heard, '\033'));
	assert_int_equal(strcspn(heard, "\n"), strlen(heard) - 1);
	close(fd);
	close(kept);
}

/* What of the broker's a command sees from outside: where `cartbus up` runs. */
static int start_broker(void)
{
	struct sockaddr_un control = { .sun_family = AF_UNIX };
	char path[100];
	int broker;

	FOLDER_PATH(path, home, "run");
	assert_int_equal(mkdir(path, 0700), 0);
	FOLDER_PATH(control.sun_path, home, "run/control");
	broker = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(broker, (struct sockaddr *)&control, sizeof(control)), 0);
	assert_int_equal(listen(broker, 1), 0);
	return broker;
}

static void the_service_itself_may_have_the_port(void **state)
{
	int kept, fd = listener("127.0.0.1", "127.0.0.1", &kept), port = port_of(fd), broker;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "cartbus-gateway"), 0);
	assert_int_equal(check("127.0.0.1", port, ""), 0); /* it may be another installation's */
	assert_true(text_starts(heard,
		"warning: [gateway] port: cartbus-gateway of this installation, or of another, has 127.0.0.1 port "));

	broker = start_broker();
	assert_int_equal(check("127.0.0.1", port, ""), 0);
	assert_string_equal(heard, "");
	assert_int_equal(prctl(PR_SET_NAME, "a test"), 0);
	assert_int_equal(check("127.0.0.1", port, ""), 0); /* what runs goes on */
	assert_true(text_starts(heard, "warning: [gateway] port: cannot listen on 127.0.0.1 port "));
	assert_non_null(strstr(heard, ": a test (uid "));

	assert_int_equal(prctl(PR_SET_NAME, "cartbus-monitor"), 0);
	assert_int_equal(check("127.0.0.1", port, ""), 0);
	assert_non_null(strstr(heard, ": cartbus-monitor (uid "));
	close(broker);
	close(fd);
	close(kept);
}

/* On a host without the broker those services run that have a key, and nobody knows whether they do so now. */
static void on_a_host_without_the_broker_the_ports_of_services_with_a_key_are_looked_at(void **state)
{
	int kept, fd = listener("127.0.0.1", "127.0.0.1", &kept), port = port_of(fd);
	char more[200], path[100];

	(void)state;
	snprintf(more, sizeof(more), "[connect]\nbroker = tcp://192.0.2.1:7000\n[paths]\nkeys = %s\n", home.path);
	assert_int_equal(check("127.0.0.1", port, more), 0);
	assert_string_equal(heard, "");
	FOLDER_PATH(path, home, "gateway.key");
	assert_int_equal(file_write_durably(path, bytes_of("key"), 0600), 0);
	assert_int_equal(check("127.0.0.1", port, more), 0);
	assert_true(text_starts(heard, "warning: [gateway] port: cannot listen on 127.0.0.1 port "));
	assert_int_equal(prctl(PR_SET_NAME, "cartbus-gateway"), 0);
	assert_int_equal(check("127.0.0.1", port, more), 0);
	assert_string_equal(heard, "");
	assert_int_equal(unlink(path), 0);
	close(fd);
	close(kept);
}

/* A socket is its opener's. */
static int listener_of(uid_t user, int *ret_kept)
{
	int fd;

	assert_int_equal(seteuid(user), 0);
	fd = listener("127.0.0.1", "127.0.0.1", ret_kept);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

/* Anybody may call a process so. */
static void who_only_has_the_name_of_a_service_or_of_systemd_is_a_stranger(void **state)
{
	int kept, fd, port, broker;
	char path[100];

	(void)state;
	if (geteuid() != 0)
		skip(); /* who is not root opens no sockets of others */
	fd = listener_of(STRANGER, &kept);
	port = port_of(fd);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "systemd" : "cartbus-gateway";
		char wanted[60];

		snprintf(wanted, sizeof(wanted), ": %s (uid %d) has it; ", name, STRANGER);
		assert_int_equal(prctl(PR_SET_NAME, name), 0);
		assert_int_equal(check("127.0.0.1", port, ""), 1);
		assert_non_null(strstr(heard, wanted));
	}
	broker = start_broker();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(prctl(PR_SET_NAME, i ? "systemd" : "cartbus-gateway"), 0);
		assert_int_equal(check("127.0.0.1", port, ""), 0);
		assert_true(text_starts(heard, "warning: [gateway] port: cannot listen on 127.0.0.1 port "));
	}
	FOLDER_PATH(path, home, "run/control");
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_int_equal(prctl(PR_SET_NAME, "cartbus-gateway"), 0);
	assert_int_equal(check("127.0.0.1", port, ""), 0); /* in a home all run as one user, and this is that user's */
	assert_string_equal(heard, "");
	close(broker);
	close(fd);
	close(kept);
}

static void a_service_of_a_unit_has_its_port_as_its_own_user_and_systemd_as_root(void **state)
{
	int kept, fd, broker;

	(void)state;
	if (geteuid() != 0)
		skip(); /* who is not root opens no sockets of others */
	has_users = true;
	broker = start_broker();
	fd = listener_of(SERVICE, &kept);
	assert_int_equal(prctl(PR_SET_NAME, "cartbus-gateway"), 0);
	assert_int_equal(check("127.0.0.1", port_of(fd), ""), 0);
	assert_string_equal(heard, "");
	close(broker);
	close(fd);
	close(kept);

	fd = listener_of(0, &kept);
	assert_int_equal(prctl(PR_SET_NAME, "systemd"), 0);
	assert_int_equal(check("127.0.0.1", port_of(fd), ""), 0);
	assert_string_equal(heard, "");
	close(fd);
	close(kept);
}

static int setup(void **state)
{
	(void)state;
	has_users = false;
	home = folder_new();
	return prctl(PR_SET_NAME, "a test");
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&home);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_port_is_taken_where_two_sockets_keep_each_other_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_connection_whose_listener_is_gone_keeps_nobody_out, setup, teardown),
		cmocka_unit_test_setup_teardown(
			nobodys_port_is_told_of_while_another_one_may_be_meant, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_has_the_port_is_named_without_what_a_terminal_would_obey, setup, teardown),
		cmocka_unit_test_setup_teardown(the_service_itself_may_have_the_port, setup, teardown),
		cmocka_unit_test_setup_teardown(
			on_a_host_without_the_broker_the_ports_of_services_with_a_key_are_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_only_has_the_name_of_a_service_or_of_systemd_is_a_stranger, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_service_of_a_unit_has_its_port_as_its_own_user_and_systemd_as_root, setup, teardown),
	};

	return cmocka_run_group_tests_name("cartbus.check_local", tests, NULL, NULL);
}

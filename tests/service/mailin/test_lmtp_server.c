/* test_lmtp_server.c: mails over LMTP, on real sockets and in virtual time: what each is answered, who is served, and who has to go */
#include "bus/actor/process/loop.h"
#include "bus/actor/process/watchdog.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/zmq_link.h"
#include "given.h"
#include "services/platform/mailin/lmtp_server.h"
#include "services/platform/mailin/report.h"
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS_MOST = 70, EACH_USER = 64, WAITING_MOST = 16, TURNS = 8, REST_TURNS = 200, HEARD_MOST = 4000 };
#define FRUITLESS_US (5 * US_PER_MINUTE)
#define SESSION_US (30 * US_PER_MINUTE)

static const char AWAY[] = "451 4.3.0 away from the broker; come again\r\n", OK[] = "250 2.0.0 ok\r\n",
		  UNKNOWN[] = "451 4.4.0 it is not known yet which mail this is about; come again\r\n";

static struct link *no_broker;
static struct loop *loop;
static struct activity activity;
static struct lmtp_server *server;
static int client[CLIENTS_MOST], clients;

/* ---- both ends ---- */

static void begin(const char *reader)
{
	char where[100];

	given_begin(reader);
	const struct broker_endpoint nobody = broker_endpoint_local(given.path);
	assert_int_equal(zmq_link_new(&nobody, &no_broker), 0);
	loop = loop_new(no_broker, NULL, &activity);
	snprintf(where, sizeof(where), "%s/lmtp", given.path);
	server = lmtp_server_new(loop,
		&(struct lmtp_server_settings){ .where = where,
			.group = "",
			.needs = { .quarantine = given.quarantine,
				.keys = &given.keys,
				.reader = given.reader,
				.routing = &given.routing,
				.runtime = given.runtime,
				.clock = sim_clock(given.sim) } });
	clients = 0;
}

static void end(void)
{
	for (int i = 0; i < clients; i++)
		close(client[i]);
	lmtp_server_free(server);
	assert_false(given_has("lmtp"));
	loop_free(loop);
	no_broker->close(no_broker);
	given_end();
}

static int setup(void **state)
{
	(void)state;
	begin(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	end();
	return 0;
}

static void work(void)
{
	for (int i = 0; i < TURNS; i++)
		loop_wait(loop, 0);
}

static void say(int who, const char *text)
{
	assert_int_equal(send(client[who], text, strlen(text), MSG_NOSIGNAL), strlen(text));
	work();
}

/* All that has come since; "<end>" behind it: the connection has ended. Borrowed until the next call. */
static const char *heard(int who)
{
	static char text[HEARD_MOST];
	ssize_t n = 0;
	size_t len = 0;

	while ((n = recv(client[who], text + len, sizeof(text) - len - 10, MSG_DONTWAIT)) > 0)
		len += (size_t)n;
	strcpy(text + len, n == 0 ? "<end>" : "");
	return text;
}

static int come(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/lmtp", given.path);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	given_pass(1);
	client[clients] = fd;
	work();
	return clients++;
}

static int come_and_greet(void)
{
	int who = come();

	assert_string_equal(heard(who), "220 localhost LMTP cartbus\r\n");
	say(who, "LHLO mx.example\r\n");
	assert_non_null(strstr(heard(who), "250 SIZE "));
	return who;
}

/* Up to the mail's text. */
static void announce(int who, const char *recipient)
{
	char line[400];

	say(who, "MAIL FROM:<>\r\n");
	snprintf(line, sizeof(line), "RCPT TO:<%s>\r\n", recipient);
	say(who, line);
	say(who, "DATA\r\n");
	assert_string_equal(heard(who), "250 2.1.0 ok\r\n250 2.1.5 ok\r\n354 go on\r\n");
}

static void hand_in(int who, const char *recipient, const char *mail)
{
	announce(who, recipient);
	say(who, mail);
	say(who, "\r\n.\r\n");
	assert_string_equal(heard(who), "");
}

/* What the mail is answered when it was read, and what it says is on the bus. */
static const char *deliver(int who, const char *recipient, const char *mail)
{
	hand_in(who, recipient, mail);
	given_read_one();
	work();
	return heard(who);
}

static const char *only_name_aside(void)
{
	static char name[100];
	char path[100];
	int count = 0;

	snprintf(path, sizeof(path), "%s/aside", given.path);
	DIR *dir = opendir(path);
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		TEXT_COPY(name, entry->d_name);
		count++;
	}
	closedir(dir);
	assert_int_equal(count, 1);
	return name;
}

static void must_lie_aside(const char *why, const char *recipient)
{
	const struct quarantine_note note = given_note(only_name_aside());

	assert_string_equal(note.why, why);
	assert_int_equal(note.count, 1);
	assert_string_equal(note.recipients[0], recipient);
}

/* ---- mails ---- */

/* To one more it may be forwarded: it is the envelope that says whose it is. */
static void a_bounce_is_taken_when_the_bus_has_it_and_told_once(void **state)
{
	int who = come_and_greet();

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_string_equal(deliver(who, given_tagged(), given_bounce("", "failed", "w")), OK);
		assert_int_equal(given_told(), 1);
	}
	assert_string_equal(deliver(who, given_tagged(), given_bounce("", "delayed", "w")), OK);
	assert_int_equal(given_told(), 1);
	assert_int_equal(quarantine_tally(given.quarantine).mails, 0);
	say(who, "QUIT\r\n");
	assert_string_equal(heard(who), "221 2.0.0 bye\r\n<end>");
}

static void a_mail_for_nobody_here_is_not_taken(void **state)
{
	int who = come_and_greet();

	(void)state;
	say(who, "MAIL FROM:<>\r\nRCPT TO:<a@elsewhere.example>\r\nDATA\r\n");
	assert_string_equal(
		heard(who), "250 2.1.0 ok\r\n550 5.1.1 no shop's bounces go there\r\n503 5.5.1 no recipient\r\n");
}

static void what_is_no_report_lies_aside_with_whom_it_was_for(void **state)
{
	(void)state;
	assert_string_equal(deliver(come_and_greet(), "bounces@shop.example", "Subject: s\r\n\r\nHello"), OK);
	must_lie_aside("it is no report of a bounce or a complaint", "bounces@shop.example");
}

static void a_mail_that_nobody_knows_comes_again_for_a_minute(void **state)
{
	int who = come_and_greet();

	(void)state;
	assert_string_equal(deliver(who, "bounces@shop.example", given_bounce("", "failed", "w")), UNKNOWN);
	given_pass(US_PER_MINUTE - 1);
	assert_string_equal(deliver(who, "bounces@shop.example", given_bounce("", "failed", "w")), UNKNOWN);
	assert_string_equal(deliver(who, "bounces@shop.example", given_bounce("", "failed", "another")), UNKNOWN);
	given_pass(1);
	assert_string_equal(deliver(who, "bounces@shop.example", given_bounce("", "failed", "another")), UNKNOWN);
	assert_int_equal(quarantine_tally(given.quarantine).mails, 0);
	assert_string_equal(deliver(who, "bounces@shop.example", given_bounce("", "failed", "w")), OK);
	must_lie_aside("it is about a mail that we never sent, or proves nothing", "bounces@shop.example");
	assert_int_equal(given_told(), 0);
}

/* None is forgotten because of the others before it comes again. */
static void many_mails_that_nobody_knows_lie_aside_after_a_minute_too(void **state)
{
	enum { MAILS = 80 };
	int who = come_and_greet();
	char words[20];

	(void)state;
	for (int i = 0; i < 2 * MAILS; i++) {
		snprintf(words, sizeof(words), "w%d", i % MAILS);
		assert_string_equal(deliver(who, "bounces@shop.example", given_bounce("", "failed", words)),
			i < MAILS ? UNKNOWN : OK);
		if (i == MAILS - 1)
			given_pass(US_PER_MINUTE);
	}
	assert_int_equal(quarantine_tally(given.quarantine).mails, MAILS);
}

static void while_the_broker_is_away_a_mail_server_keeps_its_mails(void **state)
{
	int who = come_and_greet(), other = come_and_greet();

	(void)state;
	hand_in(who, given_tagged(), given_bounce("", "failed", "w"));
	announce(other, given_tagged());
	sim_kill_broker(given.sim);
	given_pass(US_PER_MINUTE);
	given_read_one();
	work();
	assert_string_equal(heard(who), AWAY);
	say(other, "any mail\r\n.\r\n");
	assert_string_equal(heard(other), AWAY);
	say(who, "MAIL FROM:<>\r\nRCPT TO:<bounces@shop.example>\r\n");
	assert_string_equal(heard(who), "250 2.1.0 ok\r\n451 4.3.0 away from the broker; come again\r\n");
	assert_int_equal(quarantine_tally(given.quarantine).mails, 0);
}

/* It was being said when the session broke: it may be there, or not. */
static void a_mail_that_was_being_said_when_the_broker_went_comes_again(void **state)
{
	int who = come_and_greet();

	(void)state;
	hand_in(who, given_tagged(), given_bounce("", "failed", "w"));
	sim_kill_broker(given.sim);
	given_read_one();
	given_pass(US_PER_MINUTE);
	work();
	assert_string_equal(heard(who), AWAY);
}

static void a_mail_that_ends_who_reads_it_lies_aside_and_one_that_nobody_can_read_comes_again(void **state)
{
	int who;

	(void)state;
	given_let_readers_hang();
	who = come_and_greet();
	hand_in(who, "bounces@shop.example", "a mail");
	given_give_up_one();
	work();
	assert_string_equal(heard(who), OK);
	must_lie_aside("it ended the process that read it, twice", "bounces@shop.example");
	end();
	begin("/nowhere");
	who = come_and_greet();
	hand_in(who, "bounces@shop.example", "a mail");
	assert_int_equal(reader_look(given.reader), -1);
	work();
	assert_string_equal(heard(who), "451 4.3.0 it cannot be read now; come again\r\n");
	assert_int_equal(quarantine_tally(given.quarantine).mails, 0);
}

static void what_has_no_room_aside_is_not_taken(void **state)
{
	int who = come_and_greet();

	(void)state;
	given_lay("aside/much", "", (int64_t)QUARANTINE_BYTES_MOST - 4096, 0);
	given_pass(US_PER_MINUTE);
	quarantine_look(given.quarantine);
	assert_string_equal(deliver(who, "bounces@shop.example", "Subject: s\r\n\r\nHello"),
		"452 4.3.1 what nobody could read fills its room: cartbus mailin list\r\n");
}

/* While it is read, and while it is said. */
static void a_client_may_go_at_any_time(void **state)
{
	struct pollfd ready = { .fd = reader_fd(given.reader), .events = POLLIN };
	int who[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		who[i] = come_and_greet();
	hand_in(who[0], given_tagged(), given_bounce("", "failed", "w"));
	hand_in(who[1], given_tagged(), given_bounce("", "failed", "said all the same"));
	shutdown(client[who[0]], SHUT_WR);
	work();
	assert_string_equal(heard(who[0]), "<end>");
	given_read_one();
	assert_int_equal(given_told(), 0);
	assert_int_equal(poll(&ready, 1, 20000), 1);
	reader_work(given.reader);
	shutdown(client[who[1]], SHUT_WR);
	work();
	assert_string_equal(heard(who[1]), "<end>");
	assert_int_equal(given_told(), 1);
	shutdown(client[who[2]], SHUT_WR);
	work();
	assert_string_equal(heard(who[2]), "<end>");
	assert_int_equal(lmtp_server_look(server), -1);
}

/* A reader that is being started has all descriptors for a moment. */
static void a_connection_that_a_child_has_as_well_is_forgotten_when_it_ends(void **state)
{
	int who = come_and_greet(), status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
			pause();
	say(who, "QUIT\r\n");
	assert_non_null(strstr(heard(who), "<end>"));
	shutdown(client[who], SHUT_RDWR);
	work();
	work();
	assert_int_equal(lmtp_server_look(server), -1);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
}

/* ---- who has to go ---- */

static void a_client_without_a_mail_for_five_minutes_is_sent_away(void **state)
{
	static const char farewell[] = "421 4.4.2 no whole mail, or here, for too long\r\n<end>";
	int idle, busy;

	(void)state;
	assert_int_equal(lmtp_server_look(server), -1);
	idle = come_and_greet();
	assert_int_equal(lmtp_server_look(server), FRUITLESS_US);
	given_pass(US_PER_MINUTE - 1);
	busy = come_and_greet();
	assert_int_equal(lmtp_server_look(server), FRUITLESS_US - US_PER_MINUTE);
	given_pass(3 * US_PER_MINUTE);
	assert_string_equal(deliver(busy, given_tagged(), given_bounce("", "failed", "w")), OK);
	given_pass(US_PER_MINUTE - 1);
	say(idle, "NOOP\r\n");
	assert_string_equal(heard(idle), OK); /* that is no mail */
	assert_int_equal(lmtp_server_look(server), 1);
	assert_string_equal(heard(idle), "");
	given_pass(1);
	lmtp_server_look(server);
	assert_string_equal(heard(idle), farewell);
	assert_string_equal(heard(busy), "");
	assert_int_equal(lmtp_server_turned_away(server), 0);
}

static void nobody_stays_longer_than_half_an_hour(void **state)
{
	int who = come_and_greet();

	(void)state;
	for (int i = 1; i < 10; i++) {
		given_pass(3 * US_PER_MINUTE);
		lmtp_server_look(server);
		assert_string_equal(deliver(who, given_tagged(), given_bounce("", "failed", "w")), OK);
	}
	given_pass(3 * US_PER_MINUTE - 1);
	assert_int_equal(lmtp_server_look(server), 1);
	assert_string_equal(heard(who), "");
	given_pass(1);
	assert_int_equal(lmtp_server_look(server), -1);
	assert_string_equal(heard(who), "421 4.4.2 no whole mail, or here, for too long\r\n<end>");
}

static void who_has_gone_longest_without_a_mail_makes_room_for_a_newcomer(void **state)
{
	static const char farewell[] = "421 4.4.2 no whole mail for too long while others wait\r\n<end>";

	(void)state;
	for (int i = 0; i < EACH_USER; i++)
		come_and_greet();
	assert_string_equal(deliver(0, given_tagged(), given_bounce("", "failed", "w")), OK);
	hand_in(1, given_tagged(), given_bounce("", "failed", "waits"));
	assert_string_equal(heard(2), "");
	assert_int_equal(lmtp_server_turned_away(server), 0);
	come_and_greet();
	assert_string_equal(heard(2), farewell);
	come_and_greet();
	assert_string_equal(heard(3), farewell);
	assert_int_equal(lmtp_server_turned_away(server), 2);
	for (int i = 0; i < clients; i++)
		if (i != 2 && i != 3)
			assert_string_equal(heard(i), "");
	given_read_one();
	work();
	assert_string_equal(heard(1), OK);
}

/* A stranger knows an address here, and what is to come again. */
static void who_brings_only_mails_that_are_not_taken_makes_room_first(void **state)
{
	(void)state;
	for (int i = 0; i < EACH_USER; i++)
		come_and_greet();
	assert_string_equal(deliver(0, "bounces@shop.example", given_bounce("", "failed", "w")), UNKNOWN);
	come_and_greet();
	assert_string_equal(heard(0), "421 4.4.2 no whole mail for too long while others wait\r\n<end>");
	for (int i = 1; i < clients; i++)
		assert_string_equal(heard(i), "");
}

static void who_waits_for_an_answer_makes_no_room(void **state)
{
	int who;

	(void)state;
	for (int i = 0; i < EACH_USER; i++)
		hand_in(come_and_greet(), given_tagged(), given_bounce("", "failed", "w"));
	who = come();
	assert_string_equal(heard(who), "421 4.3.2 too many connections\r\n<end>");
	assert_int_equal(lmtp_server_turned_away(server), 1);
	for (int i = 0; i < EACH_USER; i++) {
		given_read_one();
		work();
		assert_string_equal(heard(i), OK);
	}
	assert_string_equal(heard(come()), "220 localhost LMTP cartbus\r\n");
}

/* ---- what mails hold ---- */

/* As large as a mail may be; `whole`: with its end. */
static void send_large(int who, bool whole)
{
	static char lines[REPORT_BYTES_MOST];
	size_t at = 0;

	for (size_t i = 0; i < sizeof(lines); i++)
		lines[i] = i % 64 == 62 ? '\r' : i % 64 == 63 ? '\n' : 'x';
	announce(who, "bounces@shop.example");
	while (at < sizeof(lines)) {
		ssize_t sent = send(client[who], lines + at, sizeof(lines) - at, MSG_DONTWAIT | MSG_NOSIGNAL);

		at += sent > 0 ? (size_t)sent : 0;
		loop_wait(loop, 0);
	}
	for (int i = 0; i < REST_TURNS; i++)
		loop_wait(loop, 0);
	if (whole)
		say(who, ".\r\n");
}

static void mails_that_wait_are_bounded_and_one_that_is_still_sent_makes_room(void **state)
{
	int slow, late;

	(void)state;
	slow = come_and_greet();
	send_large(slow, false);
	for (int i = 0; i < WAITING_MOST - 1; i++) {
		int who = come_and_greet();

		send_large(who, true);
		assert_string_equal(heard(who), "");
	}
	assert_string_equal(heard(slow), "");
	late = come_and_greet();
	send_large(late, true);
	assert_string_equal(heard(late), "");
	assert_string_equal(heard(slow), "421 4.4.2 no whole mail for too long while others wait\r\n<end>");
	assert_int_equal(lmtp_server_turned_away(server), 1);
	late = come_and_greet();
	say(late, "MAIL FROM:<>\r\nRCPT TO:<bounces@shop.example>\r\nDATA\r\n");
	assert_string_equal(
		heard(late), "250 2.1.0 ok\r\n250 2.1.5 ok\r\n452 4.3.1 too many mails at once; come again\r\n");
	assert_int_equal(lmtp_server_turned_away(server), 2);
	given_read_one();
	work();
	say(late, "DATA\r\n");
	assert_string_equal(heard(late), "354 go on\r\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_bounce_is_taken_when_the_bus_has_it_and_told_once),
		TEST(a_mail_for_nobody_here_is_not_taken),
		TEST(what_is_no_report_lies_aside_with_whom_it_was_for),
		TEST(a_mail_that_nobody_knows_comes_again_for_a_minute),
		TEST(many_mails_that_nobody_knows_lie_aside_after_a_minute_too),
		TEST(while_the_broker_is_away_a_mail_server_keeps_its_mails),
		TEST(a_mail_that_was_being_said_when_the_broker_went_comes_again),
		TEST(a_mail_that_ends_who_reads_it_lies_aside_and_one_that_nobody_can_read_comes_again),
		TEST(what_has_no_room_aside_is_not_taken),
		TEST(a_client_may_go_at_any_time),
		TEST(a_connection_that_a_child_has_as_well_is_forgotten_when_it_ends),
		TEST(a_client_without_a_mail_for_five_minutes_is_sent_away),
		TEST(nobody_stays_longer_than_half_an_hour),
		TEST(who_has_gone_longest_without_a_mail_makes_room_for_a_newcomer),
		TEST(who_brings_only_mails_that_are_not_taken_makes_room_first),
		TEST(who_waits_for_an_answer_makes_no_room),
		TEST(mails_that_wait_are_bounded_and_one_that_is_still_sent_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return given_main(argc, argv, run);
}

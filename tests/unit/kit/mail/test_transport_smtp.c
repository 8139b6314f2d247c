/* test_transport_smtp.c: mails over SMTP, to a server that answers as the test says and hangs up where it says; without a runtime */
#include "bus/base/text.h"
#include "services/kit/mail/transport.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/effect_stand_in.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, LOOK_MS = 5, QUIET_ROUNDS = 20 };

/* ---- the server ---- */

/* What it says to each; NULL: it takes it; "": it hangs up. */
static const char *to_mail, *to_rcpt, *to_data, *to_last;
static int listener, peer, connections, mails;
static int turned_away;   /* further connections, which got 421 */
static char lines[20000]; /* all that it was told on its last connection */
static size_t lines_len, lines_read;
static bool reads_body;
static const char *silent_at; /* the end of what it is told and does not answer; NULL: it answers all */

/* From STARTTLS on; NULL: it offers none, or is not there yet. */
static SSL_CTX *offered;
static SSL *tls;
static bool said_goodbye; /* TLS's own, on its last connection */

static void hang_up(void)
{
	said_goodbye = tls && SSL_get_shutdown(tls) & SSL_RECEIVED_SHUTDOWN;
	SSL_free(tls);
	tls = NULL;
	close(peer);
	peer = -1;
}

static bool is_silent(void)
{
	size_t len = silent_at ? strlen(silent_at) : 0;

	return len > 0 && lines_len >= len && strcmp(lines + lines_len - len, silent_at) == 0;
}

static ssize_t put(const char *text, size_t len)
{
	return tls ? SSL_write(tls, text, (int)len) : send(peer, text, len, MSG_NOSIGNAL);
}

/* 0: the connection has ended */
static ssize_t take(char *ret, size_t room)
{
	int n, why;

	if (!tls)
		return recv(peer, ret, room, 0);
	ERR_clear_error(); /* the driver's, in this thread, is no answer to us */
	n = SSL_read(tls, ret, (int)room);
	why = SSL_get_error(tls, n);
	return n > 0 ? n : why == SSL_ERROR_WANT_READ ? -1 : 0;
}

static void start_tls(void)
{
	tls = SSL_new(offered);
	assert_int_equal(SSL_set_fd(tls, peer), 1);
	SSL_set_accept_state(tls);
}

static void reply(const char *text, const char *otherwise)
{
	static char line[34 * 1024];

	snprintf(line, sizeof(line), "%s\r\n", text ? text : otherwise);
	if ((text && !*text) || (!is_silent() && put(line, strlen(line)) != (ssize_t)strlen(line)))
		hang_up(); /* or the driver has, which had not read all answers yet */
}

static void answer_line(const char *line)
{
	if (reads_body && strcmp(line, ".") != 0)
		return;
	if (reads_body) {
		reads_body = false;
		mails++;
		reply(to_last, "250 2.0.0 queued");
	} else if (text_starts(line, "MAIL")) {
		reply(to_mail, "250 ok");
	} else if (text_starts(line, "RCPT")) {
		reply(to_rcpt, "250 ok");
	} else if (text_starts(line, "DATA")) {
		reads_body = !to_data;
		reply(to_data, "354 go on");
	} else if (text_starts(line, "STARTTLS")) {
		reply(NULL, "220 go on");
		if (peer >= 0)
			start_tls();
	} else {
		reply(text_starts(line, "QUIT") ? "" : NULL, offered && !tls ? "250-here\r\n250 STARTTLS" : "250 here");
	}
}

static void serve(void)
{
	char line[2000];
	const char *end;

	if (peer < 0 && (peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		connections++;
		lines_len = lines_read = 0;
		reads_body = false;
		reply(NULL, "220 here");
	}
	ssize_t n = peer < 0 ? 0 : take(lines + lines_len, sizeof(lines) - 1 - lines_len);
	lines_len += n > 0 ? (size_t)n : 0;
	lines[lines_len] = '\0';
	while (peer >= 0 && (end = strstr(lines + lines_read, "\r\n"))) {
		snprintf(line, sizeof(line), "%.*s", (int)(end - lines - (long)lines_read), lines + lines_read);
		lines_read = (size_t)(end - lines) + 2;
		answer_line(line);
	}
	if (peer >= 0 && n == 0)
		hang_up();
	int further = peer < 0 ? -1 : accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (further >= 0) {
		turned_away++;
		assert_true(send(further, "421 4.7.0 one is enough\r\n", 25, MSG_NOSIGNAL) > 0);
		close(further);
	}
}

/* ---- around it ---- */

static struct effect_driver *driver;
static struct mail *mail;
static struct clock system_clock;
static int port;

/* Where it did before, if it did. */
static void listen_again(void)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)
	};
	socklen_t len = sizeof(at);
	const int yes = 1;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	port = ntohs(at.sin_port);
}

static char ca[128]; /* the server's own certificate; "": no TLS is demanded */

static void begin(int connections_most, const struct clock *clock)
{
	driver = transport_smtp_new(&(struct smtp_settings){ .host = "127.0.0.1",
		.port = port,
		.starttls = *ca,
		.ca = *ca ? ca : NULL,
		.connections = connections_most,
		.clock = clock });
}

static X509 *certificate_of(EVP_PKEY *key)
{
	X509 *certificate = X509_new();
	X509_NAME *name = X509_get_subject_name(certificate);
	X509_EXTENSION *address = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");

	X509_set_version(certificate, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 24L * 3600);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"the server", -1, -1, 0);
	X509_set_issuer_name(certificate, name);
	X509_set_pubkey(certificate, key);
	X509_add_ext(certificate, address, -1);
	X509_EXTENSION_free(address);
	assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
	return certificate;
}

/* The server offers TLS from now on, and it is demanded. */
static void begin_over_tls(const struct folder *folder)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = certificate_of(key);
	FILE *file;

	FOLDER_PATH(ca, *folder, "ca.pem");
	file = fopen(ca, "we");
	assert_non_null(file);
	assert_int_equal(PEM_write_X509(file, certificate), 1);
	assert_int_equal(fclose(file), 0);
	offered = SSL_CTX_new(TLS_server_method());
	assert_int_equal(SSL_CTX_use_certificate(offered, certificate), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(offered, key), 1);
	X509_free(certificate);
	EVP_PKEY_free(key);
	driver->close(driver->self);
	begin(1, &system_clock);
}

/* From now on time passes only where the test says so. */
static struct clock *begin_in_virtual_time(void)
{
	static struct clock clock;

	driver->close(driver->self);
	clock = clock_virtual(US_PER_HOUR);
	begin(1, &clock);
	return &clock;
}

static int setup(void **state)
{
	char why[160];

	(void)state;
	system_clock = clock_system();
	port = 0;
	listen_again();
	peer = -1;
	connections = mails = turned_away = 0;
	to_mail = to_rcpt = to_data = to_last = silent_at = NULL;
	ca[0] = '\0';
	begin(1, &system_clock);
	assert_int_equal(
		mail_note("shop@shop.example", "anna@mail.example", "s", "text\n", "1.a@shop.example", 0, &mail, why),
		0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	driver->close(driver->self);
	mail_free(mail);
	close(listener);
	if (peer >= 0)
		hang_up();
	SSL_CTX_free(offered);
	offered = NULL;
	return 0;
}

/* As the process's loop does: the driver works when it is due, and not otherwise. */
static void work(void)
{
	struct pollfd ready = { .fd = driver->fd(driver->self), .events = POLLIN };
	int64_t wait_us = driver->wait_us(driver->self);
	bool is_due = wait_us >= 0 && wait_us < LOOK_MS * US_PER_MS;

	serve();
	if (poll(&ready, 1, is_due ? (int)(wait_us / US_PER_MS) : LOOK_MS) > 0 || is_due)
		driver->work(driver->self);
	serve();
}

static void await(const struct effect *effect, int claims, int ends)
{
	for (int i = 0; i < PATIENCE_MS / LOOK_MS && (effect->claims < claims || effect->ends < ends); i++)
		work();
	assert_int_equal(effect->claims, claims);
	assert_int_equal(effect->ends, ends);
}

static struct mail_result send_one(void)
{
	struct effect effect = { 0 };

	driver->start(driver->self, &effect, mail);
	await(&effect, 0, 1);
	return effect.result;
}

/* ---- mails ---- */

static void mails_go_whole_one_after_the_other_over_one_connection(void **state)
{
	struct mail_result result;

	(void)state;
	buffer_clear(&mail->mime);
	buffer_add_text(&mail->mime, "Subject: s\r\n\r\none\r\n.two\r\n..\r\n");
	assert_int_equal(driver->wait_us(driver->self), -1);
	for (int i = 1; i <= 3; i++) {
		result = send_one();
		assert_int_equal(result.end, MAIL_SENT);
		assert_string_equal(result.transport, "smtp");
		assert_non_null(strstr(result.words, "2.0.0 queued"));
		assert_int_equal(mails, i);
		assert_int_equal(driver->wait_us(driver->self), -1);
	}
	assert_int_equal(connections, 1);
	assert_non_null(strstr(lines, "MAIL FROM:<shop@shop.example>\r\nRCPT TO:<anna@mail.example>\r\nDATA\r\n"));
	assert_non_null(strstr(lines, "\r\none\r\n..two\r\n...\r\n.\r\n"));
}

static void what_the_server_says_decides_what_became_of_a_mail(void **state)
{
	static const struct {
		const char *mail, *rcpt, *data, *last;
		enum mail_end end;
		bool no_mailbox;
	} cases[] = {
		{ NULL, NULL, NULL, "250 ok", MAIL_SENT, false },
		{ "550 5.7.1 not you", NULL, NULL, NULL, MAIL_REFUSED, false },
		{ "450 4.7.1 later", NULL, NULL, NULL, MAIL_LATER, false },
		{ NULL, "550 5.1.1 no such user", NULL, NULL, MAIL_REFUSED, true },
		{ NULL, "450 4.2.1 busy", NULL, NULL, MAIL_LATER, false },
		{ NULL, NULL, "554 no", NULL, MAIL_REFUSED, false },
		{ NULL, NULL, "451 4.3.0 later", NULL, MAIL_LATER, false },
		{ NULL, NULL, NULL, "554 5.7.1 spam", MAIL_REFUSED, false },
		{ NULL, NULL, NULL, "452 4.3.1 full", MAIL_LATER, false },
		{ "", NULL, NULL, NULL, MAIL_NOT_SENT, false },
		{ NULL, "", NULL, NULL, MAIL_NOT_SENT, false },
		{ NULL, NULL, "", NULL, MAIL_NOT_SENT, false },
		{ NULL, NULL, NULL, "", MAIL_UNKNOWN, false },
		{ NULL, NULL, NULL, NULL, MAIL_SENT, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		to_mail = cases[i].mail, to_rcpt = cases[i].rcpt, to_data = cases[i].data, to_last = cases[i].last;
		struct mail_result result = send_one();
		if (result.end != cases[i].end || result.no_mailbox != cases[i].no_mailbox || result.no_server)
			fail_msg("case %zu ended as %d: %s", i, result.end, result.words);
	}
}

static void the_last_byte_waits_for_a_yes_that_is_fresh(void **state)
{
	static const struct {
		bool go, outdated;
		enum mail_end end;
	} cases[] = { { true, false, MAIL_SENT }, { false, false, MAIL_NOT_SENT }, { true, true, MAIL_NOT_SENT },
		{ true, false, MAIL_SENT } };
	int sent = 0;

	(void)state;
	mail->claim = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct effect effect = { .outdated = cases[i].outdated };

		driver->start(driver->self, &effect, mail);
		await(&effect, 1, 0);
		for (int j = 0; j < QUIET_ROUNDS; j++)
			work();
		assert_int_equal(mails, sent);
		assert_int_equal(effect.ends, 0);
		driver->proceed(driver->self, &effect, cases[i].go);
		await(&effect, 1, 1);
		assert_int_equal(effect.result.end, cases[i].end);
		for (int j = 0; j < QUIET_ROUNDS; j++)
			work();
		sent += cases[i].end == MAIL_SENT;
		assert_int_equal(mails, sent);
	}
}

/* At its last byte, in the queue behind it, and not fit to be sent: nobody is told of any, and the next mail goes. */
static void mails_that_were_stopped_are_not_sent(void **state)
{
	struct effect first = { 0 }, second = { 0 }, unfit = { 0 };

	(void)state;
	mail->claim = true;
	driver->start(driver->self, &first, mail);
	driver->start(driver->self, &second, mail);
	await(&first, 1, 0);
	assert_int_equal(second.claims, 0);
	driver->stop(driver->self, &second);
	driver->stop(driver->self, &first);
	TEXT_COPY(mail->envelope_to, "a@b.example>\r\nDATA");
	driver->start(driver->self, &unfit, mail);
	driver->stop(driver->self, &unfit);
	driver->start(driver->self, &unfit, mail);
	await(&unfit, 0, 1);
	assert_int_equal(unfit.result.end, MAIL_REFUSED);
	TEXT_COPY(mail->envelope_to, "anna@mail.example");
	mail->claim = false;
	assert_int_equal(send_one().end, MAIL_SENT);
	assert_int_equal(mails, 1);
	assert_int_equal(connections, 2);
	assert_int_equal(first.ends + second.ends, 0);
}

/* A kept connection that the server has left meanwhile is of no use, and no mail's fault. */
static void a_connection_that_the_server_has_left_is_replaced(void **state)
{
	(void)state;
	assert_int_equal(send_one().end, MAIL_SENT);
	hang_up();
	assert_int_equal(send_one().end, MAIL_SENT);
	assert_int_equal(connections, 2);
}

/* No goodbye either, after which a server might take what it has for a whole mail. */
static void what_is_stopped_or_closed_is_cut_off_without_a_word_and_an_idle_connection_says_goodbye(void **state)
{
	struct effect effect = { 0 };

	(void)state;
	mail->claim = true;
	for (int i = 0; i < 2; i++) {
		driver->start(driver->self, &effect, mail);
		await(&effect, i + 1, 0);
		if (i == 0) {
			driver->stop(driver->self, &effect);
		} else {
			driver->close(driver->self);
			begin(1, &system_clock);
		}
		for (int j = 0; j < PATIENCE_MS / LOOK_MS && peer >= 0; j++)
			work();
		assert_true(peer < 0);
		assert_null(strstr(lines, "QUIT"));
		assert_null(strstr(lines, "\r\n.\r\n"));
	}
	assert_int_equal(mails + effect.ends, 0);
	mail->claim = false;
	assert_int_equal(send_one().end, MAIL_SENT);
	driver->close(driver->self);
	begin(1, &system_clock);
	for (int j = 0; j < PATIENCE_MS / LOOK_MS && peer >= 0; j++)
		work();
	assert_non_null(strstr(lines, "\r\n.\r\nQUIT\r\n"));
}

/* Not even TLS's own. */
static void over_tls_as_well_what_is_stopped_is_cut_off_without_a_word(void **state)
{
	struct folder folder = folder_new();
	struct effect effect = { 0 };

	(void)state;
	begin_over_tls(&folder);
	assert_int_equal(send_one().end, MAIL_SENT);
	assert_non_null(tls);
	mail->claim = true;
	driver->start(driver->self, &effect, mail);
	await(&effect, 1, 0);
	driver->stop(driver->self, &effect);
	for (int j = 0; j < PATIENCE_MS / LOOK_MS && peer >= 0; j++)
		work();
	assert_true(peer < 0);
	assert_false(said_goodbye);
	assert_null(strstr(lines, "QUIT"));
	assert_int_equal(mails, 1);
	folder_remove(&folder);
}

/* RFC 5321 4.5.3.2: five minutes for a command, ten for the mail. */
static void a_server_that_does_not_answer_is_waited_for_as_long_as_the_rfc_says(void **state)
{
	static const struct {
		const char *until;
		int64_t us;
		enum mail_end end;
	} cases[] = { { "MAIL FROM:<shop@shop.example>\r\n", 5 * US_PER_MINUTE, MAIL_NOT_SENT },
		{ "\r\n.\r\n", 10 * US_PER_MINUTE, MAIL_UNKNOWN } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct clock *clock = begin_in_virtual_time();
		struct effect effect = { 0 };

		silent_at = cases[i].until;
		lines[0] = '\0';
		driver->start(driver->self, &effect, mail);
		for (int j = 0; j < PATIENCE_MS / LOOK_MS && !strstr(lines, cases[i].until); j++)
			work();
		assert_non_null(strstr(lines, cases[i].until));
		assert_int_equal(driver->wait_us(driver->self), cases[i].us);
		clock->virtual_us += cases[i].us - 1;
		for (int j = 0; j < QUIET_ROUNDS; j++)
			work();
		assert_int_equal(effect.ends, 0);
		assert_int_equal(driver->wait_us(driver->self), 1);
		clock->virtual_us += 1;
		await(&effect, 0, 1);
		assert_int_equal(effect.result.end, cases[i].end);
		assert_string_equal(effect.result.words, "the server did not answer in time");
		silent_at = NULL;
		hang_up();
	}
}

/* The first is told at once, so that the outage becomes known; the others wait, for nine minutes at most. */
static void while_the_server_is_away_one_mail_is_given_back_and_the_others_wait_in_their_order(void **state)
{
	struct clock *clock = begin_in_virtual_time();
	struct effect effects[4] = { 0 };

	(void)state;
	close(listener);
	for (int i = 0; i < 3; i++)
		driver->start(driver->self, &effects[i], mail);
	await(&effects[0], 0, 1);
	assert_int_equal(effects[0].result.end, MAIL_NOT_SENT);
	assert_true(effects[0].result.no_server);
	for (int64_t left_us = 9 * US_PER_MINUTE - 1, step_us; left_us > 0; left_us -= step_us) {
		work();
		work();
		step_us = driver->wait_us(driver->self);
		if (step_us <= 0)
			step_us = US_PER_MS;
		assert_true(step_us <= US_PER_MINUTE);
		step_us = step_us < left_us ? step_us : left_us;
		clock->virtual_us += step_us;
	}
	for (int i = 0; i < QUIET_ROUNDS; i++)
		work();
	assert_int_equal(effects[1].ends + effects[2].ends, 0);
	driver->start(driver->self, &effects[3], mail);
	clock->virtual_us += 1;
	driver->work(driver->self);
	for (int i = 1; i < 3; i++) {
		await(&effects[i], 0, 1);
		assert_int_equal(effects[i].result.end, MAIL_NOT_SENT);
		assert_true(effects[i].result.no_server);
	}
	for (int i = 0; i < QUIET_ROUNDS; i++)
		work();
	assert_int_equal(effects[3].ends, 0);
	listen_again();
	clock->virtual_us += US_PER_MINUTE;
	await(&effects[3], 0, 1);
	assert_int_equal(effects[3].result.end, MAIL_SENT);
	assert_int_equal(send_one().end, MAIL_SENT);
	assert_int_equal(mails, 2);
}

/* As Postfix with smtpd_client_connection_count_limit: no outage, and all mails go over the connection that it admits. */
static void a_server_that_admits_one_connection_gets_all_mails_over_it(void **state)
{
	struct effect effects[6] = { 0 };

	(void)state;
	driver->close(driver->self);
	begin(3, &system_clock);
	mail->claim = true;
	for (int i = 0; i < 6; i++)
		driver->start(driver->self, &effects[i], mail);
	await(&effects[0], 1, 0);
	for (int i = 0; i < PATIENCE_MS / LOOK_MS && turned_away == 0; i++)
		work();
	assert_true(turned_away > 0);
	for (int i = 0; i < 6; i++) {
		await(&effects[i], 1, 0);
		driver->proceed(driver->self, &effects[i], true);
		await(&effects[i], 1, 1);
		assert_int_equal(effects[i].result.end, MAIL_SENT);
		assert_false(effects[i].result.no_server);
	}
	assert_int_equal(mails, 6);
	assert_int_equal(connections, 1);
}

/* No time passes: the further connection that was refused is tried again when the only one has ended. */
static void a_mail_that_is_refused_leaves_its_place_to_the_next(void **state)
{
	static struct clock clock;
	struct effect effects[2] = { 0 };

	(void)state;
	driver->close(driver->self);
	clock = clock_virtual(US_PER_HOUR);
	begin(3, &clock);
	silent_at = "DATA\r\n";
	driver->start(driver->self, &effects[0], mail);
	for (int i = 0; i < PATIENCE_MS / LOOK_MS && !is_silent(); i++)
		work();
	driver->start(driver->self, &effects[1], mail);
	for (int i = 0; i < PATIENCE_MS / LOOK_MS && turned_away == 0; i++)
		work();
	for (int i = 0; i < QUIET_ROUNDS; i++)
		work();
	assert_int_equal(turned_away, 1);
	silent_at = NULL;
	reply("550 5.7.1 not this one", NULL);
	await(&effects[0], 0, 1);
	assert_int_equal(effects[0].result.end, MAIL_REFUSED);
	await(&effects[1], 0, 1);
	assert_int_equal(effects[1].result.end, MAIL_SENT);
}

static void a_server_that_says_too_much_or_too_soon_gets_no_mail(void **state)
{
	static char endless[33 * 1024];

	(void)state;
	for (size_t i = 0; i + 6 < sizeof(endless); i += 6)
		memcpy(endless + i, "250-a\n", 6);
	to_mail = endless;
	struct mail_result result = send_one();
	assert_int_equal(result.end, MAIL_NOT_SENT);
	assert_string_equal(result.words, "the server's answer has no end");
	to_mail = "250-one\r\n250-two\r\n250 ok";
	assert_int_equal(send_one().end, MAIL_SENT);
	assert_int_equal(mails, 1);
}

static int first_free_descriptor(void)
{
	int fd = dup(listener);

	close(fd);
	return fd;
}

static void a_transport_that_is_closed_leaves_no_descriptor_open(void **state)
{
	int before;

	(void)state;
	driver->close(driver->self);
	before = first_free_descriptor();
	begin(1, &system_clock);
	assert_int_equal(send_one().end, MAIL_SENT);
	driver->close(driver->self);
	hang_up();
	assert_int_equal(first_free_descriptor(), before);
	begin(1, &system_clock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mails_go_whole_one_after_the_other_over_one_connection),
		TEST(what_the_server_says_decides_what_became_of_a_mail),
		TEST(the_last_byte_waits_for_a_yes_that_is_fresh),
		TEST(mails_that_were_stopped_are_not_sent),
		TEST(a_connection_that_the_server_has_left_is_replaced),
		TEST(what_is_stopped_or_closed_is_cut_off_without_a_word_and_an_idle_connection_says_goodbye),
		TEST(over_tls_as_well_what_is_stopped_is_cut_off_without_a_word),
		TEST(a_server_that_does_not_answer_is_waited_for_as_long_as_the_rfc_says),
		TEST(while_the_server_is_away_one_mail_is_given_back_and_the_others_wait_in_their_order),
		TEST(a_server_that_admits_one_connection_gets_all_mails_over_it),
		TEST(a_mail_that_is_refused_leaves_its_place_to_the_next),
		TEST(a_server_that_says_too_much_or_too_soon_gets_no_mail),
		TEST(a_transport_that_is_closed_leaves_no_descriptor_open),
	};

	signal(SIGPIPE, SIG_IGN); /* as in every process: OpenSSL writes to what the driver has cut off */
	return cmocka_run_group_tests(tests, NULL, NULL);
}

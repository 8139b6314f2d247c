/* given.c: see given.h */
#include "given.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/platform/mailin/mailin.h"
#include "services/platform/mailin/report.h"
#include "tests/unit/folder.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { READ_MS = 20000 };
static const char HANGS[] = "CARTBUS_TEST_READER_HANGS";

static const char HASH[] = "00112233445566778899aabbccddeeff",
		  MAIL_ID[] = "1.0123456789abcdef0123456789abcdef@s.example", BOUNCES[] = "bounces+*@shop.example";
static const char SHOP_CONF[] =
	"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"
	"from = shop@shop.example\nbounce = bounces+*@shop.example\n";
static const struct service *const services[] = { &mailin, NULL };

extern const struct mail_route mailin_mail_routes[];
static const struct mail_route *const own_routes[] = { mailin_mail_routes, NULL };

struct given given;
static struct folder folder;

void given_begin(const char *reader)
{
	static Document document;

	folder = folder_new();
	given = (struct given){ .sim = sim_new(services, INT64_C(20000) * US_PER_DAY, 1) };
	TEXT_COPY(given.path, folder.path);
	sim_start(given.sim, "mailin", &mailin, NULL);
	document = (Document){ .kind = "shop", .version = 1 };
	TEXT_COPY(document.text, SHOP_CONF);
	assert_int_equal(
		SIM_SAY(given.sim, document, &document, .shop = "demo", .key = "shop", .version = 1), SAID_FRESH);
	sim_run_until_idle(given.sim);
	given.runtime = sim_runtime(given.sim, "mailin");
	buffer_add_text(&given.keys.current, "a key of the installation, secret");
	given.reader = reader_new(sim_clock(given.sim), reader);
	given.quarantine = quarantine_new(given.path, sim_clock(given.sim));
	assert_non_null(given.quarantine);
	routing_init(&given.routing, own_routes, NULL, given.runtime, sim_clock(given.sim));
}

void given_end(void)
{
	unsetenv(HANGS);
	reader_free(given.reader);
	routing_clear(&given.routing);
	quarantine_free(given.quarantine);
	keyring_clear(&given.keys);
	sim_free(given.sim);
	folder_remove(&folder);
}

int given_main(int argc, char **argv, int (*run)(void))
{
	if (argc == 2 && strcmp(argv[1], READER_ARGUMENT) == 0) {
		while (getenv(HANGS))
			pause();
		reader_serve();
	}
	return run();
}

void given_pass(int64_t us)
{
	sim_run_until(given.sim, sim_now_us(given.sim) + us);
}

static void count(const struct message_meta *said, struct bytes payload, void *context)
{
	(void)payload;
	*(int *)context += strcmp(said->topic, topic_mail_feedback.name) == 0;
}

int given_told(void)
{
	int told = 0;

	sim_run_until_idle(given.sim);
	sim_log(given.sim, count, &told);
	return told;
}

void given_read_one(void)
{
	struct pollfd ready = { .fd = reader_fd(given.reader), .events = POLLIN };

	assert_int_equal(poll(&ready, 1, READ_MS), 1);
	reader_work(given.reader);
	sim_run_until_idle(given.sim);
}

void given_let_readers_hang(void)
{
	setenv(HANGS, "1", 1);
}

void given_give_up_one(void)
{
	const uint64_t before = reader_deaths(given.reader);

	while (reader_deaths(given.reader) < before + 2)
		given_pass(reader_look(given.reader));
	sim_run_until_idle(given.sim);
}

const char *given_tagged(void)
{
	static char address[ADDRESS_MAX + 1];

	assert_int_equal(
		bounce_address_make(buffer_bytes(&given.keys.current), BOUNCES, "demo", MAIL_ID, HASH, address), 0);
	return address;
}

const char *given_bounce(const char *to, const char *action, const char *words)
{
	static char mail[3000];

	snprintf(mail, sizeof(mail),
		"%s%s%sFrom: MAILER-DAEMON@mx.example\r\nMIME-Version: 1.0\r\n"
		"Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n"
		"--b\r\n\r\n%s\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; "
		"mx.example\r\n\r\n"
		"Final-Recipient: rfc822; ada@mail.example\r\nAction: %s\r\nStatus: 5.1.1\r\n\r\n--b--\r\n",
		*to ? "Delivered-To: " : "", to, *to ? "\r\n" : "", words, action);
	return mail;
}

bool given_has(const char *name)
{
	char path[200];

	FOLDER_PATH(path, folder, name);
	return access(path, F_OK) == 0;
}

void given_lay(const char *name, const char *text, int64_t size, int64_t age_s)
{
	const struct timespec at = { .tv_sec = time(NULL) - age_s };
	char path[200];

	FOLDER_PATH(path, folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(futimens(fd, (struct timespec[2]){ at, at }), 0);
	close(fd);
}

struct quarantine_note given_note(const char *name)
{
	struct quarantine_note note;

	quarantine_read_note(given.quarantine, name, &note);
	return note;
}

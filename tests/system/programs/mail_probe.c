/*
 * mail_probe.c: the mail transport alone, led by a test over stdin
 *
 * `mail_probe cartbus.conf` makes the driver that the configuration asks for and stands in for the runtime:
 *     mail ID claim|plain|dots|long ADDRESS   starts a mail           -> "claim ID" when it is at its last byte, "done ID END WORDS"
 *     go ID [MS], no ID             answers the claim; the yes is good for so long, else for a second
 *     stop ID                       as at a deadline        -> nothing more about it
 *     later SECONDS                 so much time passes at once
 * "no_mailbox" stands behind the words when the server said that there is no such one.
 * At the end of stdin the driver is closed and "closed" is said. END is sent, not_sent, later, refused or unknown.
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail/message.h"
#include "services/kit/settings/settings.h"
#include "tests/system/programs/led_driver.h"
#include <signal.h>

enum { MANY_LINES = 200000 };

struct effect {
	char id[48];
	struct mail *mail;
	int64_t until_us; /* of the transport's clock */
	struct effect *next;
};

static int64_t ahead_us; /* of this machine's boot clock */
static struct effect *effects;
static struct effect_driver *driver;

static void effect_free(struct effect *effect)
{
	for (struct effect **at = &effects; *at; at = &(*at)->next) {
		if (*at != effect)
			continue;
		*at = effect->next;
		mail_free(effect->mail);
		free(effect);
		return;
	}
}

static struct effect *find(const char *id) /* NULL: it has ended */
{
	for (struct effect *effect = effects; effect; effect = effect->next)
		if (strcmp(effect->id, id) == 0)
			return effect;
	return NULL;
}

void effect_claim(struct effect *effect)
{
	printf("claim %s\n", effect->id);
}

static int64_t boot_ahead_us(const struct clock *clock)
{
	const struct clock real = clock_system();
	(void)clock;
	return clock_boot_us(&real) + ahead_us;
}

int64_t effect_until_us(const struct effect *effect)
{
	return effect->mail->claim ? effect->until_us : INT64_MAX;
}

bool effect_may_go(const struct effect *effect)
{
	return boot_ahead_us(NULL) < effect_until_us(effect);
}

void effect_done(struct effect *effect, const void *result)
{
	static const char *const ends[] = { [MAIL_SENT] = "sent",
		[MAIL_NOT_SENT] = "not_sent",
		[MAIL_LATER] = "later",
		[MAIL_REFUSED] = "refused",
		[MAIL_UNKNOWN] = "unknown" };
	const struct mail_result *mail = result;
	printf("done %s %s %s%s\n", effect->id, ends[mail->end], mail->words, mail->no_mailbox ? " no_mailbox" : "");
	effect_free(effect);
}

const void *effect_request(const struct effect *effect)
{
	return effect->mail;
}

/* A body that no composer makes. */
static void put_dots(struct buffer *mime)
{
	const char *blank = memmem(mime->data, mime->len, "\r\n\r\n", 4);
	mime->len = (size_t)(blank + 4 - (const char *)mime->data);
	buffer_add_text(mime, ".\r\n..two\r\nthe end\r\n");
}

/* More than any socket takes at once. */
static void put_much(struct buffer *mime)
{
	for (int i = 0; i < MANY_LINES; i++)
		buffer_printf(mime, "line %07d of a long mail, which goes on and on\r\n", i);
}

static void start_mail(const char *id, const char *how, const char *to)
{
	char why[160], message_id[80];
	struct effect *effect = memory_new(sizeof(*effect));
	TEXT_COPY(effect->id, id);
	snprintf(message_id, sizeof(message_id), "%s@probe.example", id);
	if (mail_note("Shop <shop@shop.example>", to, "A note", ".\nFrom here\n..\nwith dots\n.\n", message_id, 0,
		    &effect->mail, why) < 0)
		die("%s", why);
	effect->mail->claim = strcmp(how, "claim") == 0;
	if (strcmp(how, "dots") == 0)
		put_dots(&effect->mail->mime);
	if (strcmp(how, "long") == 0)
		put_much(&effect->mail->mime);
	effect->next = effects;
	effects = effect;
	driver->start(driver->self, effect, effect->mail);
}

static void answer_claim(const char *id, bool go, const char *good_ms)
{
	struct effect *effect = find(id);
	effect->until_us = boot_ahead_us(NULL) + (*good_ms ? strtoll(good_ms, NULL, 10) : 1000) * US_PER_MS;
	driver->proceed(driver->self, effect, go);
}

static void obey(const char *line)
{
	char verb[16] = "", id[48] = "", how[16] = "", to[200] = "";
	sscanf(line, "%15s %47s %15s %199s", verb, id, how, to);
	if (strcmp(verb, "mail") == 0) {
		start_mail(id, how, to);
	} else if (strcmp(verb, "stop") == 0 && find(id)) {
		driver->stop(driver->self, find(id));
		effect_free(find(id));
	} else if ((strcmp(verb, "go") == 0 || strcmp(verb, "no") == 0) && find(id)) {
		answer_claim(id, strcmp(verb, "go") == 0, how);
	} else if (strcmp(verb, "later") == 0) {
		ahead_us += strtoll(id, NULL, 10) * US_PER_S;
	} else if (strcmp(verb, "stop") != 0 && strcmp(verb, "go") != 0 && strcmp(verb, "no") != 0) {
		die("what is \"%s\"?", line);
	}
}

/* false: stdin has ended. */
int main(int argc, char **argv)
{
	struct config *config;
	struct config_error error;
	struct clock clock = clock_system();
	clock.boot_us = boot_ahead_us;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_open("mail_probe", LOG_INFO);
	if (argc != 2)
		die("usage: mail_probe cartbus.conf");
	if (config_load(argv[1], settings_keys, &config, &error) < 0)
		die("%s", error.text);
	driver = mail_driver_new(config, &clock);
	led_driver_run(driver, obey);
	driver->close(driver->self);
	while (effects)
		effect_free(effects);
	config_free(config);
	puts("closed");
	return 0;
}

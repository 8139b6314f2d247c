/*
 * transport.c: chooses the transport of mails by the configuration; and the null transport
 *
 * Promises:  the null transport claims like the others and delivers nothing; it is for benches and
 *            rehearsals.
 * Fails by:  die() with a remedy on an unusable configuration.
 * Read next: transport_maildir.c, transport_smtp.c, transport_ses.c
 */
#include "services/kit/mail/transport.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/effect/steps.h"
#include "services/kit/keys/secrets.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>

struct mail_result mail_result_of(enum mail_end end, const char *transport, const char *words)
{
	struct mail_result result = { .end = end };
	TEXT_COPY(result.transport, transport);
	TEXT_COPY(result.words, words);
	return result;
}

enum claim_event mail_claim_event(enum mail_end end)
{
	switch (end) {
	case MAIL_SENT:
		return CLAIM_END_DONE;
	case MAIL_NOT_SENT:
	case MAIL_LATER:
		return CLAIM_END_NOT_DONE;
	case MAIL_REFUSED:
		return CLAIM_END_REFUSED;
	case MAIL_UNKNOWN:
		break;
	}
	return CLAIM_END_UNKNOWN;
}

/*
 * Servers say "450 4.7.1 ..." for greylisting and for limits of rate. The words find "452 4.5.3 too many
 * ...", and servers that use no such codes.
 */
bool mail_is_throttled(long code, const char *reply)
{
	static const char *const words[] = { "too many", "rate limit", "throttl" };

	if (code < 400 || code > 499)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasestr(reply, words[i]))
			return true;
	}
	return strlen(reply) > 4 && strncmp(reply + 4, "4.7.", 4) == 0;
}

void mail_words(const char *said, size_t len, char ret[256])
{
	const size_t room = 256;
	size_t to = 0;
	for (size_t i = 0; i < len && to + 12 < room;) {
		size_t word = i;
		while (word < len && said[word] != ' ')
			word++;
		if (memchr(said + i, '@', word - i)) {
			to += (size_t)snprintf(ret + to, room - to, "(address)");
		} else {
			for (; i < word && to + 2 < room; i++)
				if (said[i] > ' ' && said[i] < 0x7f)
					ret[to++] = said[i];
		}
		ret[to++] = ' ';
		i = word + 1;
	}
	while (to && ret[to - 1] == ' ')
		to--;
	ret[to] = 0;
}

/* ---- null ---- */

static void null_take(struct steps *steps, struct step_job *job)
{
	const struct mail *mail = job->request;
	if (job->step == STEP_BEGIN && mail->claim) {
		steps_claim(steps, job);
		return;
	}
	struct mail_result result = mail_result_of(
		job->step == STEP_DROP ? MAIL_NOT_SENT : MAIL_SENT, "null", "nothing is delivered anywhere");
	steps_done(steps, job, &result);
}

struct effect_driver *transport_null_new(void)
{
	struct steps *steps = memory_new(sizeof(*steps));
	steps_init(steps, "mail");
	steps->take = null_take;
	return &steps->driver;
}

/* ---- the configuration ---- */

static const char *given(const struct config *config, const char *key)
{
	const char *value = config_get(config, "mail", NULL, key);
	return value && *value ? value : NULL;
}

static bool is_this_machine(const char *host)
{
	return strcmp(host, "localhost") == 0 || text_starts(host, "127.") || strcmp(host, "::1") == 0;
}

/* Only checks that the password can be read; each connection reads it again. */
static int find_password(const char *path, char ret_why[512])
{
	_cleanup_(buffer_free_secret) struct buffer password = { 0 };
	int r = file_read_secret(path, &password);

	if (r < 0)
		snprintf(ret_why, 512,
			"%s: %s: write the password of [mail] smtp-user there, readable by this user alone (chmod 600)",
			path, strerror(-r));
	return r;
}

static int invalid(char ret_why[512], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int invalid(char ret_why[512], const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(ret_why, 512, format, values);
	va_end(values);
	return -EINVAL;
}

int smtp_settings_of(const struct config *config, const struct clock *clock, char password_file[256],
	struct smtp_settings *ret, char ret_why[512])
{
	*ret = (struct smtp_settings){ .host = given(config, "smtp-host"),
		.port = (int)config_number(config, "mail", NULL, "smtp-port"),
		.connections = (int)config_number(config, "mail", NULL, "smtp-connections"),
		.starttls = config_word(config, "mail", NULL, "smtp-tls") == SMTP_STARTTLS,
		.ca = given(config, "smtp-ca"),
		.user = given(config, "smtp-user"),
		.clock = clock };
	if (!ret->user)
		return 0;
	if (!ret->starttls && !is_this_machine(ret->host))
		return invalid(ret_why,
			"[mail] smtp-user would send the password in the clear to %s: set smtp-tls = starttls",
			ret->host);
	secret_path(config, "smtp.password", password_file);
	ret->password_file = password_file;
	return find_password(password_file, ret_why);
}

static struct effect_driver *smtp_from(const struct config *config, const struct clock *clock)
{
	struct smtp_settings settings;
	char password_file[256], why[512];

	if (smtp_settings_of(config, clock, password_file, &settings, why) < 0)
		die("%s", why);
	return transport_smtp_new(&settings);
}

/* Only checks that the key can be read; it is read again for each mail. */
static int find_ses_key(const struct config *config, char ret_why[512])
{
	_cleanup_(buffer_free_secret) struct buffer key = { 0 };
	char path[256];
	secret_path(config, "ses.key", path);
	int r = file_read_secret(path, &key);
	if (r < 0)
		snprintf(ret_why, 512,
			"%s: %s: write ACCESS_KEY_ID:SECRET_ACCESS_KEY there (with a third part, the session token, "
			"if there is one), readable by this user alone (chmod 600)",
			path, strerror(-r));
	return r;
}

static struct effect_driver *ses_from(const struct config *config, const struct clock *clock)
{
	char why[512];

	if (find_ses_key(config, why) < 0)
		die("%s", why);
	return transport_ses_new(&(struct ses_settings){ .region = given(config, "ses-region"),
		.endpoint = given(config, "ses-endpoint"),
		.configuration_set = given(config, "ses-configuration-set"),
		.ca = given(config, "ses-ca"),
		.http = http_settings_of(config, clock) });
}

static struct effect_driver *maildir_from(const struct config *config)
{
	char folder[512];
	const char *state = config_get(config, "paths", NULL, "state");
	if (given(config, "maildir"))
		return transport_maildir_new(given(config, "maildir"));
	snprintf(folder, sizeof(folder), "%s/mail", state ? state : "/var/lib/cartbus");
	return transport_maildir_new(folder);
}

enum { MAILDIR_ROOM = 400 }; /* the table of settings allows paths of 300 bytes; a name follows */

static int try_maildir(const struct config *config, char ret_why[512])
{
	const char *path = config_get(config, "mail", NULL, "maildir");
	bool is_given = path && *path;
	char whole[MAILDIR_ROOM];
	int r;

	path = is_given ? path : config_get(config, "paths", NULL, "state");
	if (config_word(config, "mail", NULL, "transport") != TRANSPORT_MAILDIR)
		return 0;
	snprintf(whole, sizeof(whole), "%s%s/tmp", path, is_given ? "" : "/mail");
	r = file_may_write_below(whole);
	if (r < 0)
		snprintf(ret_why, 512, "%s: %s: make the folder writable for this user, or set [mail] maildir", whole,
			strerror(-r));
	return r;
}

int mail_try(const struct config *config, char ret_why[512])
{
	struct smtp_settings settings;
	char password_file[256];

	switch ((enum mail_transport)config_word(config, "mail", NULL, "transport")) {
	case TRANSPORT_MAILDIR:
		return try_maildir(config, ret_why);
	case TRANSPORT_SMTP:
		return smtp_settings_of(config, NULL, password_file, &settings, ret_why);
	case TRANSPORT_SES:
		return find_ses_key(config, ret_why);
	case TRANSPORT_NULL:
		return 0;
	}
	assert(false);
	return 0;
}

struct effect_driver *mail_driver_new(const struct config *config, const struct clock *clock)
{
	switch ((enum mail_transport)config_word(config, "mail", NULL, "transport")) {
	case TRANSPORT_MAILDIR:
		return maildir_from(config);
	case TRANSPORT_SMTP:
		return smtp_from(config, clock);
	case TRANSPORT_SES:
		return ses_from(config, clock);
	case TRANSPORT_NULL:
		return transport_null_new();
	}
	assert(false);
	return NULL;
}

/*
 * transport.c: which way mails go, as the configuration says; and the way to nowhere
 *
 * Promises:  the null transport claims like the others and delivers nothing: for benches and rehearsals.
 * Fails by:  die() with a remedy on an unusable configuration.
 * Read next: transport_maildir.c, transport_smtp.c, transport_ses.c
 */
#include "services/kit/transport.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/settings.h"
#include "services/kit/steps.h"
#include <errno.h>
#include <openssl/crypto.h>

struct mail_result mail_result_of(enum mail_end end, const char *transport, const char *words)
{
	struct mail_result result = { .end = end };
	TEXT_COPY(result.transport, transport);
	TEXT_COPY(result.words, words);
	return result;
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
		steps_claim(job);
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

static int64_t number(const struct config *config, const char *key, int64_t least, int64_t most)
{
	struct config_error error;
	int64_t value;
	if (config_get_int(config, "mail", NULL, key, least, most, &value, &error) < 0)
		die("%s", error.text);
	return value;
}

static const char *given(const struct config *config, const char *key)
{
	const char *value = config_get(config, "mail", NULL, key);
	return value && *value ? value : NULL;
}

static bool is_this_machine(const char *host)
{
	return strcmp(host, "localhost") == 0 || text_starts(host, "127.") || strcmp(host, "::1") == 0;
}

static struct effect_driver *smtp_from(const struct config *config, const struct clock *clock)
{
	_cleanup_(buffer_free) struct buffer password = { 0 };
	char path[256];
	const char *tls = given(config, "smtp-tls");
	struct smtp_settings settings = { .host = given(config, "smtp-host"),
		.port = (int)number(config, "smtp-port", 1, 65535),
		.starttls = !tls || strcmp(tls, "none") != 0,
		.ca = given(config, "smtp-ca"),
		.user = given(config, "smtp-user"),
		.connections = (int)number(config, "smtp-connections", 1, 256),
		.clock = clock };
	if (!settings.host)
		die("[mail] smtp-host is missing: name the mail server");
	if (tls && strcmp(tls, "none") != 0 && strcmp(tls, "starttls") != 0)
		die("[mail] smtp-tls = %s: expected none or starttls", tls);
	if (!settings.user)
		return transport_smtp_new(&settings);
	if (!settings.starttls && !is_this_machine(settings.host))
		die("[mail] smtp-user would send the password in the clear to %s: set smtp-tls = starttls",
			settings.host);
	settings_secret_path(config, "smtp.password", path);
	int r = file_read_secret(path, &password);
	if (r < 0)
		die("%s: %s: write the password of [mail] smtp-user there, readable by this user alone (chmod 600)",
			path, strerror(-r));
	OPENSSL_cleanse(password.data, password.room); /* only whether it is there was asked */
	settings.password_file = path;
	return transport_smtp_new(&settings);
}

static struct effect_driver *ses_from(const struct config *config, const struct clock *clock)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char path[256];
	settings_secret_path(config, "ses.key", path);
	int r = file_read_secret(path, &key);
	if (r < 0)
		die("%s: %s: write ACCESS_KEY_ID:SECRET_ACCESS_KEY there (with a third part, the session token, if "
		    "there is "
		    "one), readable by this user alone (chmod 600)",
			path, strerror(-r));
	OPENSSL_cleanse(key.data, key.room); /* read again for each mail: only whether it is there was asked */
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

struct effect_driver *mail_driver_new(const struct config *config, const struct clock *clock)
{
	const char *transport = given(config, "transport");
	if (!transport || strcmp(transport, "maildir") == 0)
		return maildir_from(config);
	if (strcmp(transport, "smtp") == 0)
		return smtp_from(config, clock);
	if (strcmp(transport, "ses") == 0)
		return ses_from(config, clock);
	if (strcmp(transport, "null") == 0)
		return transport_null_new();
	die("[mail] transport = %s: expected maildir, smtp, ses or null", transport);
}

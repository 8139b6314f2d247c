/*
 * settings.c: the table of cartbus.conf, and the paths that follow from it
 */
#include "services/kit/settings.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct config_key settings_keys[] = {
	{ "paths", "state", "/var/lib/cartbus", "where the log, folded state, spools and exports live", false },
	{ "paths", "run", "/run/cartbus", "where the sockets live", false },
	{ "paths", "shops", "/etc/cartbus/shops", "one folder per shop: shop.conf, rules.txt, voice.txt", false },
	{ "paths", "secrets", "/etc/cartbus/secrets", "keys and webhook secrets, files of mode 0600", false },
	{ "paths", "keys", "/etc/cartbus/keys", "CURVE keys for TCP: NAME.key of mode 0600, and peers.conf", false },
	{ "clock", "rate", "1", "how fast wall time runs; anything but 1 is for demos", false },
	{ "clock", "origin-real-us", NULL, "real time at which a scaled clock starts, microseconds since 1970", false },
	{ "clock", "origin-wall-us", NULL, "what a scaled clock shows at its origin, microseconds since 1970", false },
	{ "log", "level", "info", "critical, error, warning, notice, info or debug", false },
	{ "log", "format", "text", "text for people and the journal, or json: an object per line", false },
	{ "turn", "deadline", "10s", "a decision that takes longer ends its process: 1s or more", false },
	{ "gateway", "listen", "127.0.0.1", "the address webhooks and links arrive at; put a TLS proxy in front",
		false },
	{ "gateway", "port", "8080", "its port", false },
	{ "gateway", "public-url", "http://127.0.0.1:8080",
		"how the world reaches the gateway; links in mails begin with it", false },
	{ "mail", "transport", "maildir", "maildir (mails to open), smtp, ses, or null (counts only)", false },
	{ "mail", "maildir", NULL, "folder of the maildir transport; <state>/mail if not given", false },
	{ "mail", "smtp-host", "127.0.0.1", "the mail server", false },
	{ "mail", "smtp-port", "25", "its port", false },
	{ "mail", "smtp-tls", "starttls", "starttls, or none for a server on this machine", false },
	{ "mail", "smtp-ca", NULL, "file of certificates to trust; the system's if not given", false },
	{ "mail", "smtp-user", NULL, "login; the password is the secret file smtp.password", false },
	{ "mail", "per-minute", "0", "mails of all shops together in a minute at most; more wait; 0: no limit", false },
	{ "mail", "per-day", "0", "and on a day of UTC; more wait for the next; 0: no limit", false },
	{ "mail", "smtp-connections", "8", "connections kept open to the mail server", false },
	{ "mail", "ses-region", NULL,
		"region of Amazon SES, as eu-central-1; the credentials are the secret file ses.key", false },
	{ "mail", "ses-configuration-set", NULL, "configuration set of SES, which says where bounces and complaints go",
		false },
	{ "mail", "ses-endpoint", NULL, "https URL of the API, of a VPC endpoint; the region's if not given", false },
	{ "mail", "ses-ca", NULL, "file of certificates to trust; the system's if not given", false },
	{ "mailin", "folder", NULL, "maildir that bounces and complaints are delivered to; none: nothing is read",
		false },
	{ "mailin", "lmtp", NULL,
		"where a mail server here delivers them over LMTP: the path of a socket, or 127.0.0.1:PORT; none: "
		"nowhere",
		false },
	{ "export", "folder", NULL, "where the nightly CSV and the monthly summary go; <state>/export if not given",
		false },
	{ "google", "key", "google.json",
		"the secret file with the key of a Google service account, as Google gives it", false },
	{ "google", "sheets-url", "https://sheets.googleapis.com", "where the API of spreadsheets begins", false },
	{ "google", "drive-url", "https://www.googleapis.com", "and that of documents", false },
	{ "google", "ca", NULL, "file of certificates to trust; the system's if not given", false },
	{ "storefront", "private", "no",
		"yes: the API that a shop.conf names may be on this machine or in a private network", false },
	{ "storefront", "ca", NULL, "file of certificates to trust for it; the system's if not given", false },
	{ "model", "provider", "none",
		"who polishes opening lines and writes summaries' paragraphs: none, bedrock, anthropic or openai (any "
		"server of that format)",
		false },
	{ "model", "url", NULL, "where its API begins; of openai needed, of the others the provider's own", false },
	{ "model", "model", NULL, "the name by which it knows the model; a small one if not given", false },
	{ "model", "region", "ap-southeast-1", "of bedrock", false },
	{ "model", "secret", NULL, "the secret file with its key; a server on this machine may need none", false },
	{ "model", "ca", NULL, "file of certificates to trust; the system's if not given", false },
	{ "model", "deadline", "4s", "past it the template's own words go", false },
	{ "model", "usd-per-million-in", "1", "what a million tokens of a question cost", false },
	{ "model", "usd-per-million-out", "5", "what a million tokens of an answer cost", false },
	{ "budget", "usd", "15", "a month, mails included: past it the model is not asked any more", false },
	{ "budget", "tokens", "2000000", "a month: past it the model is not asked any more", false },
	{ "budget", "usd-per-thousand-mails", "0.10", "what mails cost", false },
	{ "monitor", "admin", NULL, "address that alarms are mailed to; may be repeated", true },
	{ "monitor", "from", NULL, "address that alarms come from; the first admin's if not given", false },
	{ "monitor", "webhook", NULL,
		"URL that alarms are posted to, signed with the secret file alarm.webhook; may be repeated", true },
	{ "monitor", "sender-failures", "3", "so many failed mails of 24 hours are an alarm, when they are over 1 %",
		false },
	{ "monitor", "broker-patience", "1min", "how long the broker may be away before somebody is told", false },
	{ "monitor", "webhook-ca", NULL, "file of certificates to trust there; the system's if not given", false },
	{ "monitor", "listen", "127.0.0.1", "the address that /metrics is read at; nobody is asked who he is", false },
	{ "monitor", "port", "9895", "its port; 0: there are no metrics", false },
	{ "trace", "collector", NULL,
		"URL of an OpenTelemetry collector, as http://127.0.0.1:4318: the monitor sends it what happens as "
		"traces",
		false },
	{ "trace", "sample", "1", "which part of the traces goes, 0 to 1: by the trace's id, each as a whole", false },
	{ "broker", "topology", NULL, "the services' declarations; beside the programs if not given", false },
	{ "broker", "headroom", "128", "MiB: with less room on the disk nothing new is taken", false },
	{ "broker", "headroom-percent", "1", "or so much of the file system, whichever is more", false },
	{ "broker", "heartbeat", "300", "ms: whoever is silent for five of them is dead, to either side", false },
	{ "backup", "folder", "/var/backups/cartbus",
		"where `cartbus backup` without a folder, which a timer runs each night, puts copies of the log",
		false },
	{ "backup", "keep", "3", "how many of them stay; 0: none are made", false },
	{ "retention", "raw", "30d", "how long what storefronts and shoppers sent is kept: 21d to 30d", false },
	{ "retention", "raw-mib", "0", "how much of it at most, from 21 days of age on; 0: no limit", false },
	{ "retention", "facts", "400d", "how long decisions are kept and a closed cart is remembered: 120d or more",
		false },
	{ "retention", "facts-mib", "0", "how much of them at most, from 120 days of age on; 0: no limit", false },
	{ "broker", "listen", "", "host:port to listen at over TCP, CURVE only; empty: this machine alone", false },
	{ "broker", "users", "shared",
		"shared: the broker's own user and root may be any service; listed: only [user NAME] sections", false },
	{ "user", "service", NULL, "what processes of this user may be; several with blanks between", false },
	{ "user", "instance", "*", "pattern of the instance's name", false },
	{ "user", "rights", "default", "default, all, or some of publish hear fold claim tap clear ask operate",
		false },
	{ "connect", "broker", "", "host:port of the broker, over TCP; empty: the sockets in [paths] run", false },
	{ "connect", "key", "", "name of the key to show there; the service's name if not given", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *handed_folder(void)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");

	return folder && *folder ? folder : NULL;
}

const char *settings_secrets_folder(const struct config *config)
{
	const char *handed = handed_folder(), *folder = config_get(config, "paths", NULL, "secrets");

	return handed ? handed : folder ? folder : "/etc/cartbus/secrets";
}

void settings_secret_in(const char *folder, const char *name, char ret[256])
{
	const char *handed = handed_folder();
	bool is_flat = handed && strcmp(folder, handed) == 0;
	size_t start;

	snprintf(ret, 256, "%s/", folder);
	start = strlen(ret);
	snprintf(ret + start, 256 - start, "%s", name);
	for (char *at = ret + start; is_flat && *at; at++)
		if (*at == '/')
			*at = '_';
}

void settings_secret_path(const struct config *config, const char *name, char ret[256])
{
	settings_secret_in(settings_secrets_folder(config), name, ret);
}

void settings_secret_why(const char *path, int error, char ret[512])
{
	const char *handed = handed_folder();
	char secret[300];

	if (handed && text_starts(path, handed))
		snprintf(secret, sizeof(secret), "the secret %s of [paths] secrets", strrchr(path, '/') + 1);
	else
		snprintf(secret, sizeof(secret), "the secret %.256s", path);
	if (error == -ENOENT || error == -ENODATA) /* systemd hands over an empty one where there is none */
		snprintf(ret, 512,
			"%s is missing or empty: put its copy back; a new one makes `cartbus secrets make`, of a shop "
			"`cartbus shop secret NAME --rotate`",
			secret);
	else if (error == -EPERM)
		snprintf(ret, 512, "%s: others may read or write it: chmod 600 it", secret);
	else
		snprintf(ret, 512, "%s cannot be read: %s", secret, strerror(-error));
}

noreturn void die_of_secret(const char *path, int error)
{
	char why[512];

	settings_secret_why(path, error, why);
	die("%s", why);
}

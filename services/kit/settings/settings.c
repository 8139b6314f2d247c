/*
 * settings.c: the table of cartbus.conf, and checks of the folders and addresses that it names
 */
#include "services/kit/settings/settings.h"
#include "bus/actor/process.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/listen_at.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/mail/address.h"
#include "services/kit/shop/shop.h"
#include "services/kit/web/network.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HTTP "http https"
#define USD_MOST 1e6

/* Paths are copied to fields of these sizes; a path and a query follow one of our URLs. */
enum { FOLDER_MOST = 190, CA_MOST = 255, URL_MOST = 255, SOCKET_MOST = 107 };

static bool is_mail(const char *value)
{
	char address[ADDRESS_MAX + 1];

	return address_normalise(value, address) == 0;
}

static bool is_region(const char *value)
{
	return !value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static bool is_proxies(const char *value)
{
	struct web_proxies proxies;

	return web_proxies_parse(value, &proxies);
}

/* Is it the path of a socket, or a port on this machine's loopback address? */
static bool is_lmtp_place(const char *value)
{
	static const char here[] = "127.0.0.1:";
	const struct config_kind port = CONFIG_PORT;
	struct config_meaning meaning;

	if (text_starts(value, here))
		return config_kind_read(&port, value + strlen(here), &meaning);
	return *value == '/' && strlen(value) <= SOCKET_MOST;
}

static bool is_group(const char *value)
{
	return !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.$")] &&
		*value != '-';
}

#define MAIL CONFIG_JUDGED("a mail address, as admin@example.com", ADDRESS_MAX, is_mail)
#define REGION CONFIG_JUDGED("a region, as eu-central-1", 31, is_region)
#define CA CONFIG_PATH(CA_MOST)

const struct config_key settings_keys[] = {
	CONFIG_TABLE(process_keys),
	{ "gateway", "listen", "127.0.0.1", "the address webhooks and links arrive at; put a TLS proxy in front",
		.kind = CONFIG_IP, .readers = "gateway cartbus" },
	{ "gateway", "port", "8080", "its port", .kind = CONFIG_PORT, .readers = "gateway cartbus" },
	{ "gateway", "trusted-proxy", "127.0.0.1 ::1",
		"servers in front whose proxy-header is believed, addresses or networks with blanks between; what "
		"they hand on counts against the network that it names",
		.kind = CONFIG_JUDGED(
			"at most 16 addresses or networks, as 127.0.0.1 ::1 10.0.0.0/24", 900, is_proxies),
		.may_be_none = true, .readers = "gateway" },
	{ "gateway", "proxy-header", "x-forwarded-for",
		"the header in which these servers name the client: x-forwarded-for (X-Real-IP without it), or "
		"forwarded (RFC 7239); the "
		"other is not read, since clients can write it",
		.kind = CONFIG_WORD("x-forwarded-for forwarded"), .readers = "gateway" },
	{ "gateway", "public-url", "http://127.0.0.1:8080",
		"how the world reaches the gateway; links in mails begin with it", .kind = CONFIG_URL(HTTP, URL_MOST),
		.readers = "gateway sender exporter summarizer cartbus" },
	{ "mail", "transport", "maildir", "maildir (mails to open), smtp, ses, or null (counts only)",
		.kind = CONFIG_WORD("maildir smtp ses null"), .readers = "sender monitor summarizer cartbus",
		.needs = "smtp: smtp-host; ses: ses-region" },
	{ "mail", "maildir", NULL, "folder of the maildir transport; <state>/mail if not given",
		.kind = CONFIG_PATH(300), .readers = "sender monitor summarizer cartbus" },
	{ "mail", "smtp-host", "127.0.0.1", "the mail server", .kind = CONFIG_HOST,
		.readers = "sender monitor summarizer cartbus" },
	{ "mail", "smtp-port", "25", "its port", .kind = CONFIG_PORT, .readers = "sender monitor summarizer cartbus" },
	{ "mail", "smtp-tls", "starttls", "starttls, or none for a server on this machine",
		.kind = CONFIG_WORD("starttls none"), .readers = "sender monitor summarizer cartbus" },
	{ "mail", "smtp-ca", NULL, "file of certificates to trust; the system's if not given", .kind = CA,
		.readers = "sender monitor summarizer cartbus" },
	{ "mail", "smtp-user", NULL, "login; the password is the secret file smtp.password", .kind = CONFIG_TEXT(255),
		.readers = "sender monitor summarizer cartbus" },
	{ "mail", "per-minute", "0", "mails of all shops together in a minute at most; more wait; 0: no limit",
		.kind = CONFIG_COUNT(0, UINT32_MAX), .readers = "sender" },
	{ "mail", "per-day", "0", "and on a day of UTC; more wait for the next; 0: no limit",
		.kind = CONFIG_COUNT(0, UINT32_MAX), .readers = "sender" },
	{ "mail", "smtp-connections", "8", "connections kept open to the mail server", .kind = CONFIG_COUNT(1, 256),
		.readers = "sender monitor summarizer cartbus" },
	{ "mail", "ses-region", NULL,
		"region of Amazon SES, as eu-central-1; the credentials are the secret file ses.key", .kind = REGION,
		.readers = "sender monitor summarizer cartbus" },
	{ "mail", "ses-configuration-set", NULL, "configuration set of SES, which says where bounces and complaints go",
		.kind = CONFIG_TEXT(64), .readers = "sender monitor summarizer cartbus" },
	{ "mail", "ses-endpoint", NULL, "https URL of the API, of a VPC endpoint; the region's if not given",
		.kind = CONFIG_URL("https", URL_MOST), .readers = "sender monitor summarizer cartbus" },
	{ "mail", "ses-ca", NULL, "file of certificates to trust; the system's if not given", .kind = CA,
		.readers = "sender monitor summarizer cartbus" },
	{ "mailin", "folder", NULL, "maildir that bounces and complaints are delivered to; none: nothing is read",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = "mailin cartbus" },
	{ "mailin", "lmtp", NULL,
		"where a mail server here delivers them over LMTP: the path of a socket, or 127.0.0.1:PORT; none: "
		"nowhere",
		.kind = CONFIG_JUDGED("the path of a socket, or 127.0.0.1:PORT", SOCKET_MOST, is_lmtp_place),
		.readers = "mailin cartbus" },
	{ "mailin", "lmtp-group", "",
		"of such a socket: the mail server's group, whose members alone may connect; all, if not given",
		.kind = CONFIG_JUDGED("the name of a group, as postfix", 32, is_group), .readers = "mailin cartbus" },
	{ "blobs", "shop-mib", "1024",
		"how much of raw mails and files is kept at most of one shop, for each use of them; more is refused for now",
		.kind = CONFIG_COUNT(1, 1 << 20), .readers = "gateway mailin cartbus" },
	{ "blobs", "kept-free-mib", "256", "and none is taken that would leave less of the disk free",
		.kind = CONFIG_COUNT(0, 1 << 20), .readers = "gateway mailin" },
	{ "export", "folder", NULL, "where the nightly CSV and the monthly summary go; <state>/export if not given",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = "exporter summarizer cartbus" },
	{ "google", "key", "google.json",
		"the secret file with the key of a Google service account, as Google gives it", .kind = CONFIG_FILE,
		.readers = "exporter mirror cartbus" },
	{ "google", "sheets-url", "https://sheets.googleapis.com", "where the API of spreadsheets begins",
		.kind = CONFIG_URL(HTTP, URL_MOST), .readers = "exporter" },
	{ "google", "drive-url", "https://www.googleapis.com", "and that of documents",
		.kind = CONFIG_URL(HTTP, URL_MOST), .readers = "mirror" },
	{ "google", "ca", NULL, "file of certificates to trust; the system's if not given", .kind = CA,
		.readers = "exporter mirror cartbus" },
	{ "storefront", "private", "no",
		"yes: the API that a shop.conf names may be on this machine or in a private network",
		.kind = CONFIG_YES, .readers = "sender storefront cartbus" },
	{ "storefront", "ca", NULL, "file of certificates to trust for it; the system's if not given", .kind = CA,
		.readers = "sender storefront cartbus" },
	{ "model", "provider", "none",
		"who polishes opening lines and writes summaries' paragraphs: none, bedrock, anthropic or openai (any "
		"server of that format); [model NAME], with these keys, answers the questions of that name",
		.kind = CONFIG_WORD("none bedrock anthropic openai"), .may_be_named = true, .required = true,
		.readers = "sender summarizer", .needs = "bedrock: secret; anthropic: secret; openai: url model" },
	{ "model", "url", NULL, "where its API begins; of openai needed, of the others the provider's own",
		.kind = CONFIG_URL(HTTP, URL_MOST), .may_be_named = true, .readers = "sender summarizer" },
	{ "model", "model", NULL, "the name by which it knows the model; a small one if not given",
		.kind = CONFIG_TEXT(159), .may_be_named = true, .readers = "sender summarizer" },
	{ "model", "region", "ap-southeast-1", "of bedrock", .kind = REGION, .may_be_named = true,
		.readers = "sender summarizer" },
	{ "model", "secret", NULL, "the secret file with its key; a server on this machine may need none",
		.kind = CONFIG_TEXT(39), .may_be_named = true, .readers = "sender summarizer" },
	{ "model", "ca", NULL, "file of certificates to trust; the system's if not given", .kind = CA,
		.may_be_named = true, .readers = "sender summarizer" },
	{ "model", "deadline", "4s",
		"past it the template's own words go; 1min at most, no mail waits longer for better ones",
		.kind = CONFIG_SPAN(1 * US_PER_MS, US_PER_MINUTE), .may_be_named = true,
		.readers = "sender summarizer" },
	{ "model", "usd-per-million-in", "1", "what a million tokens of a question cost", .kind = CONFIG_REAL(0, 10000),
		.may_be_named = true, .readers = "sender summarizer" },
	{ "model", "usd-per-million-out", "5", "what a million tokens of an answer cost", .kind = CONFIG_REAL(0, 10000),
		.may_be_named = true, .readers = "sender summarizer" },
	{ "budget", "usd", "15", "a month, mails included: past it the model is not asked any more",
		.kind = CONFIG_REAL(0, USD_MOST), .readers = "sender summarizer monitor" },
	{ "budget", "tokens", "2000000", "a month: past it the model is not asked any more",
		.kind = CONFIG_COUNT(0, INT64_MAX / 1000), .readers = "sender summarizer monitor" },
	{ "budget", "usd-per-thousand-mails", "0.10", "what mails cost", .kind = CONFIG_REAL(0, USD_MOST),
		.readers = "sender summarizer monitor" },
	{ "monitor", "admin", NULL, "address that alarms are mailed to; may be repeated", .repeated = 8, .kind = MAIL,
		.readers = "monitor cartbus" },
	{ "monitor", "from", NULL, "address that alarms come from; the first admin's if not given",
		.kind = CONFIG_JUDGED("a mail address, as Alarms <alarms@example.com>", 319, shop_mailbox_valid),
		.readers = "monitor cartbus" },
	{ "monitor", "webhook", NULL,
		"URL that alarms are posted to, signed with the secret file alarm.webhook; may be repeated",
		.repeated = 8, .kind = CONFIG_URL(HTTP, 511), .readers = "monitor cartbus" },
	{ "monitor", "sender-failures", "3", "so many failed mails of 24 hours are an alarm, when they are over 1 %",
		.kind = CONFIG_COUNT(1, 1000000), .readers = "monitor" },
	{ "monitor", "broker-patience", "1min", "how long the broker may be away before somebody is told",
		.kind = CONFIG_SPAN(US_PER_S, 365 * US_PER_DAY), .readers = "monitor" },
	{ "monitor", "webhook-ca", NULL, "file of certificates to trust there; the system's if not given", .kind = CA,
		.readers = "monitor cartbus" },
	{ "monitor", "listen", "127.0.0.1", "the address at which /metrics is read; there is no login",
		.kind = CONFIG_IP, .readers = "monitor cartbus" },
	{ "monitor", "host", NULL,
		"a further name that /metrics may be asked by, beside addresses, localhost and the machine's own; may "
		"be repeated",
		.repeated = CONFIG_MANY, .kind = CONFIG_HOST, .readers = "monitor" },
	{ "monitor", "port", "9895", "its port; 0: there are no metrics", .kind = CONFIG_PORT_OR_NONE,
		.readers = "monitor cartbus" },
	{ "console", "listen", "127.0.0.1", "the address of the web console; put a TLS proxy in front",
		.kind = CONFIG_IP, .readers = "console cartbus" },
	{ "console", "port", "8410", "its port", .kind = CONFIG_PORT, .readers = "console cartbus" },
	{ "console", "public-url", "http://127.0.0.1:8410",
		"how people's browsers reach the console; links that let a person in begin with it",
		.kind = CONFIG_URL(HTTP, URL_MOST), .readers = "console cartbus" },
	{ "trace", "collector", NULL,
		"URL of an OpenTelemetry collector, as http://127.0.0.1:4318: the monitor sends it what happens as "
		"traces",
		.kind = CONFIG_URL(HTTP, 400), .readers = "monitor" },
	{ "trace", "sample", "1", "which part of the traces goes, 0 to 1: by the trace's id, each as a whole",
		.kind = CONFIG_REAL(0, 1), .readers = "monitor" },
	{ "backup", "folder", "/var/backups/cartbus",
		"where `cartbus backup` without a folder, which a timer runs each night, puts copies of the log",
		.kind = CONFIG_PATH(FOLDER_MOST), .readers = "cartbus" },
	{ "backup", "keep", "3", "how many of them stay; 0: none are made", .kind = CONFIG_COUNT(0, 1000),
		.readers = "monitor cartbus" },
	CONFIG_END,
};

/*
 * Checks whether the folders that cartbus.conf names can be used
 *
 * Promises:  writes nothing: the process that needs a missing folder makes it.
 */

enum { FOLDER_ROOM = 400 }; /* a path of the table has at most 300 bytes; a name in the maildir follows */

int settings_maildir_try(const char *path, const char *in, char ret_why[512])
{
	char whole[FOLDER_ROOM];
	int r;

	snprintf(whole, sizeof(whole), "%s/%s", path, in);
	r = access(whole, R_OK | W_OK | X_OK) < 0 ? -errno : 0;
	if (r < 0)
		snprintf(ret_why, 512,
			"[mailin] folder = %s: %s: expected a maildir (with new/ in it) that this user may read and "
			"write",
			path, strerror(-r));
	return r;
}

int settings_export_try(const struct config *config, char ret_why[512])
{
	const char *path = config_get(config, "export", NULL, "folder");
	int r = path && *path ? file_may_write_below(path) : 0;

	if (r < 0)
		snprintf(ret_why, 512,
			"[export] folder = %s: %s: expected a folder that this user may write in, or one that it may "
			"make",
			path, strerror(-r));
	return r;
}

/* --- the address that the gateway listens at --- */

static bool is_of_another_machine(int error)
{
	return error == -EADDRNOTAVAIL || error == -EAFNOSUPPORT;
}

static void explain(const struct config *config, int error, char ret_why[512])
{
	const char *remedy = is_of_another_machine(error)
		? "this machine has no such address (ip addr lists those that it has): [gateway] listen names one"
		: "is another gateway running? [gateway] port chooses another";

	snprintf(ret_why, 512, "cannot listen on %s port %s: %s; %s", config_get(config, "gateway", NULL, "listen"),
		config_get(config, "gateway", NULL, "port"), strerror(-error), remedy);
}

int settings_listen(const struct config *config, int backlog, char ret_why[512])
{
	int fd = listen_at(
		config_get(config, "gateway", NULL, "listen"), config_get(config, "gateway", NULL, "port"), backlog);

	if (fd < 0)
		explain(config, fd, ret_why);
	return fd;
}

int settings_listen_try(const struct config *config, char ret_why[512])
{
	int fd = listen_at(config_get(config, "gateway", NULL, "listen"), "0", 0);

	if (fd >= 0)
		close(fd);
	if (!is_of_another_machine(fd))
		return 0;
	explain(config, fd, ret_why);
	return fd;
}

/*
 * log.c: writes log lines for the admin, to stderr as text or as JSON, or to the journal with fields
 *
 * Promises:  one event is one line and one write, with any bytes in its values: control characters come out
 *            as spaces, so that a person who chooses a subject's name can forge neither a line nor a field.
 * Fails by:  nothing; a line that cannot be written is lost, and a line over LINE_MAX_BYTES is cut and ends
 *            in "...". When the journal does not keep up, a warning with fields goes to stderr, and lesser
 *            lines with fields are lost: the process does not wait for it. Lines without fields always go to
 *            stderr, whose reader knows the unit even of a process that is gone.
 */
#include "bus/base/log.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/config.h"
#include "bus/base/notify.h"
#include "bus/base/text.h"
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, NAME_MAX_BYTES = 200, TRACE_ID_AT = 3, TRACE_ID_LEN = 32 };
static const char FACILITY_DAEMON[] = "3"; /* as the units' SyslogFacility= */

/*
 * v0.1.0 released these names of the subject. Admins search for them, so they stay: as the only name in text,
 * and beside today's names in fields and members.
 */
static const char SUBJECT_IN_TEXT[] = " cart=", SUBJECT_IN_JSON[] = "cart", SUBJECT_IN_JOURNAL[] = "CARTBUS_CART";

static const char *log_process = "cartbus";
static const char *log_journal;
static int log_journal_fd = -1;
static enum log_level log_most = LOG_INFO;
static enum log_form log_form = LOG_FORM_TEXT;

void log_open(const char *process, enum log_level most)
{
	log_process = process;
	log_most = most;
}

void log_write_as(enum log_form form)
{
	log_form = form;
}

static const char *level_word(enum log_level level)
{
	switch (level) {
	case LOG_CRITICAL:
		return "critical";
	case LOG_ERROR:
		return "error";
	case LOG_WARNING:
		return "warning";
	case LOG_NOTICE:
		return "notice";
	case LOG_INFO:
		return "info";
	case LOG_DEBUG:
		return "debug";
	}
	return "info";
}

/* The machine's time, as every collector of logs expects it, not that of a demo's fast clock. */
static void write_now(char ret[40])
{
	struct timespec now;
	struct tm utc;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	len = strftime(ret, 40, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(ret + len, 40 - len, ".%06ldZ", now.tv_nsec / 1000);
}

/* --- the subject of an event, made harmless --- */

struct names {
	char shop[NAME_MAX_BYTES], subject[NAME_MAX_BYTES], topic[NAME_MAX_BYTES], trace[TRACE_ID_LEN + 1], seq[24];
	const char *event;
};

static void take_name(char to[NAME_MAX_BYTES], const char *name)
{
	text_copy(to, NAME_MAX_BYTES, name ? name : "");
	if (strchr(to, '@') || strstr(to, "%40"))
		to[0] = '\0';
	text_make_plain(to);
}

static void take_names(const struct log_about *about, struct names *ret)
{
	const char *trace = about->trace ? about->trace : "";

	*ret = (struct names){ .event = about->event };
	take_name(ret->shop, about->shop);
	take_name(ret->subject, about->subject);
	take_name(ret->topic, about->topic);
	if (strlen(trace) >= TRACE_ID_AT + TRACE_ID_LEN)
		snprintf(ret->trace, sizeof(ret->trace), "%s", trace + TRACE_ID_AT);
	text_make_plain(ret->trace);
	if (about->seq > 0)
		snprintf(ret->seq, sizeof(ret->seq), "%llu", (unsigned long long)about->seq);
}

/* --- text, JSON, fields --- */

static void add_names(json_t *event, const struct names *names)
{
	const struct {
		const char *name, *value;
	} members[] = { { "event", names->event }, { "shop", names->shop }, { "subject", names->subject },
		{ SUBJECT_IN_JSON, names->subject }, { "topic", names->topic }, { "trace", names->trace },
		{ "seq", names->seq } };

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].value && *members[i].value)
			json_object_set_new(event, members[i].name, json_string(members[i].value));
}

static void write_json(enum log_level level, const char *message, const struct names *names)
{
	/* only the escapes of " and \ occur: two bytes for one */
	char now[40], line[2 * LINE_MAX_BYTES + 10 * NAME_MAX_BYTES];
	json_t *event;
	size_t used;

	write_now(now);
	event = json_pack("{s:s,s:s,s:s,s:s}", "time", now, "level", level_word(level), "process", log_process,
		"message", message);
	if (event && names)
		add_names(event, names);
	used = event ? json_dumpb(event, line, sizeof(line) - 1, JSON_COMPACT) : 0;
	json_decref(event);
	if (used == 0 || used > sizeof(line) - 1)
		return;
	line[used] = '\n';
	if (write(STDERR_FILENO, line, used + 1) < 0)
		return; /* no reader is left */
}

static void write_text(enum log_level level, const char *message, const struct names *names)
{
	char line[LINE_MAX_BYTES + NAME_MAX_BYTES + 64];
	bool has_subject = names && names->subject[0];
	int len = snprintf(line, sizeof(line), "<%d>%s: %s%s%s\n", (int)level, log_process, message,
		has_subject ? SUBJECT_IN_TEXT : "", has_subject ? names->subject : "");

	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		return; /* no reader is left */
}

static int write_journal(enum log_level level, const char *message, const struct names *names)
{
	char priority[2] = { (char)('0' + (int)level), '\0' }, words[LINE_MAX_BYTES + 64];
	const struct journal_field fields[] = {
		{ "MESSAGE", words },
		{ "PRIORITY", priority },
		{ "SYSLOG_FACILITY", FACILITY_DAEMON },
		{ "SYSLOG_IDENTIFIER", program_invocation_short_name },
		{ "MESSAGE_ID", names->event },
		{ "CARTBUS_SHOP", names->shop },
		{ "CARTBUS_SUBJECT", names->subject },
		{ SUBJECT_IN_JOURNAL, names->subject },
		{ "CARTBUS_TOPIC", names->topic },
		{ "CARTBUS_TRACE", names->trace },
		{ "CARTBUS_SEQ", names->seq },
	};

	snprintf(words, sizeof(words), "%s: %s", log_process, message);
	return journal_send(log_journal_fd, log_journal, fields, sizeof(fields) / sizeof(fields[0]));
}

/* about NULL: the line is about no subject */
static void __attribute__((format(printf, 3, 0)))
write_line(enum log_level level, const struct log_about *about, const char *format, va_list args)
{
	size_t prefix = strlen(log_process) + strlen("<6>: ");
	char message[LINE_MAX_BYTES];
	size_t room = prefix < sizeof(message) / 2 ? sizeof(message) - prefix : sizeof(message) / 2;
	struct names names;
	int len = vsnprintf(message, room, format, args);

	if (len < 0)
		message[len = 0] = '\0';
	if ((size_t)len >= room)
		memcpy(message + room - 4, "...", 4);
	text_make_plain(message);
	if (about)
		take_names(about, &names);
	if (log_form == LOG_FORM_JSON)
		write_json(level, message, about ? &names : NULL);
	else if (!about || log_journal_fd < 0 || (write_journal(level, message, &names) < 0 && level <= LOG_WARNING))
		write_text(level, message, about ? &names : NULL);
}

bool log_to_journal(const char *socket_path)
{
	log_journal = socket_path;
	if (log_journal_fd < 0)
		log_journal_fd = journal_open();
	return log_journal_fd >= 0;
}

void log_event(enum log_level level, const char *format, ...)
{
	if (level > log_most)
		return;
	va_list args;
	va_start(args, format);
	write_line(level, NULL, format, args);
	va_end(args);
}

void log_event_about(enum log_level level, const struct log_about *about, const char *format, ...)
{
	if (level > log_most)
		return;
	va_list args;
	va_start(args, format);
	write_line(level, about, format, args);
	va_end(args);
}

noreturn void die(const char *format, ...)
{
	char why[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	log_event(LOG_CRITICAL, "%s", why);
	notify_failed(why);
	exit(1);
}

/* In the order of the words of [log] level and format. */
static const enum log_level levels[] = { LOG_CRITICAL, LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };
static const enum log_form forms[] = { LOG_FORM_TEXT, LOG_FORM_JSON };

void log_configure(const struct config *config, const char *process)
{
	log_open(process, levels[config_word(config, "log", NULL, "level")]);
	log_write_as(forms[config_word(config, "log", NULL, "format")]);
	if (journal_reads_stderr())
		log_to_journal(JOURNAL_SOCKET);
}

BUS_EVENTS(LOG_EVENT_DEFINE)

/*
 * One datagram to the journal
 *
 * Promises:  it does not wait. A datagram is at most a line of the log and a few names, so it never needs the
 *            sealed file in which large ones are sent.
 * Fails by:  the returned errno.
 */

bool journal_reads_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &status) == 0 &&
		status.st_dev == device && status.st_ino == inode;
}

int journal_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* not connected: the journal may restart */

	return fd < 0 ? -errno : fd;
}

int journal_send(int fd, const char *socket_path, const struct journal_field *fields, size_t count)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_(buffer_free) struct buffer lines = { 0 };

	if (strlen(socket_path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, socket_path, strlen(socket_path));
	for (size_t i = 0; i < count; i++)
		if (fields[i].value && *fields[i].value)
			buffer_printf(&lines, "%s=%s\n", fields[i].name, fields[i].value);
	if (sendto(fd, lines.data, lines.len, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
		    (socklen_t)sizeof(address)) < 0)
		return -errno;
	return 0;
}

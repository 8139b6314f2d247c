/*
 * log.h: what a process tells its admin, on stderr or to systemd's journal
 *
 * Processes log, and the broker's files with them; other libraries return errors. One line per event on stderr, in a form journald and people read:
 *   <4>gateway: refused shop=demo: the signature is wrong
 * or, for collectors of logs, as an object of JSON per line:
 *   {"time":"2026-11-21T18:00:00.000000Z","level":"warning","process":"gateway","message":"refused shop=demo: the signature is wrong"}
 * What it is about goes with it as fields of the journal, if that is what reads stderr, or as members of that object.
 * Values are quoted where needed and never contain addresses, tokens or secrets: callers pass hashes (kit/mail/address.h).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

enum log_level {
	LOG_CRITICAL = 2,
	LOG_ERROR = 3,
	LOG_WARNING = 4,
	LOG_NOTICE = 5,
	LOG_INFO = 6,
	LOG_DEBUG = 7
}; /* as syslog */

enum log_form { LOG_FORM_TEXT, LOG_FORM_JSON };

void log_open(const char *process, enum log_level most); /* `process` is borrowed for good; LOG_INFO is the usual */
void log_write_as(enum log_form form);
void log_event(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * What an event is about. A reader finds all events about one subject by it: journalctl CARTBUS_SUBJECT=c1. Names that a storefront or the
 * owner gave, nobody's address: a subject that is called by one (an @ in it) is left out. NULL, "" and 0: nothing is known of it.
 */
struct log_about {
	const char *event;                  /* MESSAGE_ID of its kind (BUS_EVENTS below; proto/platform_events.h) */
	const char *shop, *subject, *topic; /* subject: id of the one thing it is about, such as a case or an order */
	const char *trace;                  /* W3C traceparent: its trace's id is told */
	uint64_t seq;                       /* of the message in the log */
};
void log_event_about(enum log_level level, const struct log_about *about, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* From now on events that are about something go to the journal's socket there, with fields. false: there is no socket to be had. */
bool log_to_journal(const char *socket_path);

/* An unusable environment: say what is wrong, where and what to do, to the supervisor as well (notify_failed), and exit with 1. */
noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* [log] of cartbus.conf: from now on `process` (borrowed for good) logs as its configuration says. */
struct config;
void log_configure(const struct config *config, const char *process);

/*
 * What kinds of events the bus tells of, each with an id that stays: the journal's MESSAGE_ID. X(name, id, title). Never change an id:
 * admins have written it into their searches. Each system has a list of its own, in its *_events.h.
 */
#define BUS_EVENTS(X)                                                                                                  \
	X(decision_failed, "198ded7094424713813d7f63b8c9edd4", "a decision failed, and is tried again")                \
	X(given_up, "a10d6c5bd7d94687a93acb184c8bc192", "a message was given up: it is a dead letter now")             \
	X(said_before, "a6be04c3aae74e0b91e24a2b36831870", "a message came once more, and changed nothing")

#define LOG_EVENT_DECLARE(name, id, title) extern const char event_##name[];
#define LOG_EVENT_DEFINE(name, id, title) const char event_##name[] = id;
BUS_EVENTS(LOG_EVENT_DECLARE)

/*
 * What to do about the state of a service that has to be folded anew, for the texts of several errors. `where` names the folder. Nothing is deleted: a restore learns from these files what was mailed; and the folders among them are no
 * folded state: what lies in a spool, or was put aside, is nowhere else.
 */
#define FOLDED_ANEW(where) "move the files in " where " away, not the folders"

/*
 * An event with fields, to systemd's journal
 *
 * Its native protocol, which is documented and stable (systemd.io/JOURNAL_NATIVE_PROTOCOL): one datagram of NAME=value lines. libsystemd would
 * do it too; it brings five libraries and 0.7 MB into each of a dozen processes, so as notify.h does, we say these lines ourselves.
 */

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Is what is written to stderr read by the journal itself? JOURNAL_STREAM says so, if it is still that stderr (sd_journal_stream_fd(3)). */
bool journal_reads_stderr(void);

struct journal_field {
	const char *name, *value; /* one line, without control characters; NULL or "": left out */
};

int journal_open(void); /* a socket to say it on, for good; -errno */
/* Never waits: -EAGAIN when the journal does not keep up, and any other -errno when it is not there. */
int journal_send(int fd, const char *socket_path, const struct journal_field *fields, size_t count);

#endif

/*
 * log.h: log lines for the admin, on stderr or to systemd's journal
 *
 * Processes and the broker's files log; other libraries return errors. One line per event on stderr, in a
 * form journald and people read:
 *   <4>gateway: refused shop=demo: the signature is wrong
 * or, for collectors of logs, as an object of JSON per line:
 *   {"time":"2026-11-21T18:00:00.000000Z","level":"warning","process":"gateway","message":"refused shop=demo: the signature is wrong"}
 * The subject of an event goes with it as fields of the journal, if the journal reads stderr, or as members
 * of the JSON object.
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

/* `process` is borrowed for ever; `most` is usually LOG_INFO */
void log_open(const char *process, enum log_level most);
void log_write_as(enum log_form form);
void log_event(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The subject of an event. By it a reader finds all events about one subject: journalctl CARTBUS_SUBJECT=c1.
 * It has names that a storefront or the owner gave, never a mail address: a subject with an @ in it is left
 * out. NULL, "" and 0: unknown.
 */
struct log_about {
	/* the MESSAGE_ID of the event's kind (BUS_EVENTS below; proto/platform_events.h) */
	const char *event;
	const char *shop, *subject, *topic; /* subject: the id of one thing, such as a case or an order */
	const char *trace;                  /* a W3C traceparent; the id of its trace is logged */
	uint64_t seq;                       /* of the message in the log */
};
void log_event_about(enum log_level level, const struct log_about *about, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * From now on events with a subject go to the journal's socket at socket_path, with fields. false: no socket
 * can be made.
 */
bool log_to_journal(const char *socket_path);

/*
 * For an unusable environment: logs the message, tells it to the supervisor (notify_failed) and exits with 1.
 * The message must say what is wrong, where, and what to do.
 */
noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Applies [log] of cartbus.conf: from now on `process` (borrowed for ever) logs as configured. */
struct config;
void log_configure(const struct config *config, const char *process);

/*
 * The kinds of events that the bus logs, each with a stable id: the journal's MESSAGE_ID. X(name, id, title).
 * Never change an id, because admins use it in their searches. Each system has a list of its own, in its
 * *_events.h.
 */
#define BUS_EVENTS(X)                                                                                                  \
	X(decision_failed, "198ded7094424713813d7f63b8c9edd4", "a decision failed, and is tried again")                \
	X(given_up, "a10d6c5bd7d94687a93acb184c8bc192", "a message was given up: it is a dead letter now")             \
	X(said_before, "a6be04c3aae74e0b91e24a2b36831870", "a message came once more, and changed nothing")

#define LOG_EVENT_DECLARE(name, id, title) extern const char event_##name[];
#define LOG_EVENT_DEFINE(name, id, title) const char event_##name[] = id;
BUS_EVENTS(LOG_EVENT_DECLARE)

/*
 * A remedy for the texts of several errors: how to make a service fold its state anew. `where` names the
 * folder. Nothing is deleted, because a restore learns from these files which mails were sent. The folders
 * inside are not folded state: what is in a spool, or was put aside, exists nowhere else.
 */
#define FOLDED_ANEW(where) "move the files in " where " away, not the folders"

/*
 * An event with fields, to systemd's journal
 *
 * It uses the journal's native protocol, which is documented and stable (systemd.io/JOURNAL_NATIVE_PROTOCOL):
 * one datagram of NAME=value lines. libsystemd can do this too, but it loads five libraries and 0.7 MB into
 * each of a dozen processes; therefore we write these lines ourselves, as notify.h does.
 */

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/*
 * Does the journal itself read our stderr? JOURNAL_STREAM tells, if stderr is still the same file
 * (sd_journal_stream_fd(3)).
 */
bool journal_reads_stderr(void);

struct journal_field {
	/* `value` is one line without control characters; NULL or "": the field is left out */
	const char *name, *value;
};

int journal_open(void); /* opens a socket for the life of the process; or a negative errno */
/* Never waits. -EAGAIN: the journal does not keep up. Another negative errno: the journal is not there. */
int journal_send(int fd, const char *socket_path, const struct journal_field *fields, size_t count);

#endif

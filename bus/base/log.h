/*
 * log.h: what a process tells its admin
 *
 * Only processes log, libraries return errors. One line per event on stderr, in a form journald and people read:
 *   <6>intake: cart changed shop=demo cart=c1 ...
 * or, for collectors of logs, as an object of JSON per line:
 *   {"time":"2026-11-21T18:00:00.000000Z","level":"info","process":"intake","message":"cart changed shop=demo cart=c1 ..."}
 * Values are quoted where needed and never contain addresses, tokens or secrets: callers pass hashes (kit/address.h).
 */
#ifndef BUS_BASE_LOG_H
#define BUS_BASE_LOG_H

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

/* An unusable environment: say what is wrong, where and what to do, and exit with 1. */
noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

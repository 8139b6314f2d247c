/*
 * log.c: lines for the admin, on stderr, as text or as JSON
 *
 * Promises:  one event is one line and one write, whatever was in its values: control characters come out as spaces,
 *            so that nobody who chooses a cart's name can forge a line.
 * Fails by:  nothing; what cannot be written is lost, and a line over LINE_MAX_BYTES is cut and ends in "...".
 */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

static const char *log_process = "cartbus";
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

/* Of the machine, as every collector of logs expects it: a demo's fast clock is not shown. */
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

static void write_json(enum log_level level, char *message, size_t len)
{
	char now[40], line[2 * LINE_MAX_BYTES + 256]; /* of the escapes only those of " and \ come: two bytes for one */
	json_t *event;
	size_t used;

	for (size_t i = 0; !text_is_utf8(BYTES(message, len)) && i < len; i++)
		if ((unsigned char)message[i] >= 0x80)
			message[i] = '?';
	write_now(now);
	event = json_pack("{s:s,s:s,s:s,s:s%}", "time", now, "level", level_word(level), "process", log_process,
		"message", message, len);
	used = event ? json_dumpb(event, line, sizeof(line) - 1, JSON_COMPACT) : 0;
	json_decref(event);
	if (used == 0 || used > sizeof(line) - 1)
		return;
	line[used] = '\n';
	if (write(STDERR_FILENO, line, used + 1) < 0)
		return; /* there is nobody left to tell */
}

static void __attribute__((format(printf, 2, 0))) write_line(enum log_level level, const char *format, va_list args)
{
	char line[LINE_MAX_BYTES + 1];
	size_t start = (size_t)snprintf(line, sizeof(line), "<%d>%s: ", (int)level, log_process);
	int len = vsnprintf(line + start, sizeof(line) - start, format, args);
	size_t end = len < 0 ? start : start + (size_t)len;
	if (end >= LINE_MAX_BYTES) {
		end = LINE_MAX_BYTES - 1;
		memcpy(line + end - 3, "...", 3);
	}

	for (size_t i = start; i < end; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
	if (log_form == LOG_FORM_JSON) {
		write_json(level, line + start, end - start);
		return;
	}
	line[end] = '\n';
	if (write(STDERR_FILENO, line, end + 1) < 0)
		return; /* there is nobody left to tell */
}

void log_event(enum log_level level, const char *format, ...)
{
	if (level > log_most)
		return;
	va_list args;
	va_start(args, format);
	write_line(level, format, args);
	va_end(args);
}

noreturn void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	write_line(LOG_CRITICAL, format, args);
	va_end(args);
	exit(1);
}

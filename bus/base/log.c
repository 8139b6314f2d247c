/*
 * log.c: lines for the admin, on stderr
 *
 * Promises:  one event is one line and one write, whatever was in its values: control characters come out as spaces,
 *            so that nobody who chooses a cart's name can forge a line.
 * Fails by:  nothing; what cannot be written is lost, and a line over LINE_MAX_BYTES is cut and ends in "...".
 */
#include "bus/base/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

static const char *log_process = "cartbus";
static enum log_level log_most = LOG_INFO;

void log_open(const char *process, enum log_level most)
{
	log_process = process;
	log_most = most;
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

/*
 * config_kind.h: what the value of a configuration key may be, and what it means
 *
 * One judgement for all who ask: the processes, their --check, `cartbus config check`, `cartbus doctor`, the man pages.
 */
#ifndef BASE_CONFIG_KIND_H
#define BASE_CONFIG_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_form {
	CONFIG_FORM_NONE, /* of a row that was not finished */
	CONFIG_FORM_TEXT,
	CONFIG_FORM_PATH,
	CONFIG_FORM_FILE,
	CONFIG_FORM_IP,
	CONFIG_FORM_HOST,
	CONFIG_FORM_URL,
	CONFIG_FORM_COUNT,
	CONFIG_FORM_PORT,
	CONFIG_FORM_SPAN,
	CONFIG_FORM_REAL,
	CONFIG_FORM_YES,
	CONFIG_FORM_WORD,
	CONFIG_FORM_JUDGED
};

struct config_kind {
	enum config_form form;
	int64_t least, most; /* of a number, a span in microseconds; of a text the bytes */
	double real_least, real_most;
	const char *
		words; /* which, with one blank between, behind a | those of old that nobody is told of; of a count its unit or NULL; of what is judged what it should be */
	bool (*judge)(const char *value);
};

#define CONFIG_TEXT(most_bytes)                                                                                        \
	{                                                                                                              \
		.form = CONFIG_FORM_TEXT, .least = 1, .most = (most_bytes)                                             \
	}
#define CONFIG_PATH(most_bytes)                                                                                        \
	{                                                                                                              \
		.form = CONFIG_FORM_PATH, .least = 1, .most = (most_bytes)                                             \
	}
/* The name of a file in a folder that is known: no slash, no dot before it. */
#define CONFIG_FILE                                                                                                    \
	{                                                                                                              \
		.form = CONFIG_FORM_FILE, .least = 1, .most = 64                                                       \
	}
#define CONFIG_IP                                                                                                      \
	{                                                                                                              \
		.form = CONFIG_FORM_IP, .least = 1, .most = 63                                                         \
	}
#define CONFIG_HOST                                                                                                    \
	{                                                                                                              \
		.form = CONFIG_FORM_HOST, .least = 1, .most = 253                                                      \
	}
/* "http https" */
#define CONFIG_URL(schemes, most_bytes)                                                                                \
	{                                                                                                              \
		.form = CONFIG_FORM_URL, .least = 1, .most = (most_bytes), .words = (schemes)                          \
	}
#define CONFIG_COUNT(at_least, at_most)                                                                                \
	{                                                                                                              \
		.form = CONFIG_FORM_COUNT, .least = (at_least), .most = (at_most)                                      \
	}
#define CONFIG_COUNT_OF(unit, at_least, at_most)                                                                       \
	{                                                                                                              \
		.form = CONFIG_FORM_COUNT, .least = (at_least), .most = (at_most), .words = (unit)                     \
	}
#define CONFIG_PORT                                                                                                    \
	{                                                                                                              \
		.form = CONFIG_FORM_PORT, .least = 1, .most = 65535                                                    \
	}
#define CONFIG_PORT_OR_NONE                                                                                            \
	{                                                                                                              \
		.form = CONFIG_FORM_PORT, .least = 0, .most = 65535                                                    \
	}
#define CONFIG_SPAN(least_us, most_us)                                                                                 \
	{                                                                                                              \
		.form = CONFIG_FORM_SPAN, .least = (least_us), .most = (most_us)                                       \
	}
#define CONFIG_REAL(at_least, at_most)                                                                                 \
	{                                                                                                              \
		.form = CONFIG_FORM_REAL, .real_least = (at_least), .real_most = (at_most)                             \
	}
#define CONFIG_YES                                                                                                     \
	{                                                                                                              \
		.form = CONFIG_FORM_YES, .words = "no yes"                                                             \
	}
#define CONFIG_WORD(list)                                                                                              \
	{                                                                                                              \
		.form = CONFIG_FORM_WORD, .words = (list)                                                              \
	}
/* `what` goes behind "expected": "a mail address, as shop@example.com". */
#define CONFIG_JUDGED(what, most_bytes, function)                                                                      \
	{                                                                                                              \
		.form = CONFIG_FORM_JUDGED, .least = 1, .most = (most_bytes), .words = (what), .judge = (function)     \
	}

struct config_meaning {
	int64_t number; /* of a word its place in the list */
	double real;
};

/* false: `value`, which is not empty, is no such thing. */
bool config_kind_read(const struct config_kind *kind, const char *value, struct config_meaning *ret);
/* "a port from 1 to 65535", "maildir, smtp, ses or null" */
void config_kind_expected(const struct config_kind *kind, char *ret, size_t room);
/*
 * Of a wrong URL: is there perhaps a name, or a name and a password, before its host? None may be, and no journal may show it. Any @ counts:
 * a password with / ? or # in it is what makes many such URLs wrong.
 */
bool config_kind_has_login(const struct config_kind *kind, const char *value);
bool config_kind_is_number(const struct config_kind *kind);

#endif

/*
 * config_kind.h: the valid values of a configuration key, and their meaning
 *
 * There is one check for all users: the processes, their --check, `cartbus config check`, `cartbus doctor`
 * and the man pages.
 */
#ifndef BASE_CONFIG_KIND_H
#define BASE_CONFIG_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_form {
	CONFIG_FORM_NONE, /* a row without a kind */
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
	/* the range of a number, of a span in microseconds, or of a text's length in bytes */
	int64_t least, most;
	double real_least, real_most;
	/*
	 * of WORD: the words with one blank between, then | and old words that are still accepted but not
	 * shown. Of COUNT: its unit or NULL. Of URL: the schemes. Of JUDGED: a description of a valid value.
	 */
	const char *words;
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
/* The name of a file in a known folder: without a slash, and not beginning with a dot. */
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
/* `what` is shown after "expected": "a mail address, as shop@example.com". */
#define CONFIG_JUDGED(what, most_bytes, function)                                                                      \
	{                                                                                                              \
		.form = CONFIG_FORM_JUDGED, .least = 1, .most = (most_bytes), .words = (what), .judge = (function)     \
	}

struct config_meaning {
	int64_t number; /* of a word: its index in the list */
	double real;
};

/* false: `value` is not valid for this kind. `value` must not be empty. */
bool config_kind_read(const struct config_kind *kind, const char *value, struct config_meaning *ret);
/* Writes a description of the valid values: "a port from 1 to 65535", "maildir, smtp, ses or null". */
void config_kind_expected(const struct config_kind *kind, char *ret, size_t room);
/*
 * May a wrong URL contain a name, or a name and a password, before its host? A URL must not have one, and no
 * journal may show it. Any @ counts, because many such URLs are wrong due to a / ? or # in the password.
 */
bool config_kind_has_login(const struct config_kind *kind, const char *value);
bool config_kind_is_number(const struct config_kind *kind);

#endif

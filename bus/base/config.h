/*
 * config.h: reads sectioned INI files with drop-ins; refuses unknown keys and invalid values
 *
 * `path` is read first, then every *.conf of `path`.d in order of name; the last value wins. A file says
 *     [section]            or  [section name]   (name: "topic order.state")
 *     key = value
 * Lines that start with # or ; are comments; so is the text after " ;" behind a value. A line has at most
 * 4000 bytes. The program's table says which sections and keys exist. Anything else is an error with file,
 * line and what was expected. A key may be given several times in one file only if `repeated` allows it, or
 * if the value is the same each time. An empty value of a repeated key drops the values before it; for a key
 * without a fallback it means none; for any other key it is wrong.
 *
 * The row of a key says which values it takes. A value is checked and parsed when the file is read. So every
 * value in a struct config is valid, and a reader asks for its meaning (config_number, config_word, ...). To
 * add a key, add a row like this:
 *     { "mail", "smtp-port", "25", "its port", .kind = CONFIG_PORT, .readers = "sender" },
 * to bus_keys (bus/wire/bus_keys.c) if the bus reads it, to settings_keys (services/kit/settings/settings.c)
 * if services read it, or to shop_keys if it belongs in a shop.conf. A row without a kind does not compile,
 * or is refused at the start.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "bus/base/config_kind.h"

struct config;

enum { CONFIG_MANY = 1000 }; /* the most values of a repeated key */

struct config_key {
	const char *section; /* NULL ends the table */
	const char *key;
	const char *fallback; /* NULL or "": none */
	const char *help;     /* one line, for the man page and the handbook */
	unsigned repeated;    /* the most values it may have; 0: it has one value, the last that is given */
	struct config_kind kind;
	/*
	 * The names of the services that read it, with blanks between; or "every". NULL: the program that has
	 * this table.
	 */
	const char *readers;
	/*
	 * Which other keys of its section must then be given: "ses: ses-region; openai: url model". Before
	 * each colon is a value of this key, or "given" (any value), or "other" (any value except its
	 * fallback).
	 */
	const char *needs;
	bool may_be_none; /* an empty value means none, even if there is a fallback */
	/* it must be given; in a section that may be named, only where the section has a name */
	bool required;
	/* its section always has a name, [section NAME]; all rows of the section must say so */
	bool named;
	/*
	 * Its section may be given as [section] and also as [section NAME]; all rows of the section must say
	 * so.
	 */
	bool may_be_named;
	const struct config_key *table; /* not a row itself: includes all rows of another table */
};

#define CONFIG_TABLE(keys)                                                                                             \
	{                                                                                                              \
		.section = "+", .table = (keys)                                                                        \
	}
/* Sections that are not in this table belong to other programs and are not checked. */
#define CONFIG_OTHERS                                                                                                  \
	{                                                                                                              \
		.section = "*"                                                                                         \
	}
#define CONFIG_END                                                                                                     \
	{                                                                                                              \
		.section = NULL                                                                                        \
	}

struct config_error {
	char text[512]; /* "cartbus.conf:12: unknown key \"prot\" in [gateway]; did you mean \"port\"?" */
};

/*
 * 0; -ENOENT: there is no such file; -EINVAL: the content is wrong. ret_error is always filled on failure.
 * `keys` is borrowed for the whole life of the process.
 */
int config_load(const char *path, const struct config_key *keys, struct config **ret, struct config_error *ret_error);
/*
 * The same for one reader, which should rather run than stop because of a wrong value that only other readers
 * need. Such values are ignored as if they were missing; all other errors are refused as by config_load. On
 * success ret_error names the ignored values, or is "".
 */
int config_load_for(const char *path, const struct config_key *keys, const char *reader, struct config **ret,
	struct config_error *ret_error);
/* a remedy to show after ret_error's text; "" if that text has it */
const char *config_load_remedy(int error);
int config_parse(const char *text, const char *name, const struct config_key *keys, struct config **ret,
	struct config_error *ret_error);
/*
 * Reports every error that config_load or config_parse would refuse, with the same text, in the order of
 * files and lines; errors without a line come last. Returns the number of errors, or a negative errno if the
 * file at `path` cannot be read, which only ret_error reports.
 */
typedef void config_tell_fn(const char *text, void *context);
int config_judge_file(const char *path, const struct config_key *keys, config_tell_fn *tell, void *context,
	struct config_error *ret_error);
int config_judge_text(
	const char *text, const char *name, const struct config_key *keys, config_tell_fn *tell, void *context);
void config_free(struct config *config);

/*
 * The meaning of a key's value; `name` NULL: the plain [section]. It is a bug (assert) to ask for a key that
 * the table does not have, or for a number if the key has a text.
 */
/* of a COUNT or PORT, the number; of a SPAN, microseconds; 0: not given, and no fallback */
int64_t config_number(const struct config *config, const char *section, const char *name, const char *key);
double config_real(const struct config *config, const char *section, const char *name, const char *key);
bool config_yes(const struct config *config, const char *section, const char *name, const char *key);
int config_word(const struct config *config, const char *section, const char *name,
	const char *key); /* the index of its word in the kind's list; -1: not given, and no fallback */
/* The value as written. Borrowed until config_free. NULL: not given, and no fallback. */
const char *config_get(const struct config *config, const char *section, const char *name, const char *key);

/* Calls each(name, context) for every [section name] in order; stops at the first non-zero and returns it. */
int config_each_section(
	const struct config *config, const char *section, int (*each)(const char *name, void *context), void *context);
/* Calls each(value, context) for every value of a repeated key, in order. */
int config_each_value(const struct config *config, const char *section, const char *name, const char *key,
	int (*each)(const char *value, void *context), void *context);

/*
 * Does a key that was asked for in `before` have another value in `after`, which was read with the same keys?
 * ret_which names them: "[mail] smtp-host, [mail] smtp-port"; `room` is its size in bytes.
 */
bool config_differs(const struct config *before, const struct config *after, char *ret_which, size_t room);

/*
 * Reports an error in a value that the table cannot express. Always returns -EINVAL; ret_error gets the file
 * and line as for the table's own errors: "cartbus.conf:3: [monitor] listen: expected ..., found "0.0.0.0"".
 */
int config_refuse(const struct config *config, const char *section, const char *name, const char *key,
	struct config_error *ret_error, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Calls each(key, context) for every row, tables within tables included; stops at the first non-zero and returns it. */
int config_each_key(
	const struct config_key *keys, int (*each)(const struct config_key *key, void *context), void *context);

/* The effective configuration as INI text, fallbacks included. */
struct buffer;
void config_dump(const struct config *config, struct buffer *ret);

#endif

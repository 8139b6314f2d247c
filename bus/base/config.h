/*
 * config.h: sectioned INI with drop-ins, no key that nobody knows, and no value that is not what its key takes
 *
 * `path` is read first, then every *.conf of `path`.d in order of name; the last value wins. A file says
 *     [section]            or  [section name]   (name: "topic order.state")
 *     key = value
 * Lines that start with # or ; are comments, and so is what follows " ;" behind a value. A line has at most 4000 bytes.
 * The program says which sections and keys there are. Anything else is an error with file, line and what was expected.
 * A key may be given several times in one file only where `repeated` says so, or when it says the same each time. An empty
 * value of a repeated key drops the ones before it; of a key without a fallback it is none; of any other it is wrong.
 *
 * What a value may be is said once, by the row of its key. It is judged and read while the file is read: every value in a struct
 * config is right, and its reader asks for what it means (config_number, config_word, ...). A key is added like this:
 *     { "mail", "smtp-port", "25", "its port", .kind = CONFIG_PORT, .readers = "sender" },
 * to bus_keys (bus/wire/bus_keys.c) what the bus reads, to settings_keys (services/kit/settings/settings.c) what services read, to shop_keys what
 * a shop.conf says. A row without a kind does not compile, or is refused at the start.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "bus/base/config_kind.h"

struct config;

enum { CONFIG_MANY = 1000 }; /* as many values as anybody could want */

struct config_key {
	const char *section; /* NULL ends the table */
	const char *key;
	const char *fallback; /* NULL or "": none */
	const char *help;     /* one line, for the man page and the handbook */
	unsigned
		repeated; /* it may be given several times, and has so many values at most; 0: the last one is its value */
	struct config_kind kind;
	/* The services that ask for it, with blanks between; "every"; NULL: the program whose table this is. */
	const char *readers;
	/*
	 * Which other keys of its section must be given: "ses: ses-region; openai: url model". Before the colon stands its value; or
	 * "given": any value; or "other": any value but its fallback.
	 */
	const char *needs;
	bool may_be_none; /* an empty value means none, even if there is a fallback */
	bool required;    /* it has to be given; of a section that may be named: where the section has a name */
	bool named;       /* its section is given with a name, [section NAME]; so say all rows of that section */
	/* Its section is given as [section], and as [section NAME] beside it; so say all rows of that section. */
	bool may_be_named;
	const struct config_key *table; /* in the place of a row: all of another table */
};

#define CONFIG_TABLE(keys)                                                                                             \
	{                                                                                                              \
		.section = "+", .table = (keys)                                                                        \
	}
/* Sections that are not in this table belong to others, and are not judged. */
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

/* 0; -ENOENT: no such file; -EINVAL: see ret_error, which is always filled on failure. `keys` is borrowed for good. */
int config_load(const char *path, const struct config_key *keys, struct config **ret, struct config_error *ret_error);
/*
 * For one of its readers, which would rather run than stand still for what is wrong with a value that others need: that is passed over
 * as if it were not there. Everything else is refused as by config_load. ret_error: of 0, what was passed over, or "".
 */
int config_load_for(const char *path, const struct config_key *keys, const char *reader, struct config **ret,
	struct config_error *ret_error);
const char *config_load_remedy(int error); /* what helps, behind ret_error's words; "" where these say it */
int config_parse(const char *text, const char *name, const struct config_key *keys, struct config **ret,
	struct config_error *ret_error);
/*
 * Tells each thing that config_load or config_parse would refuse, in the words it would be refused with, in the order of the files and their
 * lines; what has no line comes last. The number of them; of a file at `path` that cannot be read a negative errno, told in ret_error alone.
 */
typedef void config_tell_fn(const char *text, void *context);
int config_judge_file(const char *path, const struct config_key *keys, config_tell_fn *tell, void *context,
	struct config_error *ret_error);
int config_judge_text(
	const char *text, const char *name, const struct config_key *keys, config_tell_fn *tell, void *context);
void config_free(struct config *config);

/*
 * What a key's value means; `name` NULL: the plain [section]. To ask for a key that the table does not have, or for a number where it
 * has a text, is our bug, and asserted.
 */
int64_t config_number(const struct config *config, const char *section, const char *name,
	const char *key); /* COUNT, PORT; of a SPAN the microseconds; 0: not given, and no fallback */
double config_real(const struct config *config, const char *section, const char *name, const char *key);
bool config_yes(const struct config *config, const char *section, const char *name, const char *key);
int config_word(const struct config *config, const char *section, const char *name,
	const char *key); /* the place of its word in the kind's list; -1: not given, and no fallback */
/* As it is written. Borrowed until config_free. NULL: not given, and no fallback. */
const char *config_get(const struct config *config, const char *section, const char *name, const char *key);

/* Calls each(name, context) for every [section name] in order; stops at the first non-zero and returns it. */
int config_each_section(
	const struct config *config, const char *section, int (*each)(const char *name, void *context), void *context);
/* Calls each(value, context) for every value of a repeated key, in order. */
int config_each_value(const struct config *config, const char *section, const char *name, const char *key,
	int (*each)(const char *value, void *context), void *context);

/*
 * Is what somebody asked `before` for another in `after`, which was read with the same keys? ret_which: "[mail] smtp-host, [mail] smtp-port"
 */
bool config_differs(const struct config *before, const struct config *after, char *ret_which, size_t room);

/*
 * What the table cannot say is wrong with a value: always -EINVAL; ret_error as of the table's own refusals, with file and line:
 * "cartbus.conf:3: [monitor] listen: expected ..., found "0.0.0.0"".
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

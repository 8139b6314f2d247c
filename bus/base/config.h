/*
 * config.h: sectioned INI with drop-ins, and no key that nobody knows
 *
 * `path` is read first, then every *.conf of `path`.d in order of name; the last value wins. A file says
 *     [section]            or  [section name]   (name: "topic cart.state")
 *     key = value
 * Lines that start with # or ; are comments, and so is what follows " ;" behind a value. A line has at most 4000 bytes.
 * The program says which sections and keys there are. Anything else is an error with file, line and what was expected.
 * A key may be given several times in one file only where `repeated` says so, or when it says the same each time. An empty
 * value of a repeated key drops the ones before it.
 */
#ifndef BUS_BASE_CONFIG_H
#define BUS_BASE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

struct config_key {
	const char *
		section; /* NULL ends the table; "*": sections that are not in this table belong to others, do not judge them */
	const char *key;
	const char *fallback; /* NULL: none, config_get answers NULL */
	const char *help;     /* one line, for `cartbus config` and the README */
	bool repeated;
};

struct config_error {
	char text[512]; /* "cartbus.conf:12: unknown key \"prot\" in [gateway]; did you mean \"port\"?" */
};

/* 0; -ENOENT: no such file; -EINVAL: see ret_error, which is always filled on failure. `keys` is borrowed for good. */
int config_load(const char *path, const struct config_key *keys, struct config **ret, struct config_error *ret_error);
const char *config_load_remedy(int error); /* what helps, behind ret_error's words; "" where these say it */
int config_parse(const char *text, const char *name, const struct config_key *keys, struct config **ret,
	struct config_error *ret_error);
void config_free(struct config *config);

/* `name` NULL: the plain [section]. Borrowed until config_free. */
const char *config_get(const struct config *config, const char *section, const char *name, const char *key);
/* -ENOENT: not given and no fallback; -EINVAL: not a whole number from `least` to `most` */
int config_get_int(const struct config *config, const char *section, const char *name, const char *key, int64_t least,
	int64_t most, int64_t *ret, struct config_error *ret_error);
/* "250ms", "30s", "5min", "4h", "2d": as microseconds */
int config_get_span(const struct config *config, const char *section, const char *name, const char *key,
	int64_t *ret_us, struct config_error *ret_error);

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

/* The effective configuration as INI text, fallbacks included. */
struct buffer;
void config_dump(const struct config *config, struct buffer *ret);

#endif

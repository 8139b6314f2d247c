/*
 * config.c: the questions that processes ask of their configuration
 *
 * Owns:      the values read, in the order read; the last one wins, and an empty one empties a repeated key.
 * Fails by:  -EINVAL with file, line and what was expected; -ENOENT for a value that is not there.
 * Read next: config_read.c (how values get in)
 */
#include "bus/base/config.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/config_values.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

DEFINE_CLEANUP(struct config *, config_free)

static struct config *config_new(const struct config_key *keys)
{
	struct config *config = memory_new(sizeof(*config));
	size_t count = 0;

	config->keys = keys;
	while (keys[count].section)
		count++;
	config->asked = memory_new((count + 1) * sizeof(*config->asked));
	return config;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->count; i++) {
		struct config_value *value = &config->values[i];
		free(value->section);
		free(value->name);
		free(value->key);
		free(value->value);
		free(value->file);
	}
	free(config->values);
	free(config->asked);
	free(config);
}

static int is_drop_in(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

/* Byte order, the same in every locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_ins(struct config *config, const char *path, struct config_error *ret_error)
{
	char folder[PATH_MAX], file[PATH_MAX + NAME_MAX + 2];
	struct dirent **found = NULL;
	snprintf(folder, sizeof(folder), "%s.d", path);
	int count = scandir(folder, &found, is_drop_in, by_name), r = 0;
	if (count < 0 && errno != ENOENT)
		return config_fail(ret_error, -errno, "%s: %s", folder, strerror(errno));

	for (int i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s/%s", folder, found[i]->d_name);
		if (r == 0)
			r = config_read_file(config, file, ret_error);
		free(found[i]);
	}
	free(found);
	return r;
}

int config_load(const char *path, const struct config_key *keys, struct config **ret, struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = config_new(keys);
	int r = config_read_file(config, path, ret_error);
	if (r == 0)
		r = read_drop_ins(config, path, ret_error);
	if (r == 0)
		*ret = TAKE(config);
	return r;
}

int config_parse(const char *text, const char *name, const struct config_key *keys, struct config **ret,
	struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = config_new(keys);
	int r = config_read_text(config, text, name, ret_error);
	if (r == 0)
		*ret = TAKE(config);
	return r;
}

static bool is_of(const struct config_value *value, const char *section, const char *name)
{
	bool same_name = name && value->name ? strcmp(name, value->name) == 0 : name == value->name;
	return same_name && strcmp(value->section, section) == 0;
}

static const struct config_value *last_value(
	const struct config *config, const char *section, const char *name, const char *key)
{
	for (size_t i = config->count; i-- > 0;)
		if (is_of(&config->values[i], section, name) && strcmp(config->values[i].key, key) == 0)
			return &config->values[i];
	return NULL;
}

const char *config_get(const struct config *config, const char *section, const char *name, const char *key)
{
	const struct config_key *known = config_find_key(config->keys, section, key);
	assert(known); /* a question for a key that the table does not have is our bug */
	config->asked[known - config->keys] = true;
	const struct config_value *value = last_value(config, section, name, key);
	return value ? value->value : known->fallback;
}

/* "cartbus.conf:3: port", or what to call a value that is nowhere in a file. */
static void describe(const struct config *config, const char *section, const char *name, const char *key, char to[300])
{
	const struct config_value *value = last_value(config, section, name, key);
	if (value)
		snprintf(to, 300, "%s:%u: %s", value->file, value->line, key);
	else
		snprintf(to, 300, "[%s%s%s] %s", section, name ? " " : "", name ? name : "", key);
}

static int missing(struct config_error *ret_error, const char *where)
{
	return config_fail(ret_error, -ENOENT, "%s is not given", where);
}

int config_get_int(const struct config *config, const char *section, const char *name, const char *key,
	int64_t at_least, int64_t at_most, int64_t *ret, struct config_error *ret_error)
{
	char where[300], *end;
	const char *text = config_get(config, section, name, key);
	describe(config, section, name, key, where);
	if (!text)
		return missing(ret_error, where);

	errno = 0;
	int64_t value = strtoll(text, &end, 10);
	if (errno || end == text || *end || strchr(" \t+", *text) || value < at_least || value > at_most)
		return config_fail(ret_error, -EINVAL, "%s: expected a whole number from %lld to %lld, not \"%s\"",
			where, (long long)at_least, (long long)at_most, text);
	*ret = value;
	return 0;
}

static int64_t unit_us(const char *unit)
{
	static const struct {
		const char *name;
		int64_t us;
	} units[] = { { "ms", US_PER_MS }, { "s", US_PER_S }, { "min", US_PER_MINUTE }, { "h", US_PER_HOUR },
		{ "d", US_PER_DAY } };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].us;
	return 0;
}

int config_get_span(const struct config *config, const char *section, const char *name, const char *key,
	int64_t *ret_us, struct config_error *ret_error)
{
	char where[300], *end;
	const char *text = config_get(config, section, name, key);
	describe(config, section, name, key, where);
	if (!text)
		return missing(ret_error, where);

	errno = 0;
	int64_t count = strtoll(text, &end, 10), span = 0;
	int64_t unit = unit_us(end + strspn(end, " "));
	if (errno || *text < '0' || *text > '9' || !unit || __builtin_mul_overflow(count, unit, &span))
		return config_fail(ret_error, -EINVAL,
			"%s: expected a time like 250ms, 30s, 5min, 4h or 2d, not \"%s\"", where, text);
	*ret_us = span;
	return 0;
}

static bool is_first_of_section(const struct config *config, size_t at)
{
	const struct config_value *value = &config->values[at];
	for (size_t i = 0; i < at; i++)
		if (is_of(&config->values[i], value->section, value->name))
			return false;
	return true;
}

const char *config_load_remedy(int error)
{
	return error == -ENOENT    ? "; make it (it may be empty), or give the right file with --config"
		: error == -EACCES ? "; every process has to read it: chmod 644, and 755 for its folder"
				   : "";
}

int config_each_section(
	const struct config *config, const char *section, int (*each)(const char *name, void *context), void *context)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		if (!value->name || strcmp(value->section, section) != 0 || !is_first_of_section(config, i))
			continue;
		int r = each(value->name, context);
		if (r)
			return r;
	}
	return 0;
}

int config_each_value(const struct config *config, const char *section, const char *name, const char *key,
	int (*each)(const char *value, void *context), void *context)
{
	size_t start = 0;
	bool given = false;
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		if (!is_of(value, section, name) || strcmp(value->key, key) != 0)
			continue;
		given = true;
		if (!*value->value)
			start = i + 1;
	}

	const struct config_key *known = config_find_key(config->keys, section, key);
	assert(known);
	config->asked[known - config->keys] = true;
	if (!given)
		return known->fallback ? each(known->fallback, context) : 0;
	for (size_t i = start; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		if (!is_of(value, section, name) || strcmp(value->key, key) != 0)
			continue;
		int r = each(value->value, context);
		if (r)
			return r;
	}
	return 0;
}

struct dump {
	const struct config *config;
	const struct config_key *key;
	const char *name;
	struct buffer *to;
};

static int dump_value(const char *value, void *context)
{
	const struct dump *dump = context;
	const char *blank = *value == ';' ? "" : " "; /* behind a blank it would be a comment */
	buffer_printf(dump->to, "%s =%s%s\n", dump->key->key, blank, value);
	return 0;
}

static int dump_section(const char *name, void *context)
{
	struct dump *dump = context;
	const char *section = dump->key->section;
	buffer_printf(dump->to, "%s[%s%s%s]\n", dump->to->len ? "\n" : "", section, name ? " " : "", name ? name : "");
	for (const struct config_key *key = dump->config->keys; key->section; key++) {
		if (!key->key || strcmp(key->section, section) != 0)
			continue;
		struct dump line = { dump->config, key, name, dump->to };
		const char *value = config_get(dump->config, section, name, key->key);
		size_t before = dump->to->len;
		if (key->repeated)
			config_each_value(dump->config, section, name, key->key, dump_value, &line);
		if (key->repeated && value && dump->to->len == before)
			buffer_printf(dump->to, "%s =\n", key->key); /* given, and emptied */
		if (!key->repeated && value)
			dump_value(value, &line);
	}
	return 0;
}

static bool is_first_key(const struct config_key *keys, const struct config_key *key)
{
	for (; keys != key; keys++)
		if (strcmp(keys->section, key->section) == 0)
			return false;
	return true;
}

static bool has_named_sections(const struct config *config, const char *section)
{
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].name && strcmp(config->values[i].section, section) == 0)
			return true;
	return false;
}

static bool has_plain_section(const struct config *config, const char *section)
{
	for (size_t i = 0; i < config->count; i++)
		if (is_of(&config->values[i], section, NULL))
			return true;
	return false;
}

void config_dump(const struct config *config, struct buffer *ret)
{
	for (const struct config_key *key = config->keys; key->section; key++) {
		if (!key->key || !is_first_key(config->keys, key))
			continue;
		struct dump dump = { config, key, NULL, ret };
		if (has_plain_section(config, key->section) || !has_named_sections(config, key->section))
			dump_section(NULL, &dump);
		config_each_section(config, key->section, dump_section, &dump);
	}
}

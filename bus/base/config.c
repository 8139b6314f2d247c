/*
 * config.c: reads single values from a configuration, and compares two configurations after a reload
 *
 * Owns:      the values, in the order of the files; the last one wins, and an empty one empties a repeated
 *            key.
 * Fails by:  -EINVAL with file, line and what was expected; the errno of a file that cannot be read.
 * Read next: config_read.c (reads the files)
 */
#include "bus/base/config.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/config_values.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct config *, config_free)

int config_each_key(
	const struct config_key *keys, int (*each)(const struct config_key *key, void *context), void *context)
{
	for (; keys->section; keys++) {
		int r = keys->table ? config_each_key(keys->table, each, context) : each(keys, context);

		if (r)
			return r;
	}
	return 0;
}

struct gathering {
	struct config_key *keys; /* NULL: they are only counted */
	size_t count;
};

static int gather(const struct config_key *key, void *context)
{
	struct gathering *all = context;

	assert(!key->key || key->kind.form != CONFIG_FORM_NONE); /* the row of a key names the kind of its value */
	if (all->keys && key->key)
		assert(!config_find_key(all->keys, key->section, key->key)); /* and each key has one row */
	if (all->keys)
		all->keys[all->count] = *key;
	all->count++;
	return 0;
}

struct config *config_new(const struct config_key *keys, const char *file)
{
	struct config *config = memory_new(sizeof(*config));
	struct gathering all = { 0 };

	config->file = memory_copy_text(file);
	config_each_key(keys, gather, &all);
	config->asked = memory_new((all.count + 1) * sizeof(*config->asked));
	all.keys = config->keys = memory_new((all.count + 1) * sizeof(*config->keys));
	all.count = 0;
	config_each_key(keys, gather, &all);
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
	free(config->file);
	free(config->values);
	free(config->keys);
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

int config_read_drop_ins(struct config *config, const char *path, struct config_error *ret_error)
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
		if (r < 0 && config_note_fault(config, file, 0, ret_error->text))
			r = 0;
		free(found[i]);
	}
	free(found);
	return r;
}

bool config_is_for_others(const struct config *config, const struct config_key *key)
{
	const char *at = key->readers;
	size_t len, own = config->reader ? strlen(config->reader) : 0;

	if (!config->reader || !at || strcmp(at, "every") == 0)
		return false;
	for (; (len = strcspn(at, " ")) > 0; at += len, at += strspn(at, " "))
		if (len == own && memcmp(at, config->reader, len) == 0)
			return false;
	return true;
}

int config_load(const char *path, const struct config_key *keys, struct config **ret, struct config_error *ret_error)
{
	return config_load_for(path, keys, NULL, ret, ret_error);
}

int config_load_for(const char *path, const struct config_key *keys, const char *reader, struct config **ret,
	struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = config_new(keys, path);

	config->reader = reader;
	int r = config_read_file(config, path, ret_error);
	if (r == 0)
		r = config_read_drop_ins(config, path, ret_error);
	if (r == 0)
		r = config_check_needs(config, ret_error);
	if (r < 0)
		return r;
	*ret_error = config->passed_over;
	*ret = TAKE(config);
	return 0;
}

int config_parse(const char *text, const char *name, const struct config_key *keys, struct config **ret,
	struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = config_new(keys, name);
	int r = config_read_text(config, text, name, ret_error);
	if (r == 0)
		r = config_check_needs(config, ret_error);
	if (r == 0)
		*ret = TAKE(config);
	return r;
}

static bool is_of(const struct config_value *value, const char *section, const char *name)
{
	bool same_name = name && value->name ? strcmp(name, value->name) == 0 : name == value->name;
	return same_name && strcmp(value->section, section) == 0;
}

const struct config_value *config_last(
	const struct config *config, const char *section, const char *name, const char *key)
{
	for (size_t i = config->count; i-- > 0;)
		if (is_of(&config->values[i], section, name) && strcmp(config->values[i].key, key) == 0)
			return &config->values[i];
	return NULL;
}

/* To ask for a key that the table does not have is a bug of the caller. */
static const struct config_key *ask(const struct config *config, const char *section, const char *key)
{
	const struct config_key *known = config_find_key(config->keys, section, key);

	assert(known);
	config->asked[known - config->keys] = true;
	return known;
}

const char *config_get(const struct config *config, const char *section, const char *name, const char *key)
{
	const struct config_key *known = ask(config, section, key);
	const struct config_value *value = config_last(config, section, name, key);

	return value ? value->value : known->fallback;
}

/* false: there is no value. An invalid fallback is a bug of the table. */
static bool find_meaning(const struct config *config, const char *section, const char *name,
	const struct config_key *known, struct config_meaning *ret)
{
	const struct config_value *value = config_last(config, section, name, known->key);
	const char *text = value ? value->value : known->fallback;
	bool right;

	*ret = (struct config_meaning){ 0 };
	if (!text || !*text)
		return false;
	if (value) {
		*ret = value->meaning;
		return true;
	}
	right = config_kind_read(&known->kind, text, ret);
	assert(right);
	return right;
}

int64_t config_number(const struct config *config, const char *section, const char *name, const char *key)
{
	const struct config_key *known = ask(config, section, key);
	struct config_meaning meaning;

	assert(config_kind_is_number(&known->kind));
	find_meaning(config, section, name, known, &meaning);
	return meaning.number;
}

double config_real(const struct config *config, const char *section, const char *name, const char *key)
{
	const struct config_key *known = ask(config, section, key);
	struct config_meaning meaning;

	assert(known->kind.form == CONFIG_FORM_REAL);
	find_meaning(config, section, name, known, &meaning);
	return meaning.real;
}

bool config_yes(const struct config *config, const char *section, const char *name, const char *key)
{
	const struct config_key *known = ask(config, section, key);
	struct config_meaning meaning;

	assert(known->kind.form == CONFIG_FORM_YES);
	find_meaning(config, section, name, known, &meaning);
	return meaning.number != 0;
}

int config_word(const struct config *config, const char *section, const char *name, const char *key)
{
	const struct config_key *known = ask(config, section, key);
	struct config_meaning meaning;

	assert(known->kind.form == CONFIG_FORM_WORD);
	return find_meaning(config, section, name, known, &meaning) ? (int)meaning.number : -1;
}

int config_refuse(const struct config *config, const char *section, const char *name, const char *key,
	struct config_error *ret_error, const char *format, ...)
{
	const struct config_value *value = config_last(config, section, name, key);
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!value)
		return config_fail(
			ret_error, -EINVAL, "[%s%s%s] %s: %s", section, name ? " " : "", name ? name : "", key, what);
	return config_fail(ret_error, -EINVAL, "%s:%u: [%s%s%s] %s: %s", value->file, value->line, section,
		name ? " " : "", name ? name : "", key, what);
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

	const struct config_key *known = ask(config, section, key);
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
	const char *blank = *value == ';' ? "" : " "; /* after a blank the ; would begin a comment */
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
			buffer_printf(dump->to, "%s =\n", key->key); /* the file gave the key, and emptied it */
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

struct telling {
	const struct config *config;
	const struct config_key *key;
	struct buffer *to;
};

static int tell_value(const char *value, void *context)
{
	struct telling *telling = context;

	buffer_printf(telling->to, "%s\n", value);
	return 0;
}

static int tell_section(const char *name, void *context)
{
	struct telling *telling = context;
	const struct config_key *key = telling->key;
	const char *value = config_get(telling->config, key->section, name, key->key);

	buffer_printf(telling->to, "[%s]\n", name ? name : "");
	if (key->repeated)
		config_each_value(telling->config, key->section, name, key->key, tell_value, telling);
	else
		buffer_printf(telling->to, "%s\n", value ? value : "(none)");
	return 0;
}

static void tell_key(const struct config *config, const struct config_key *key, struct buffer *to)
{
	struct telling telling = { .config = config, .key = key, .to = to };

	buffer_clear(to);
	tell_section(NULL, &telling);
	config_each_section(config, key->section, tell_section, &telling);
}

bool config_differs(const struct config *before, const struct config *after, char *ret_which, size_t room)
{
	_cleanup_(buffer_free) struct buffer was = { 0 }, is = { 0 };
	size_t used = 0;

	*ret_which = '\0';
	for (size_t i = 0; before->keys[i].section; i++) {
		const struct config_key *key = &before->keys[i];

		if (!key->key || !before->asked[i])
			continue;
		tell_key(before, key, &was);
		tell_key(after, key, &is);
		if (strcmp(buffer_text(&was), buffer_text(&is)) != 0 && used < room)
			used += (size_t)snprintf(
				ret_which + used, room - used, "%s[%s] %s", used ? ", " : "", key->section, key->key);
	}
	return used > 0;
}

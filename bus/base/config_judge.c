/*
 * config_judge.c: finds all faults of a configuration, not only the first; checks the keys that one value
 * needs beside it
 *
 * Owns:      the faults found so far, each with its place.
 * Promises:  the text of each fault is the error that reading would end with; faults are reported in the
 *            order of files and lines.
 * Fails by:  the errno of the first file, when it cannot be read.
 * Read next: config_read.c, which notes a fault and goes on where it would otherwise end
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/config_values.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fault {
	size_t file; /* the number of its file among those read; behind them all: the fault has no line */
	unsigned line;
	size_t number; /* of two faults with one place the first found comes first */
	char *text;
};

struct config_faults {
	char **files;
	size_t file_count;
	struct fault *each;
	size_t count;
};

static size_t place_of(struct config_faults *faults, const char *file)
{
	size_t at = 0;

	if (!file)
		return SIZE_MAX;
	while (at < faults->file_count && strcmp(faults->files[at], file) != 0)
		at++;
	if (at == faults->file_count) {
		faults->files = memory_resize(faults->files, (at + 1) * sizeof(*faults->files));
		faults->files[faults->file_count++] = memory_copy_text(file);
	}
	return at;
}

bool config_note_fault(struct config *config, const char *file, unsigned line, const char *text)
{
	struct config_faults *faults = config->faults;

	if (!faults)
		return false;
	size_t place = place_of(faults, file);
	faults->each = memory_resize(faults->each, (faults->count + 1) * sizeof(*faults->each));
	faults->each[faults->count] =
		(struct fault){ .file = place, .line = line, .number = faults->count, .text = memory_copy_text(text) };
	faults->count++;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct fault *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static void tell_all(struct config_faults *faults, config_tell_fn *tell, void *context)
{
	if (faults->count)
		qsort(faults->each, faults->count, sizeof(*faults->each), by_place);
	for (size_t i = 0; i < faults->count; i++)
		tell(faults->each[i].text, context);
}

static void faults_clear(struct config_faults *faults)
{
	for (size_t i = 0; i < faults->count; i++)
		free(faults->each[i].text);
	for (size_t i = 0; i < faults->file_count; i++)
		free(faults->files[i]);
	free(faults->each);
	free(faults->files);
}

/* Called after reading: checks the needs, if they can be checked, and reports the faults. Frees `config`. */
static int end(struct config *config, int r, config_tell_fn *tell, void *context, struct config_error *error)
{
	struct config_faults *faults = config->faults;

	if (r == 0) {
		config_check_needs(config, error);
		tell_all(faults, tell, context);
		r = (int)faults->count;
	}
	faults_clear(faults);
	config_free(config);
	return r;
}

int config_judge_file(const char *path, const struct config_key *keys, config_tell_fn *tell, void *context,
	struct config_error *ret_error)
{
	struct config *config = config_new(keys, path);
	struct config_faults faults = { 0 };

	config->faults = &faults;
	int r = config_read_file(config, path, ret_error);
	if (r == 0 && config_read_drop_ins(config, path, ret_error) < 0)
		config_note_fault(config, NULL, 0, ret_error->text);
	return end(config, r, tell, context, ret_error);
}

int config_judge_text(
	const char *text, const char *name, const struct config_key *keys, config_tell_fn *tell, void *context)
{
	struct config *config = config_new(keys, name);
	struct config_faults faults = { 0 };
	struct config_error error = { "" };

	config->faults = &faults;
	int r = config_read_text(config, text, name, &error);
	return end(config, r, tell, context, &error);
}

/*
 * Checks required keys, and the keys that a value needs beside it
 *
 * Promises:  this happens after all files are read: a drop-in may give a key that the file before it lacks.
 */

struct needing {
	struct config *config;
	const struct config_key *key;
	const char *name;                 /* of its section; NULL: the section has no name */
	const struct config_value *value; /* NULL: the fallback */
	struct config_error *error;
};

static bool is_given(const struct needing *of, const char *key)
{
	const struct config_value *value = config_last(of->config, of->key->section, of->name, key);
	const struct config_key *known = config_find_key(of->config->keys, of->key->section, key);

	return value ? value->is_wrong || *value->value != '\0' : known && known->fallback && *known->fallback;
}

static bool differs_from_fallback(const struct needing *of)
{
	struct config_meaning usual = { 0 };
	const struct config_meaning *is = &of->value->meaning;

	config_kind_read(&of->key->kind, of->key->fallback, &usual);
	if (of->key->kind.form == CONFIG_FORM_REAL)
		return is->real < usual.real || is->real > usual.real;
	return strcmp(of->value->value, of->key->fallback) != 0;
}

/* Does the word before the colon match the key's value? */
static bool speaks_of(const struct needing *of, const char *when, size_t len)
{
	const char *value = of->value ? of->value->value : of->key->fallback;

	if (!value || !*value || (of->value && of->value->is_wrong))
		return false;
	if (len == 5 && memcmp(when, "given", len) == 0)
		return true;
	if (len == 5 && memcmp(when, "other", len) == 0)
		return of->value && differs_from_fallback(of);
	return strlen(value) == len && memcmp(when, value, len) == 0;
}

/* 0: the fault is noted, and the check goes on. */
static int refuse(const struct needing *of)
{
	const struct config_value *value = of->value;

	return config_note_fault(of->config, value ? value->file : NULL, value ? value->line : 0, of->error->text)
		? 0
		: -EINVAL;
}

static int tell_missing(const struct needing *of, const char *needed)
{
	const struct config_key *key = of->key;
	const char *blank = of->name ? " " : "", *name = of->name ? of->name : "";

	if (!of->value)
		config_fail(of->error, -EINVAL, "[%s%s%s] %s = %s needs %s, which is not given", key->section, blank,
			name, key->key, key->fallback, needed);
	else
		config_fail(of->error, -EINVAL, "%s:%u: [%s%s%s] %s = %s needs %s, which is not given", of->value->file,
			of->value->line, key->section, blank, name, key->key, of->value->value, needed);
	return refuse(of);
}

/* Checks a row like "ses: ses-region; openai: url model". */
static int check_needs(const struct needing *of)
{
	char needed[64];
	size_t len;

	for (const char *at = of->key->needs; at && *at; at += *at == ';', at += strspn(at, " ")) {
		size_t when_len = strcspn(at, ":");
		bool counts = speaks_of(of, at, when_len);

		at += when_len + 1;
		for (at += strspn(at, " "); (len = strcspn(at, " ;")) > 0; at += strspn(at, " ")) {
			snprintf(needed, sizeof(needed), "%.*s", (int)len, at);
			if (counts && !is_given(of, needed) && tell_missing(of, needed) < 0)
				return -EINVAL;
			at += len;
		}
	}
	return 0;
}

static int tell_required(const struct needing *of)
{
	char expected[240];

	config_kind_expected(&of->key->kind, expected, sizeof(expected));
	config_fail(of->error, -EINVAL, "%s: [%s%s%s] %s is missing: expected %s", of->config->file, of->key->section,
		of->name ? " " : "", of->name ? of->name : "", of->key->key, expected);
	return refuse(of);
}

/* Refuses a missing key; if only other programs read it, it is noted instead. */
static int check_section(struct needing *of, const char *name)
{
	struct config *config = of->config;
	const struct config_key *key = of->key;
	bool is_required;
	int r;

	of->name = name;
	of->value = config_last(config, key->section, name, key->key);
	is_required = key->required && (name || !key->may_be_named);
	r = is_required && !of->value ? tell_required(of) : check_needs(of);
	if (r < 0 && !config_is_for_others(config, key))
		return r;
	if (r < 0 && !config->passed_over.text[0])
		config->passed_over = *of->error;
	return 0;
}

static int check_named_section(const char *name, void *of)
{
	return check_section(of, name);
}

int config_check_needs(struct config *config, struct config_error *ret_error)
{
	for (const struct config_key *key = config->keys; key->section; key++) {
		struct needing of = { .config = config, .key = key, .error = ret_error };
		int r;

		if (!key->key || (!key->needs && !key->required))
			continue;
		r = check_section(&of, NULL);
		if (r == 0 && key->may_be_named)
			r = config_each_section(config, key->section, check_named_section, &of);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * config_needs.c: what has to be given, and what a value needs beside it
 *
 * Promises:  judged when all is read: a drop-in may give what the file before it lacks.
 * Read next: config.h (struct config_key)
 */
#include "bus/base/cleanup.h"
#include "bus/base/config_values.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct needing {
	struct config *config;
	const struct config_key *key;
	const char *name;                 /* of its section; NULL: it has none */
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

/* Does what stands before the colon say the value that it has? */
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

/* 0: it is noted, and the judging goes on. */
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

/* "ses: ses-region; openai: url model" */
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

/* What it lacks is refused; what only other programs read is noted instead. */
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

/*
 * config_read.c: from INI text to checked values
 *
 * Owns:      libinih; no other file includes ini.h.
 * Promises:  no line is split, cut or joined silently: a line too long for the library is an error, an indented line is
 *            a line of its own. Every value remembers its file and line.
 * Fails by:  -EINVAL with the first wrong line, or the errno of the file.
 * Read next: config.c (the questions)
 */
#include "bus/base/cleanup.h"
#include "bus/base/config_values.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CONFIG_MAX_BYTES = 1024 * 1024,
	LINE_MAX_BYTES = 4096,
	WORD_MAX_BYTES = 49, /* libinih cuts the names of sections and keys there, silently */
	SUGGEST_MAX_CHANGES = 3,
};

struct reading {
	struct config *config;
	const char *file;
	const char *rest; /* of the text */
	unsigned line;
	struct config_error *error;
	unsigned error_line; /* 0: none yet */
};

int config_fail(struct config_error *ret_error, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(ret_error->text, sizeof(ret_error->text), format, args);
	va_end(args);
	return error;
}

const struct config_key *config_find_key(const struct config_key *keys, const char *section, const char *key)
{
	for (; keys->section; keys++)
		if (keys->key && strcmp(keys->section, section) == 0 && strcmp(keys->key, key) == 0)
			return keys;
	return NULL;
}

static bool knows_section(const struct config_key *keys, const char *section)
{
	for (; keys->section; keys++)
		if (strcmp(keys->section, section) == 0)
			return true;
	return false;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Levenshtein: how many letters to insert, drop or change between two words. */
static unsigned distance(const char *from, const char *to)
{
	unsigned row[WORD_MAX_BYTES + 2];
	size_t width = strnlen(to, WORD_MAX_BYTES);
	for (unsigned i = 0; i <= width; i++)
		row[i] = i;
	for (unsigned y = 1; *from; from++, y++) {
		unsigned diagonal = row[0];
		row[0] = y;
		for (unsigned x = 1; x <= width; x++) {
			unsigned changed = diagonal + (*from != to[x - 1]);
			diagonal = row[x];
			row[x] = least(changed, least(row[x], row[x - 1]) + 1);
		}
	}
	return row[width];
}

/* The known key (or section, if `section` is NULL) that is nearest to `word`, or NULL. */
static const char *suggest(const struct config_key *keys, const char *section, const char *word)
{
	const char *nearest = NULL;
	unsigned best = least(SUGGEST_MAX_CHANGES, (unsigned)strlen(word) / 2) + 1;
	for (; keys->section; keys++) {
		const char *known = section ? keys->key : keys->section;
		if (!known || (section && strcmp(keys->section, section) != 0))
			continue;
		unsigned changes = distance(word, known);
		if (changes < best) {
			best = changes;
			nearest = known;
		}
	}
	return nearest;
}

static int wrong(struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct reading *reading, const char *format, ...)
{
	if (reading->error_line)
		return 0;
	reading->error_line = reading->line;
	char what[400];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	config_fail(reading->error, 0, "%s:%u: %s", reading->file, reading->line, what);
	return 0; /* libinih's "stop" */
}

static int wrong_key(struct reading *reading, const char *section, const char *key)
{
	const struct config_key *keys = reading->config->keys;
	const char *nearest = suggest(keys, section, key);
	if (nearest)
		return wrong(reading, "unknown key \"%s\" in [%s]; did you mean \"%s\"?", key, section, nearest);
	for (; keys->section; keys++)
		if (keys->key && strcmp(keys->key, key) == 0)
			return wrong(
				reading, "unknown key \"%s\" in [%s]; it belongs in [%s]", key, section, keys->section);
	return wrong(reading, "unknown key \"%s\" in [%s]", key, section);
}

static int wrong_section(struct reading *reading, const char *section)
{
	const char *nearest = suggest(reading->config->keys, NULL, section);
	if (!*section)
		return wrong(reading, "a key before the first [section]");
	if (nearest)
		return wrong(reading, "unknown section [%s]; did you mean [%s]?", section, nearest);
	return wrong(reading, "unknown section [%s]", section);
}

static bool same_name(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const struct config_value *given_in_this_file(
	const struct reading *reading, const char *section, const char *name, const char *key)
{
	for (size_t i = 0; i < reading->config->count; i++) {
		const struct config_value *value = &reading->config->values[i];
		if (strcmp(value->file, reading->file) == 0 && strcmp(value->section, section) == 0 &&
			same_name(value->name, name) && strcmp(value->key, key) == 0)
			return value;
	}
	return NULL;
}

static void keep(struct reading *reading, const char *section, const char *name, const char *key, const char *value)
{
	struct config *config = reading->config;
	if (config->count == config->room) {
		config->room = config->room ? config->room * 2 : 32;
		config->values = memory_resize(config->values, config->room * sizeof(*config->values));
	}
	config->values[config->count++] = (struct config_value){
		.section = memory_copy_text(section),
		.name = name ? memory_copy_text(name) : NULL,
		.key = memory_copy_text(key),
		.value = memory_copy_text(value),
		.file = memory_copy_text(reading->file),
		.line = reading->line,
	};
}

/* libinih's handler: 1 goes on, 0 is an error. */
static int take_value(void *context, const char *heading, const char *key, const char *value)
{
	struct reading *reading = context;
	const struct config_key *keys = reading->config->keys;
	char section[WORD_MAX_BYTES + 1];
	TEXT_COPY(section, heading);
	char *name = strpbrk(section, " \t");
	if (name) {
		*name++ = '\0';
		name += strspn(name, " \t");
	}

	if (!knows_section(keys, section))
		return knows_section(keys, "*") && *section ? 1 : wrong_section(reading, section);
	const struct config_key *known = config_find_key(keys, section, key);
	if (!known)
		return wrong_key(reading, section, key);
	const struct config_value *before = given_in_this_file(reading, section, name, key);
	if (before && !known->repeated && strcmp(before->value, value) == 0)
		return 1; /* topology.conf: every service that meets a topic declares it, each time the same */
	if (before && !known->repeated)
		return wrong(reading, "\"%s\" is given twice in [%s], and line %u says otherwise", key, heading,
			before->line);
	keep(reading, section, name, key, value);
	return 1;
}

/* What libinih would cut or misread without a word. */
static void check_line(struct reading *reading, const char *line, size_t len)
{
	size_t name_len = strcspn(line, "=:");
	if (*line == '[' && strcspn(line, "]") > WORD_MAX_BYTES)
		wrong(reading, "the name of the section is longer than %d letters", WORD_MAX_BYTES - 1);
	if (*line != '[' && *line != '#' && *line != ';' && name_len < len && name_len > WORD_MAX_BYTES)
		wrong(reading, "the name of the key is longer than %d letters", WORD_MAX_BYTES);
	if (!text_is_utf8(BYTES(line, len)))
		wrong(reading, "not UTF-8");
	if (text_has_control(line))
		wrong(reading, "a control character");
}

/* libinih's reader, as fgets: one line of the text, without its indentation. */
static char *next_line(char *to, int room, void *context)
{
	struct reading *reading = context;
	if (!*reading->rest || reading->error_line)
		return NULL;

	reading->line++;
	reading->rest += strspn(reading->rest, " \t");
	size_t len = strcspn(reading->rest, "\n");
	const char *line = reading->rest;
	reading->rest += len + (line[len] == '\n');
	if (len && line[len - 1] == '\r')
		len--;
	if (len + 2 > (size_t)room) {
		wrong(reading, "the line is longer than %d bytes", room - 2);
		return NULL;
	}
	memcpy(to, line, len);
	to[len] = '\0';
	check_line(reading, to, len);
	return reading->error_line ? NULL : to;
}

/* libinih skips a byte order mark, behind the back of check_line. */
static const char *behind_byte_order_marks(const char *text)
{
	static const char mark[] = "\xEF\xBB\xBF";
	while (text_starts(text, mark))
		text += sizeof(mark) - 1;
	return text;
}

int config_read_text(struct config *config, const char *text, const char *name, struct config_error *ret_error)
{
	ini_max_line = LINE_MAX_BYTES; /* Debian's library has 200 otherwise */
	ini_allow_multiline = false;
	ini_stop_on_first_error = true;
	struct reading reading = {
		.config = config, .file = name, .rest = behind_byte_order_marks(text), .error = ret_error
	};
	int line = ini_parse_stream(next_line, &reading, take_value, &reading);
	if (line == 0 && !reading.error_line)
		return 0;
	if (line > 0 && (!reading.error_line || (unsigned)line < reading.error_line))
		config_fail(ret_error, 0, "%s:%d: expected [section] or key = value", name, line);
	else if (!reading.error_line)
		config_fail(ret_error, 0, "%s: not readable", name);
	return -EINVAL;
}

int config_read_file(struct config *config, const char *path, struct config_error *ret_error)
{
	_cleanup_(buffer_free) struct buffer content = { 0 };
	int r = file_read(path, CONFIG_MAX_BYTES, &content);
	if (r < 0)
		return config_fail(ret_error, r, "%s: %s", path, strerror(-r));
	if (content.len && memchr(content.data, '\0', content.len))
		return config_fail(ret_error, -EINVAL, "%s: not a text file", path);
	return config_read_text(config, buffer_text(&content), path, ret_error);
}

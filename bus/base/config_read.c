/*
 * config_read.c: from INI text to checked values
 *
 * Owns:      libinih; no other file includes ini.h.
 * Promises:  no line is split, cut or joined silently: a line too long for the library is an error, an
 *            indented line is a line of its own. Every value remembers its file and line.
 * Fails by:  -EINVAL with the first wrong line, or the errno of the file.
 * Read next: config.c (asks for the values)
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
	WORD_MAX_BYTES = 49,  /* libinih silently cuts the names of sections and keys there */
	SHOWN_MAX_BYTES = 80, /* how much of a wrong value an error shows */
};

struct reading {
	struct config *config;
	const char *file;
	const char *rest; /* the rest of the text */
	unsigned line;
	struct config_error *error;
	unsigned error_line; /* 0: none yet */
	/* Used only while all faults are gathered: */
	bool is_lost;                  /* the section's heading is invalid: the lines below it belong to no section */
	char told[WORD_MAX_BYTES + 1]; /* an unknown section that is reported already */
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

/* Does the table hold CONFIG_OTHERS? */
static bool config_knows_others(const struct config_key *keys)
{
	for (; keys->section; keys++)
		if (strcmp(keys->section, "*") == 0)
			return true;
	return false;
}

static bool knows_section(const struct config_key *keys, const char *section)
{
	for (; keys->section; keys++)
		if (strcmp(keys->section, section) == 0)
			return true;
	return false;
}

/* The known key (or section, if `section` is NULL) that is nearest to `word`, or NULL. */
static const char *suggest(const struct config_key *keys, const char *section, const char *word)
{
	struct nearest nearest = nearest_begin(word);
	for (; keys->section; keys++) {
		const char *known = section ? keys->key : keys->section;
		if (known && (!section || strcmp(keys->section, section) == 0))
			nearest_try(&nearest, known);
	}
	return nearest.name;
}

static int wrong(struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct reading *reading, const char *format, ...)
{
	bool gathers = reading->config->faults != NULL;

	if (gathers ? reading->error_line == reading->line : reading->error_line > 0)
		return gathers;
	reading->error_line = reading->line;
	char what[400];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	config_fail(reading->error, 0, "%s:%u: %s", reading->file, reading->line, what);
	return config_note_fault(
		reading->config, reading->file, reading->line, reading->error->text); /* 0 tells libinih to stop */
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
	if (reading->config->faults && strcmp(reading->told, section) == 0)
		return 1;
	TEXT_COPY(reading->told, section);
	if (!*section)
		return wrong(reading, "a key before the first [section]");
	if (nearest)
		return wrong(reading, "unknown section [%s]; did you mean [%s]?", section, nearest);
	return wrong(reading, "unknown section [%s]", section);
}

static bool may_be_headed(const struct config_key *keys, const char *section, bool has_name)
{
	while (strcmp(keys->section, section) != 0)
		keys++;
	return keys->may_be_named || keys->named == has_name;
}

static int wrong_name(struct reading *reading, const char *section, const char *heading, bool has_name)
{
	if (reading->config->faults && strcmp(reading->told, heading) == 0)
		return 1;
	TEXT_COPY(reading->told, heading);
	if (!has_name)
		return wrong(reading, "[%s]: a name is missing: [%s NAME]", heading, section);
	return wrong(reading, "[%s]: the section [%s] takes no name", heading, section);
}

static bool same_name(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* May the key's value be empty, which then counts as not given? */
static bool config_takes_nothing(const struct config_key *key)
{
	return key->repeated || key->may_be_none || (!key->required && (!key->fallback || !*key->fallback));
}

/* Cuts between two characters: the message goes to logs and JSON. */
static int shown_bytes(const char *value)
{
	size_t len = strlen(value);

	if (len > SHOWN_MAX_BYTES)
		for (len = SHOWN_MAX_BYTES; (value[len] & 0xC0) == 0x80; len--)
			;
	return (int)len;
}

/*
 * Refuses a wrong value. A value that only other programs read is noted instead, and 1 returned: libinih's
 * "go on".
 */
static int wrong_value(struct reading *reading, const struct config_key *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int wrong_value(struct reading *reading, const struct config_key *key, const char *format, ...)
{
	struct config_error *passed_over = &reading->config->passed_over;
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!config_is_for_others(reading->config, key))
		return wrong(reading, "%s", what);
	if (!passed_over->text[0])
		config_fail(passed_over, 0, "%s:%u: %s", reading->file, reading->line, what);
	return 1;
}

static int tell_expected(struct reading *reading, const char *heading, const struct config_key *key, const char *value)
{
	char expected[240];

	config_kind_expected(&key->kind, expected, sizeof(expected));
	if (config_kind_has_login(&key->kind, value))
		return wrong_value(reading, key, "[%s] %s: expected %s, without a name and a password before the host",
			heading, key->key, expected);
	return wrong_value(reading, key, "[%s] %s: expected %s, found \"%.*s\"", heading, key->key, expected,
		shown_bytes(value), value);
}

static size_t count_given(const struct reading *reading, const char *section, const char *name, const char *key)
{
	size_t count = 0;

	for (size_t i = 0; i < reading->config->count; i++) {
		const struct config_value *value = &reading->config->values[i];

		if (strcmp(value->section, section) == 0 && same_name(value->name, name) &&
			strcmp(value->key, key) == 0)
			count = *value->value ? count + 1 : 0;
	}
	return count;
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

static void keep(struct reading *reading, const char *section, const char *name, const char *key, const char *value,
	struct config_meaning meaning)
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
		.meaning = meaning,
	};
}

static void keep_wrong(
	struct reading *reading, const char *section, const char *name, const char *key, const char *value)
{
	keep(reading, section, name, key, value, (struct config_meaning){ 0 });
	reading->config->values[reading->config->count - 1].is_wrong = true;
}

/*
 * Ends "topic order.state" behind the section's own name; returns the further name, NULL without one.
 * Trailing blanks are cut.
 */
static char *split_heading(char *heading)
{
	for (size_t len = strlen(heading); len && strchr(" \t", heading[len - 1]); len--)
		heading[len - 1] = '\0';
	char *name = strpbrk(heading, " \t");
	if (!name)
		return NULL;
	*name++ = '\0';
	return name + strspn(name, " \t");
}

/* libinih's handler: 1 goes on, 0 is an error. */
static int take_value(void *context, const char *heading, const char *key, const char *value)
{
	struct reading *reading = context;
	const struct config_key *keys = reading->config->keys;
	struct config_meaning meaning = { 0 };
	char section[WORD_MAX_BYTES + 1];
	TEXT_COPY(section, heading);
	char *name = split_heading(section);
	bool has_name = name && *name;

	if (!knows_section(keys, section))
		return config_knows_others(keys) && *section ? 1 : wrong_section(reading, section);
	if (!may_be_headed(keys, section, has_name))
		return wrong_name(reading, section, heading, has_name);
	const struct config_key *known = config_find_key(keys, section, key);
	if (!known)
		return wrong_key(reading, section, key);
	const struct config_value *before = given_in_this_file(reading, section, name, key);
	if (before && !known->repeated && strcmp(before->value, value) == 0)
		return 1; /* topology.conf: every service that uses a topic declares it, each time the same */
	if (before && !known->repeated)
		return wrong(reading, "\"%s\" is given twice in [%s], and line %u says otherwise", key, heading,
			before->line);
	if (!*value ? !config_takes_nothing(known) : !config_kind_read(&known->kind, value, &meaning)) {
		if (reading->config->faults)
			keep_wrong(reading, section, name, key, value);
		return tell_expected(reading, heading, known, value);
	}
	if (known->repeated && *value && count_given(reading, section, name, key) == known->repeated)
		return wrong_value(
			reading, known, "[%s] %s: expected at most %u of them", heading, key, known->repeated);
	keep(reading, section, name, key, value, meaning);
	return 1;
}

/* Refuses lines that libinih would cut or misread silently. */
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

/* Is there text besides comments? As for libinih, " ;" begins a comment. */
static bool says_something(const char *line)
{
	const char *wanted = *line == '[' ? "]" : "=:";
	bool behind_blank = false;

	if (!*line || *line == ';' || *line == '#')
		return true;
	for (; *line && !strchr(wanted, *line); line++) {
		if (behind_blank && *line == ';')
			return false;
		behind_blank = isspace((unsigned char)*line);
	}
	return *line != '\0';
}

/*
 * While all faults are gathered, a wrong line is noted and left out, and so are the lines below an invalid
 * heading.
 */
static void leave_out_faults(struct reading *reading, char *line)
{
	bool is_heading = *line == '[';

	if (is_heading)
		reading->is_lost = false;
	if (!reading->is_lost && !says_something(line))
		wrong(reading, "expected [section] or key = value");
	if (is_heading && reading->error_line == reading->line)
		reading->is_lost = true;
	if (reading->is_lost || reading->error_line == reading->line)
		*line = '\0';
}

/* libinih's reader, as fgets: one line of the text, without its indentation. */
static char *next_line(char *to, int room, void *context)
{
	struct reading *reading = context;
	bool gathers = reading->config->faults != NULL;
	if (!*reading->rest || (reading->error_line && !gathers))
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
		*to = '\0';
		return gathers ? to : NULL;
	}
	memcpy(to, line, len);
	to[len] = '\0';
	if (!gathers || !reading->is_lost || *to == '[')
		check_line(reading, to, len);
	if (gathers)
		leave_out_faults(reading, to);
	return reading->error_line && !gathers ? NULL : to;
}

/* Skips byte order marks: libinih would skip one that check_line has not seen. */
static const char *behind_byte_order_marks(const char *text)
{
	static const char mark[] = "\xEF\xBB\xBF";
	while (text_starts(text, mark))
		text += sizeof(mark) - 1;
	return text;
}

int config_read_text(struct config *config, const char *text, const char *name, struct config_error *ret_error)
{
	ini_max_line = LINE_MAX_BYTES; /* in Debian's library the limit is 200 otherwise */
	ini_allow_multiline = false;
	ini_stop_on_first_error = true;
	struct reading reading = {
		.config = config, .file = name, .rest = behind_byte_order_marks(text), .error = ret_error, .told = "["
	};
	int line = ini_parse_stream(next_line, &reading, take_value, &reading);
	if (config->faults || (line == 0 && !reading.error_line))
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

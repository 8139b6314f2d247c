/*
 * golden.h: what a test wrote, held against the file that somebody has read
 *
 * CARTBUS_GOLDEN=write writes the files anew and fails: read the difference, commit it, and run the test without it. Any other
 * value is a slip of typing, and fails too.
 */
#ifndef UNIT_GOLDEN_H
#define UNIT_GOLDEN_H

#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOLDEN_MAX = 1 << 20 };

static int goldens_written;

static inline void golden_write(const char *path, struct bytes text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail_msg("%s: cannot be written", path);
	assert_int_equal(fwrite(text.data, 1, text.len, file), text.len);
	assert_int_equal(fclose(file), 0);
	goldens_written++;
}

static inline int golden_first_difference(struct bytes a, struct bytes b)
{
	const char *left = a.data, *right = b.data;
	int line = 1;

	for (size_t i = 0; i < a.len && i < b.len && left[i] == right[i]; i++)
		line += left[i] == '\n';
	return line;
}

/* The nth line of `text`, from 1; borrowed. */
static inline struct bytes golden_line(struct bytes text, int nth)
{
	const char *at = text.data, *end = at + text.len, *newline;

	for (; at < end && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1)
		if (--nth == 0)
			return BYTES(at, newline - at);
	return BYTES(at, end - at);
}

/* `name` with its ending, in GOLDEN_FOLDER. */
static inline void golden_compare(const char *name, struct bytes text)
{
	const char *mode = getenv("CARTBUS_GOLDEN");
	struct buffer golden = { 0 };
	char path[512];

	snprintf(path, sizeof(path), GOLDEN_FOLDER "/%s", name);
	if (mode && strcmp(mode, "write") == 0) {
		golden_write(path, text);
		return;
	}
	if (mode)
		fail_msg("CARTBUS_GOLDEN is \"%s\": it takes only \"write\"", mode);
	if (file_read(path, GOLDEN_MAX, &golden) < 0)
		fail_msg("%s: cannot be read; CARTBUS_GOLDEN=write writes it", path);
	if (!bytes_equal(buffer_bytes(&golden), text)) {
		int nth = golden_first_difference(buffer_bytes(&golden), text);
		struct bytes line = golden_line(text, nth);

		buffer_free(&golden); /* fail_msg does not come back */
		fail_msg("%s: line %d is another one: \"%.*s\"; CARTBUS_GOLDEN=write writes what it is now, for git "
			 "diff",
			path, nth, (int)line.len, (const char *)line.data);
	}
	buffer_free(&golden);
}

/* At the end of a test: what was written has been held against nothing. */
static inline void golden_end(void)
{
	if (goldens_written > 0)
		fail_msg("%d goldens were written, none was compared: read the difference, and run it without "
			 "CARTBUS_GOLDEN",
			goldens_written);
}

#endif

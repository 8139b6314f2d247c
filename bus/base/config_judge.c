/*
 * config_judge.c: all that is wrong with a configuration, and not the first of it alone
 *
 * Owns:      the faults found so far, each with its place.
 * Promises:  the words of each are those that the reading would end with; they are told in the order of files and lines.
 * Fails by:  the errno of the first file, when it cannot be read.
 * Read next: config_read.c and config_needs.c, which note a fault and go on where they would end
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/config_values.h"
#include "bus/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct fault {
	size_t file; /* the place of its file among those read; behind them all: it has no line */
	unsigned line;
	size_t number; /* of two with one place the first that was found comes first */
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

/* `read` has read; what needs what can be judged. Ends `config`. */
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

/*
 * fuzz_backup.c: whatever backup.json and erasures.json beside a copy of the log hold, nothing outside of that copy is named
 *
 * The first byte chooses the file, the rest is what stands in it.
 */
#include "bus/base/file.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/people/erasures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/folder.h"
#include <unistd.h>

static void heard(const char *words, void *context)
{
	(void)context;
	MUST(*words);
}

static void try_note(const struct command *command, const char *folder)
{
	struct backup_sum sum;
	char path[PATH_ROOM];
	json_t *note = backup_note(command, folder);
	const char *name;

	if (!note)
		return;
	backup_log_path(folder, note, path);
	MUST(strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/');
	name = path + strlen(folder) + 1;
	MUST(*name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
	json_decref(note);
	MUST(backup_verify(command, folder, &sum, NULL) != EXIT_FINE); /* there is no file of a log */
}

static void try_erasures(const struct command *command, const char *path)
{
	json_t *list = erasures_read(command, path), *merged, *ids, *but;
	size_t before;

	if (!list)
		return;
	merged = json_array();
	erasures_merge(merged, list);
	before = json_array_size(merged);
	MUST(before <= json_array_size(list));
	erasures_merge(merged, list);
	MUST(json_array_size(merged) == before);
	ids = erasures_ids(list, false);
	but = erasures_but(list, ids);
	MUST(json_is_array(ids) && json_is_array(but));
	json_decref(but);
	json_decref(ids);
	json_decref(merged);
	json_decref(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[] = "/tmp/fuzz-backup-XXXXXX", path[64];
	const struct command command = { .name = "fuzz", .hear = heard };
	const char *const names[] = { "backup.json", "erasures.json" };

	if (size < 1)
		return 0;
	if (!*path)
		folder_make(folder);
	snprintf(path, sizeof(path), "%s/%s", folder, names[data[0] % 2]);
	FILE *file = fopen(path, "we");
	MUST(file);
	MUST(size == 1 || fwrite(data + 1, 1, size - 1, file) == size - 1);
	fclose(file);
	if (data[0] % 2)
		try_erasures(&command, path);
	else
		try_note(&command, folder);
	unlink(path);
	return 0;
}

/*
 * backup_shelf.c: the copies that are made by themselves, in [backup] folder
 *
 * Promises:  what was proved to be sound last stays until another one is, however many were made since: a log that is damaged is copied
 *            damaged. What is not named as such a copy is not ours.
 * Read next: backup_scheduled.c
 */
#include "services/cartbus/backup/backup_shelf.h"
#include "services/cartbus/backup/backup_folder.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

DEFINE_CLEANUP(DIR *, closedir)

static const char NAME_FORMAT[] = "%Y-%m-%dT%H%M%SZ";

void shelf_name(int64_t wall_us, char ret[SHELF_NAME])
{
	time_t at = (time_t)(wall_us / US_PER_S);
	struct tm parts;

	strftime(ret, SHELF_NAME, NAME_FORMAT, gmtime_r(&at, &parts));
}

static bool is_name(const char *name)
{
	struct tm parts = { 0 };
	char again[SHELF_NAME] = "";
	const char *end = strptime(name, NAME_FORMAT, &parts);

	return end && !*end && strftime(again, sizeof(again), NAME_FORMAT, &parts) && strcmp(again, name) == 0;
}

void shelf_path(const struct shelf *shelf, const char *name, char ret[PATH_ROOM + SHELF_NAME])
{
	snprintf(ret, PATH_ROOM + SHELF_NAME, "%s/%s", shelf->folder, name);
}

static int64_t number(const json_t *note, const char *name)
{
	return json_integer_value(json_object_get(note, name));
}

static void add(struct shelf *shelf, const char *name)
{
	char path[PATH_ROOM + SHELF_NAME];
	struct shelf_copy *copy;
	json_t *note;

	shelf_path(shelf, name, path);
	note = backup_note_if_any(path);
	shelf->copies = memory_resize(shelf->copies, (shelf->count + 1) * sizeof(*shelf->copies));
	copy = &shelf->copies[shelf->count++];
	*copy = (struct shelf_copy){
		.is_whole = note, .at_us = number(note, "at_us"), .proved_us = number(note, "proved_us")
	};
	TEXT_COPY(copy->name, name);
	json_decref(note);
}

static int by_name_backwards(const void *a, const void *b)
{
	return -strcmp(((const struct shelf_copy *)a)->name, ((const struct shelf_copy *)b)->name);
}

int shelf_read(const struct command *command, struct shelf *ret)
{
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;

	*ret = (struct shelf){ 0 };
	snprintf(ret->folder, sizeof(ret->folder), "%s", config_get(command->config, "backup", NULL, "folder"));
	listing = opendir(ret->folder);
	if (!listing)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(listing)))
		if (is_name(entry->d_name))
			add(ret, entry->d_name);
	if (ret->count)
		qsort(ret->copies, ret->count, sizeof(*ret->copies), by_name_backwards);
	return 0;
}

void shelf_free(struct shelf *shelf)
{
	free(shelf->copies);
	*shelf = (struct shelf){ 0 };
}

size_t shelf_keep(const struct command *command)
{
	return (size_t)config_number(command->config, "backup", NULL, "keep");
}

const struct shelf_copy *shelf_newest(const struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->copies[i].is_whole)
			return &shelf->copies[i];
	return NULL;
}

const struct shelf_copy *shelf_newest_proved(const struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->copies[i].is_whole && shelf->copies[i].proved_us)
			return &shelf->copies[i];
	return NULL;
}

void shelf_choose(struct shelf_copy *copies, size_t count, size_t keep)
{
	size_t whole = 0;
	bool has_proved = false;

	for (size_t i = 0; i < count; i++) {
		struct shelf_copy *copy = &copies[i];
		bool is_proof = copy->is_whole && copy->proved_us && !has_proved;

		copy->goes = !copy->is_whole || (whole >= keep && !is_proof);
		has_proved = has_proved || is_proof;
		whole += copy->is_whole;
	}
}

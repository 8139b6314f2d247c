/*
 * backup_shelf.h: the copies that are made by themselves, in [backup] folder
 *
 * Each is a folder named after the moment it was begun at, "2026-11-21T033000Z": by name is by time. Other files that lie there are left alone.
 */
#ifndef CARTBUS_BACKUP_BACKUP_SHELF_H
#define CARTBUS_BACKUP_BACKUP_SHELF_H

#include "services/cartbus/core/command.h"

enum { SHELF_NAME = 19 };

struct shelf_copy {
	char name[SHELF_NAME];
	bool is_whole;     /* it has its backup.json */
	int64_t at_us;     /* the moment of the log that it holds */
	int64_t proved_us; /* when its log was read as a whole and found sound; 0: never */
	bool goes;
};

struct shelf {
	char folder[PATH_ROOM];
	struct shelf_copy *copies; /* the newest first */
	size_t count;
};

/* 0, also without such a folder; else why it cannot be read */
int shelf_read(const struct command *command, struct shelf *ret);
void shelf_free(struct shelf *shelf);
/* How many are to stay; 0: none are made. */
size_t shelf_keep(const struct command *command);

void shelf_name(int64_t wall_us, char ret[SHELF_NAME]);
void shelf_path(const struct shelf *shelf, const char *name, char ret[PATH_ROOM + SHELF_NAME]);
const struct shelf_copy *shelf_newest(const struct shelf *shelf); /* of those that are whole; NULL: there is none */
const struct shelf_copy *shelf_newest_proved(const struct shelf *shelf);

/* Pure. Which go when the first of them was just made and checked: all but the `keep` newest whole ones, and the newest proved one. */
void shelf_choose(struct shelf_copy *copies, size_t count, size_t keep);

/* ---- what the timers of systemd ask for ---- */

int backup_scheduled(struct command *command); /* a copy into [backup] folder, and old ones go; an exit */
int backup_verify_newest(
	struct command *command); /* is the newest copy there sound, file by file and as a log? an exit */

#endif

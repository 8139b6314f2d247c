/*
 * backup_shelf.h: the scheduled copies in [backup] folder
 *
 * Each is a folder with the name of its beginning, "2026-11-21T033000Z", so the order by name is the order by
 * time. Other files there are left alone.
 */
#ifndef CARTBUS_BACKUP_BACKUP_SHELF_H
#define CARTBUS_BACKUP_BACKUP_SHELF_H

#include "services/cartbus/core/command.h"

enum { SHELF_NAME = 19 };

struct shelf_copy {
	char name[SHELF_NAME];
	bool is_whole;     /* it has its backup.json */
	int64_t at_us;     /* the time of the copied log */
	int64_t proved_us; /* when its log was read as a whole and found sound; 0: never */
	bool goes;
};

struct shelf {
	char folder[PATH_ROOM];
	struct shelf_copy *copies; /* the newest first */
	size_t count;
};

/* 0, also if there is no such folder; else a negative errno */
int shelf_read(const struct command *command, struct shelf *ret);
void shelf_free(struct shelf *shelf);
/* How many copies are kept; 0: none are made. */
size_t shelf_keep(const struct command *command);

void shelf_name(int64_t wall_us, char ret[SHELF_NAME]);
void shelf_path(const struct shelf *shelf, const char *name, char ret[PATH_ROOM + SHELF_NAME]);
/* the newest whole copy; NULL: there is none */
const struct shelf_copy *shelf_newest(const struct shelf *shelf);
const struct shelf_copy *shelf_newest_proved(const struct shelf *shelf);

/*
 * Chooses the copies to delete after the first of them was just made and checked: all except the `keep`
 * newest whole ones and the newest proved one. It is pure.
 */
void shelf_choose(struct shelf_copy *copies, size_t count, size_t keep);

/* ---- for the timers of systemd ---- */

/* makes a copy in [backup] folder and deletes old ones; returns an exit code */
int backup_scheduled(struct command *command);
/* checks the newest copy there, file by file and as a log; returns an exit code */
int backup_verify_newest(struct command *command);

#endif

/*
 * disk.h: what the two halves of the failing disk share, and the board on which the test and the process meet
 *
 * The board is a file that both map. disk.py reads and writes the same layout: keep them in step.
 */
#ifndef TESTS_CRASH_DISK_H
#define TESTS_CRASH_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum fault { FAULT_NONE, FAULT_KILL_BEFORE, FAULT_KILL_AFTER, FAULT_KILL_HALFWAY, FAULT_FAIL, FAULT_SHORT };

struct board {
	uint64_t points; /* persistence calls so far, over all lives of the process */
	uint64_t at; /* the fault strikes at the first point from this one on that is of `call` and `name`; 0: never */
	uint32_t fault;
	uint32_t error;  /* errno of FAULT_FAIL */
	uint32_t sticky; /* FAULT_FAIL: every later call of the same kind fails too */
	uint32_t hits;   /* how often it struck */
	uint64_t names;  /* which names-<n> folder of the shadow is the durable one; 0: none yet */
	char what[64];   /* the call that was struck, and its file */
	char call[16];   /* empty: any */
	char name[16];   /* a part of the file's name; empty: any */
};

enum { PAGE = 4096, PAGES_MAX = 16384 };
enum page { PAGE_CLEAN, PAGE_DIRTY, PAGE_LOST };

/* What is known of one open file below the watched folder. */
struct watched {
	bool is_folder;
	char name[256];
	int shadow;     /* its content as last synced; -1: not kept */
	int cached;     /* its content as it is, to read from: the process may only write */
	uint8_t *pages; /* enum page of each; mapped, outlives the process */
};

extern struct board *disk_board;
extern char disk_folder[512]; /* what is watched, no slash at its end */
extern char disk_shadow[512]; /* where the durable view is kept; empty: nowhere */
extern bool disk_is_deep;     /* the folders below are watched too */

void shadow_open(struct watched *file, int fd, bool is_new);
void shadow_close(struct watched *file);
void shadow_written(struct watched *file, off_t from, size_t len);
void shadow_cut(struct watched *file, off_t before, off_t after); /* ftruncate */
void shadow_synced(struct watched *file);
void shadow_lost(struct watched *file); /* a sync failed: what was dirty looks clean and is not on the disk */
void shadow_folder_made(int folder, const char *path);
void shadow_folder_synced(int fd, bool is_root);

#endif

/*
 * child.h: one process under `cartbus up`: started, listened to, restarted
 */
#ifndef CARTBUS_UP_CHILD_H
#define CARTBUS_UP_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_LINE_MAX = 4000 };

struct child {
	char program[32];                   /* "intake": the file cartbus-intake beside the command */
	char instance[40];                  /* "sender-2"; empty: the program's own default */
	pid_t pid;                          /* 0: not running */
	int output;                         /* what it writes, -1: none */
	bool ready;                         /* it said READY=1 */
	bool was_ready;                     /* in any of its runs */
	int deaths;                         /* in a row, without a good long run between them */
	int64_t started_us, start_again_us; /* boot time */
	char line[CHILD_LINE_MAX];
	size_t line_len;
};

struct child_place {
	const char *bin;    /* folder of the programs */
	const char *config; /* cartbus.conf */
	const char *notify; /* path of the socket where READY=1 is said */
};

const char *child_name(const struct child *child);
/* A negative errno: it does not run, and pid is 0 as before. */
int child_start(struct child *child, const struct child_place *place, int64_t now_us);
/*
 * Passes complete lines on to stderr, each with the child's name before it. A line that is too long is passed
 * on in parts.
 */
void child_read(struct child *child);
/* It is gone: says how and when it starts again; `stopping`: it was asked to go. */
void child_ended(struct child *child, int status, bool stopping, int64_t now_us);

#endif

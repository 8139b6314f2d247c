/*
 * reload.h: a configuration that changed while the process runs
 *
 * Whether it may be used is found out by a second process of the same program (--check), which dies of what this one would die of at
 * its start: each thing is judged in one place. What changed of what a service ever asked for it takes by beginning anew in its place:
 * same process id, same sockets of the supervisor, everything else as at a start.
 */
#ifndef BASE_RELOAD_H
#define BASE_RELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { RELOAD_WHY = 512 };

struct reload {
	pid_t child;      /* 0: nothing is judged */
	int output;       /* what it says */
	int64_t until_us; /* boot time: then it is ended */
};

/* Names the process as it was called: the kernel calls one that began anew "exe", and so would ps, pgrep and `cartbus config check`. */
void reload_keep_name(void);
/* Keeps the sockets that the supervisor handed over open, also when other code closes them. To be called first. */
void reload_keep_sockets(void);
/* argv: as this program takes it, with --check. -errno: it cannot be judged. */
int reload_begin(struct reload *reload, char *const argv[] /* ends with NULL */, int64_t now_us);
/* After SIGCHLD, or when until_us is over. false: it is at work yet. ret_why: "" when the configuration may be used. */
bool reload_judged(struct reload *reload, int64_t now_us, char ret_why[RELOAD_WHY]);
/* The same program in this process' place. Returns only when that failed: -errno. */
int reload_again(char *const argv[]);

#endif

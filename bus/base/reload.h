/*
 * reload.h: takes over a configuration that changed while the process runs
 *
 * A second process of the same program (--check) finds out whether the new configuration may be used: it dies
 * of every error that this process would die of at its start. So each error is checked in one place. If a key
 * changed that the service ever asked for, the process starts anew in its place: with the same process id and
 * the same sockets of the supervisor, and otherwise like a new start.
 */
#ifndef BASE_RELOAD_H
#define BASE_RELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { RELOAD_WHY = 512 };

struct reload {
	pid_t child;      /* 0: no check runs */
	int output;       /* the output of the check */
	int64_t until_us; /* boot time at which the check is killed */
};

/*
 * Names the process as it was called. The kernel calls a process that started anew "exe", and ps, pgrep and
 * `cartbus config check` would show that.
 */
void reload_keep_name(void);
/*
 * Keeps the sockets that the supervisor passed on open, even if other code closes them. It must be called
 * first.
 */
void reload_keep_sockets(void);
/*
 * Starts the check. `argv` has this program's arguments with --check, and ends with NULL. A negative errno:
 * the check cannot be started.
 */
int reload_begin(struct reload *reload, char *const argv[] /* ends with NULL */, int64_t now_us);
/*
 * To be called after SIGCHLD, or when until_us is over. false: the check still runs. ret_why is "" if the
 * configuration may be used.
 */
bool reload_judged(struct reload *reload, int64_t now_us, char ret_why[RELOAD_WHY]);
/* Starts the same program anew in this process's place. Returns only on failure, with a negative errno. */
int reload_again(char *const argv[]);

#endif

/*
 * process_inside.h: the memory of a service's process, shared by process.c and process_config.c (arguments,
 * and the configuration at the start and on a reload)
 */
#ifndef ACTOR_PROCESS_PROCESS_INSIDE_H
#define ACTOR_PROCESS_PROCESS_INSIDE_H

#include "bus/actor/process.h"
#include "bus/actor/runtime/claim_notes.h"
#include "bus/base/clock.h"
#include "bus/base/notify.h"
#include "bus/base/reload.h"

struct running {
	const struct process *process;
	const char *config_path, *instance;
	struct config *config;
	struct clock clock;
	struct link *link;
	struct runtime *runtime;
	struct effect_driver *const *drivers;
	struct claim_notes *notes; /* NULL: the service keeps none */
	struct loop *loop;
	int signals;
	struct notify_alive alive;
	bool ready_said;
	int64_t ready_at_latest_us; /* boot time */
	struct reload reload;
	char kept_why[RELOAD_WHY]; /* why the configuration on disk is not the running one; "": it is */
	bool again;                /* it stops so that a new run takes its place */
	enum runtime_phase phase;  /* as last reported */
	char why[256];
	int64_t drain_until_us; /* boot time; 0: not stopping */
};

/* ---- process.c ---- */

/* running effects are finished first, then the loop stops */
void process_begin_to_leave(struct running *running);
void process_show_status(const struct running *running);

/* ---- process_config.c ---- */

void process_read_config(struct running *running); /* or die()s */
int64_t process_turn_deadline_us(const struct running *running);
/*
 * For --check: die()s of every error of a start, except that folders and sockets may be in use by the running
 * process. Ends the process.
 */
void process_check_only(struct running *running);
void process_tell_config(const struct running *running, bool is_read); /* tells the broker */
void process_begin_to_reload(struct running *running);                 /* SIGHUP */
void process_end_judging(struct running *running);                     /* SIGCHLD */
/* returns after how many microseconds of boot time to call again; -1: never */
int64_t process_judge_late(struct running *running);

/* The exit codes and the options of a service's command line. */
enum { EXIT_ENVIRONMENT = 1, EXIT_USAGE = 2 };

struct process_options {
	const char *config_path, *instance;
	bool only_checks; /* --check: only check whether it could start with the configuration */
};

/* Exits when there is nothing to run. */
struct process_options process_options_parse(const struct process *process, int argc, char **argv);

#endif

/*
 * process_inside.h: a service's process, to its two halves: process.c, and process_config.c (its arguments, and its configuration at the
 * start and later)
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
	char kept_why[RELOAD_WHY]; /* the configuration on the disk is not what runs; "": it is */
	bool again;                /* it stops to begin anew in its place */
	enum runtime_phase phase;  /* as last told */
	char why[256];
	int64_t drain_until_us; /* boot time; 0: not stopping */
};

/* ---- process.c ---- */

void process_begin_to_leave(
	struct running *running); /* what went into the world comes to its end, then the loop does */
void process_show_status(const struct running *running);

/* ---- process_config.c ---- */

void process_read_config(struct running *running); /* or die()s */
int64_t process_turn_deadline_us(const struct running *running);
/* All that a start would die of but for what is taken by who runs already: folders, sockets. Ends the process. */
void process_check_only(struct running *running);
void process_tell_config(const struct running *running, bool is_read); /* to the broker */
void process_begin_to_reload(struct running *running);                 /* SIGHUP */
void process_end_judging(struct running *running);                     /* SIGCHLD */
int64_t process_judge_late(
	struct running *running); /* in how many boot microseconds it wants to be called again, -1: not */

/* What a service was asked for on its command line. */
enum { EXIT_ENVIRONMENT = 1, EXIT_USAGE = 2 };

struct process_options {
	const char *config_path, *instance;
	bool only_checks; /* is the configuration one that it could start with? */
};

/* Exits when there is nothing to run. */
struct process_options process_options_parse(const struct process *process, int argc, char **argv);

#endif

/*
 * process.h: the main() of a service
 *
 *     int main(int argc, char **argv)
 *     {
 *             return process_main(argc, argv, &(struct process){ .service = &intake });
 *     }
 *
 * Parses arguments (--config FILE, --instance NAME, --manifest, --help, --version), reads the configuration,
 * opens the state, connects, runs the loop until SIGTERM, and tells systemd READY=1 when it is ready, and
 * STATUS=... (sd_notify's protocol).
 */
#ifndef ACTOR_PROCESS_H
#define ACTOR_PROCESS_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/config.h"

struct loop;

struct process {
	const struct service *service;
	/*
	 * made by exporter_in(&it); decisions read it (service.h). drivers() or start() fills it in. Zero:
	 * none
	 */
	struct service_context context;
	const char *help; /* one paragraph */
	/*
	 * the keys that its configuration may have, including process_keys; NULL: process_keys, and sections
	 * of other processes
	 */
	const struct config_key *keys;
	/*
	 * Starts the other parts that run in the loop (the gateway's HTTP). It may die(). NULL: there are
	 * none.
	 */
	void (*start)(
		struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock);
	/*
	 * leave: SIGTERM came; the process accepts no new work from now on. left: is the work that was begun
	 * finished? NULL: there is no such work.
	 */
	void (*leave)(void);
	bool (*left)(void);
	void (*stop)(void);
	/*
	 * For --check, which a reload runs before anything changes. It changes nothing, and die()s of every
	 * error that drivers() and start() would die of. NULL: there is nothing to check.
	 */
	void (*check)(const struct config *config);
	/*
	 * Called before the runtime exists. The array ends with NULL, and the process owns it. NULL: this
	 * service has no effects.
	 */
	struct effect_driver *const *(*drivers)(const struct config *config, const struct clock *clock);
};

int process_main(int argc, char **argv, const struct process *process);

/*
 * The keys that every process has: those of the bus (bus/wire/bus_keys.c). A process with a table of its own
 * includes them in it.
 */
extern const struct config_key process_keys[];

/*
 * The loop waits for file descriptors and deadlines beside the runtime's own sockets. Callbacks run in the
 * one thread of the process.
 */
typedef void loop_fn(void *context);
int loop_watch(struct loop *loop, int fd, bool for_writing, loop_fn *call, void *context);
/* Called before every wait; returns the longest wait in microseconds of boot time; -1: no limit. */
typedef int64_t loop_before_fn(void *context);
void loop_before_wait(struct loop *loop, loop_before_fn *call, void *context);
void loop_stop(struct loop *loop);

#endif

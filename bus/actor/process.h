/*
 * process.h: what a service's main() is
 *
 *     int main(int argc, char **argv)
 *     {
 *             return process_main(argc, argv, &(struct process){ .service = &intake });
 *     }
 *
 * Parses arguments (--config FILE, --instance NAME, --manifest, --help, --version), reads the configuration, opens the state,
 * connects, runs the loop until SIGTERM, and says READY=1 and STATUS=... to systemd (sd_notify's protocol) when it is.
 */
#ifndef ACTOR_PROCESS_H
#define ACTOR_PROCESS_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/config.h"

struct loop;

struct process {
	const struct service *service;
	struct service_context
		context; /* exporter_in(&it): what its decisions know (service.h). drivers() or start() fill it. Zero: none */
	const char *help; /* one paragraph */
	const struct config_key *
		keys; /* what may be in its configuration, process_keys included; NULL: these, and sections of others */
	/* Starts what else lives in the loop (the gateway's HTTP). May die(). NULL: nothing. */
	void (*start)(
		struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock);
	/* SIGTERM came: takes on nothing new from now on; and is what was begun over? NULL: nothing of that kind. */
	void (*leave)(void);
	bool (*left)(void);
	void (*stop)(void);
	/* Of --check, which a reload asks before anything changes: changes nothing, and die()s of what drivers() and start() would die of. NULL: of nothing. */
	void (*check)(const struct config *config);
	/* Called before the runtime exists; NULL-terminated, owned by the process. NULL: this service has no effects. */
	struct effect_driver *const *(*drivers)(const struct config *config, const struct clock *clock);
};

int process_main(int argc, char **argv, const struct process *process);

/* The keys that every process has: all of the bus (bus/wire/bus_keys.c). A process with a table of its own has them in it. */
extern const struct config_key process_keys[];

/* The loop: file descriptors and deadlines beside the runtime's own sockets. Callbacks run in the one thread. */
typedef void loop_fn(void *context);
int loop_watch(struct loop *loop, int fd, bool for_writing, loop_fn *call, void *context);
/* Called before every wait; returns how long it may last in boot microseconds, -1: any. */
typedef int64_t loop_before_fn(void *context);
void loop_before_wait(struct loop *loop, loop_before_fn *call, void *context);
void loop_stop(struct loop *loop);

#endif

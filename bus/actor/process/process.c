/*
 * process.c: runs a service, from main() to its exit
 *
 * Owns:      the clock, the loop; the runtime and its drivers.
 * Promises:  an unusable environment is reported in one line with a remedy; after SIGTERM the process lets
 *            effects that went into the world end, says goodbye and exits with 0; READY=1 is sent when the
 *            process can decide on messages (a gateway: take them in), or when the broker has kept it waiting
 *            for a while: STATUS tells which. SIGHUP takes a configuration that is right, and no other.
 * Fails by:  exit 1 for an unusable environment or a broker that refuses for good, 2 for invalid arguments.
 * Read next: process_config.c, loop.c, runtime.c
 */
#include "bus/actor/process.h"
#include "bus/actor/process/loop.h"
#include "bus/actor/process/process_inside.h"
#include "bus/actor/process/watchdog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/notify.h"
#include "bus/base/text.h"
#include "bus/wire/zmq_link.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

static const int64_t DRAIN_US = 5 * US_PER_S;            /* how long effects that went into the world may take to end */
static const int64_t READY_AT_LATEST_US = 15 * US_PER_S; /* the starter does not wait for the broker for ever */

static struct activity activity; /* the watchdog reads it as long as the process lives */

/* --- state, link, runtime --- */

static void open_state(const struct running *running, struct store **ret)
{
	const char *state = config_get(running->config, "paths", NULL, "state");
	char path[PATH_MAX], why[512] = "";
	int r;

	snprintf(path, sizeof(path), "%s/%s", state, running->instance);
	r = file_make_private_folder(path);
	if (r < 0)
		die("the folder %s cannot be made: %s; make it writable for this user", path, strerror(-r));
	r = store_open(path, &runtime_store_options, ret, why);
	if (r == -EBUSY)
		die("the folder %s is in use by another process; give this one another --instance", path);
	if (r == -EUCLEAN)
		die("the state in %s is damaged (%s): " FOLDED_ANEW("it") ": they are folded again", path, why);
	if (r < 0)
		die("the state in %s cannot be opened: %s", path, why[0] ? why : strerror(-r));
}

/* The notes lie beside the state, whose lock protects them too. */
static void open_notes(struct running *running)
{
	char path[PATH_MAX];
	int r;

	if (!running->process->service->unused)
		return;
	snprintf(path, sizeof(path), "%s/%s/claims", config_get(running->config, "paths", NULL, "state"),
		running->instance);
	r = claim_notes_open(path, &running->notes);
	if (r < 0)
		die("%s cannot be made: %s; make the folder writable for this user, with room on its disk", path,
			strerror(-r));
}

static void work_notes(void *context)
{
	claim_notes_work(context);
}

static void log_for_runtime(enum log_level level, const struct log_about *about, const char *words)
{
	log_event_about(level, about, "%s", words);
}

static void open_runtime(struct running *running)
{
	struct runtime_settings settings = { .instance = running->instance,
		.memory_bytes = memory_resident_bytes,
		.activity = &activity,
		.tell = log_for_runtime,
		.context = running->process->context };
	struct store *store = NULL;
	struct broker_endpoint broker;
	char why[256];

	open_state(running, &store);
	open_notes(running);
	settings.notes = running->notes;
	if (broker_endpoint_read(running->config, running->process->service->name, &broker, why) < 0)
		die("%s: %s", running->config_path, why);
	if (zmq_link_new(&broker, &running->link) < 0)
		die("[paths] run (%s) is too long for a socket's name, or [connect] broker (%s) no address", broker.run,
			broker.host);
	curve_wipe(&broker.key);
	if (running->process->drivers)
		running->drivers = running->process->drivers(running->config, &running->clock);
	if (runtime_new(running->process->service, &settings, running->link, &store, &running->clock, running->drivers,
		    &running->runtime) < 0)
		die("the runtime does not start");
}

/* --- signals --- */

void process_begin_to_leave(struct running *running)
{
	running->drain_until_us = clock_boot_us(&running->clock) + DRAIN_US;
	runtime_drain(running->runtime);
	if (running->process->leave)
		running->process->leave();
}

static void begin_to_stop(struct running *running)
{
	running->again = false;
	if (running->drain_until_us > 0) {
		loop_stop(running->loop); /* the second signal, or one while the process begins anew */
		return;
	}
	log_event(LOG_INFO, "stopping");
	notify("STOPPING=1");
	process_begin_to_leave(running);
}

static void hear_signal(void *context)
{
	struct running *running = context;
	struct signalfd_siginfo signal;

	if (read(running->signals, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (signal.ssi_signo == SIGHUP)
		process_begin_to_reload(running);
	else if (signal.ssi_signo == SIGCHLD)
		process_end_judging(running);
	else
		begin_to_stop(running);
}

static void watch_signals(struct running *running)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL); /* before ZeroMQ's threads exist, so that none of them takes one */
	signal(SIGPIPE, SIG_IGN);
	running->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (running->signals < 0)
		die("no signalfd: %s", strerror(errno));
}

/* --- when the end does not come --- */

static void watch_turns(const struct running *running)
{
	int64_t turn_us = process_turn_deadline_us(running);

	activity_begin(&activity, TASK_LOOP, 0);
	if (watchdog_start(&activity, running->process->service->name, turn_us) < 0)
		die("no thread for the watchdog: is the limit of processes (ulimit -u) too low?");
}

/* --- reports to the admin and the supervisor --- */

static void say_ready(struct running *running)
{
	if (!running->ready_said)
		notify("READY=1");
	running->ready_said = true;
}

void process_show_status(const struct running *running)
{
	static const char *const words[] = { [RUNTIME_AWAY] = "away from the broker: ",
		[RUNTIME_STANDBY] = "standing by: ",
		[RUNTIME_CATCHING_UP] = "connected, folding what was missed",
		[RUNTIME_READY] = "ready",
		[RUNTIME_REFUSED] = "refused for good: " };
	bool has_reason = running->phase != RUNTIME_CATCHING_UP && running->phase != RUNTIME_READY;

	notify_status("%s%s%s%s", words[running->phase], has_reason ? running->why : "",
		running->kept_why[0] ? "; runs with an earlier configuration: " : "", running->kept_why);
}

static void tell_phase(struct running *running)
{
	process_show_status(running);
	switch (running->phase) {
	case RUNTIME_AWAY:
		log_event(LOG_WARNING, "away from the broker: %s", running->why);
		break;
	case RUNTIME_STANDBY:
		log_event(LOG_INFO, "standing by: %s", running->why);
		say_ready(running);
		break;
	case RUNTIME_CATCHING_UP:
		log_event(LOG_INFO, "connected, folding what was missed");
		break;
	case RUNTIME_READY:
		log_event(LOG_INFO, "ready at=%llu", (unsigned long long)state_cursor(runtime_state(running->runtime)));
		say_ready(running);
		break;
	case RUNTIME_REFUSED:
		log_event(LOG_CRITICAL, "refused for good: %s", running->why);
		break;
	}
}

static void notice_phase(struct running *running)
{
	enum runtime_phase phase = runtime_phase(running->runtime);
	const char *why = runtime_why(running->runtime);
	bool reason_counts = phase == RUNTIME_AWAY || phase == RUNTIME_REFUSED;

	if (phase == running->phase && (!reason_counts || strcmp(why, running->why) == 0))
		return;
	running->phase = phase;
	TEXT_COPY(running->why, why);
	tell_phase(running);
}

/* Sends the starter the READY=1 that it waits for, with a STATUS that says why this process is not connected. */
static int64_t ready_after_all(struct running *running)
{
	int64_t wait_us = running->ready_at_latest_us - clock_boot_us(&running->clock);

	if (running->ready_said || running->phase != RUNTIME_AWAY)
		return -1;
	if (wait_us > 0)
		return wait_us;
	TEXT_COPY(running->why, runtime_why(running->runtime));
	tell_phase(running);
	say_ready(running);
	return -1;
}

/* --- the life of a process --- */

static int64_t lesser(int64_t a_us, int64_t b_us)
{
	return a_us < 0 || (b_us >= 0 && b_us < a_us) ? b_us : a_us;
}

static bool drained(const struct running *running)
{
	return runtime_drained(running->runtime) && (!running->process->left || running->process->left());
}

static bool goes_on(const struct running *running)
{
	if (loop_stopped(running->loop) || running->phase == RUNTIME_REFUSED)
		return false;
	if (running->drain_until_us == 0)
		return true;
	return !drained(running) && clock_boot_us(&running->clock) < running->drain_until_us;
}

static void run(struct running *running)
{
	running->alive = notify_alive_asked();
	running->ready_at_latest_us = clock_boot_us(&running->clock) + READY_AT_LATEST_US;
	process_tell_config(running, true);
	if (running->process->service->gateway)
		say_ready(running);
	while (goes_on(running)) {
		int64_t wait_us = loop_prepare(running->loop); /* may say something, which the runtime then sends */

		wait_us = lesser(wait_us, runtime_work(running->runtime));
		wait_us = lesser(wait_us, notify_alive(&running->alive, clock_boot_us(&running->clock)));
		notice_phase(running);
		wait_us = lesser(wait_us, ready_after_all(running));
		wait_us = lesser(wait_us, process_judge_late(running));
		if (running->drain_until_us > 0)
			wait_us = lesser(wait_us, 50 * US_PER_MS);
		if (goes_on(running))
			loop_wait(running->loop, wait_us);
	}
}

static void end(struct running *running)
{
	if (running->phase != RUNTIME_REFUSED)
		runtime_goodbye(running->runtime);
	if (running->process->stop)
		running->process->stop();
	runtime_free(running->runtime);
	for (struct effect_driver *const *at = running->drivers; at && *at; at++)
		if ((*at)->close)
			(*at)->close((*at)->self);
	claim_notes_free(running->notes);
	loop_free(running->loop);
	config_free(running->config);
	close(running->signals);
}

static void open_all(struct running *running)
{
	const struct process *process = running->process;

	open_runtime(running);
	TEXT_COPY(running->why, runtime_why(running->runtime)); /* not being connected yet is no news */
	running->loop = loop_new(running->link, running->drivers, &activity);
	loop_watch(running->loop, running->signals, false, hear_signal, running);
	if (running->notes)
		loop_watch(running->loop, claim_notes_fd(running->notes), false, work_notes, running->notes);
	if (process->start)
		process->start(running->loop, running->runtime, running->config, &running->clock);
	watch_turns(running);
}

int process_main(int argc, char **argv, const struct process *process)
{
	_cleanup_free_ struct running *running = memory_new(sizeof(*running));
	struct process_options options;
	char why[256];
	int r;

	running->process = process;
	running->phase = RUNTIME_AWAY;
	umask(077);
	dumps_forbid();
	reload_keep_name();
	log_open(process->service->name, LOG_INFO);
	if (service_judge(process->service, why) < 0)
		die("this program's own table is wrong: %s", why);
	options = process_options_parse(process, argc, argv);
	running->config_path = options.config_path;
	running->instance = options.instance;
	log_open(running->instance, LOG_INFO);
	if (options.only_checks)
		process_check_only(running);
	watch_signals(running);
	process_read_config(running);
	reload_keep_sockets();
	open_all(running);
	run(running);
	end(running);
	if (running->again && running->phase != RUNTIME_REFUSED) {
		r = reload_again(argv);
		log_event(LOG_CRITICAL, "cannot begin anew: %s", strerror(-r));
		return EXIT_ENVIRONMENT;
	}
	if (running->phase != RUNTIME_REFUSED)
		return 0;
	notify_failed(running->why);
	return EXIT_ENVIRONMENT;
}

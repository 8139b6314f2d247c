/*
 * process.c: from main() to a service that runs
 *
 * Owns:      arguments, configuration, the clock, the loop; the runtime and its drivers.
 * Promises:  whatever is unusable is said in one line with a remedy; SIGTERM lets what went into the world come to its end, says
 *            goodbye and exits with 0; READY=1 is said when messages can be decided on (by a gateway: taken in).
 * Fails by:  exit 1 for an unusable environment or a broker that refuses for good, 2 for arguments that make no sense.
 * Read next: loop.c, runtime.c
 */
#include "bus/actor/process.h"
#include "bus/actor/loop.h"
#include "bus/actor/watchdog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/log_settings.h"
#include "bus/base/memory.h"
#include "bus/base/notify.h"
#include "bus/base/text.h"
#include "bus/wire/zmq_link.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

static const int64_t DRAIN_US = 5 * US_PER_S; /* how long what went into the world may take to end */
static const char CONFIG_DEFAULT[] = "/etc/cartbus/cartbus.conf";
enum { EXIT_ENVIRONMENT = 1, EXIT_USAGE = 2, KEYS_MOST = 128 };

const struct config_key process_keys[] = {
	{ "paths", "state", "/var/lib/cartbus", "where the log, folded state, spools and exports live", false },
	{ "paths", "run", "/run/cartbus", "where the sockets live", false },
	{ "paths", "shops", "/etc/cartbus/shops", "one folder per shop: shop.conf, rules.txt, voice.txt", false },
	{ "paths", "secrets", "/etc/cartbus/secrets", "keys and webhook secrets, files of mode 0600", false },
	{ "clock", "rate", "1", "how fast wall time runs; anything but 1 is for demos", false },
	{ "clock", "origin-real-us", NULL, "real time at which a scaled clock starts, microseconds since 1970", false },
	{ "clock", "origin-wall-us", NULL, "what a scaled clock shows at its origin, microseconds since 1970", false },
	LOG_CONFIG_KEYS,
	{ "turn", "deadline", "10s", "a decision that takes longer ends its process: 1s or more", false },
	REACH_CONFIG_KEYS,
	{ "*", "*", NULL, NULL, false },
	{ NULL, NULL, NULL, NULL, false },
};

static struct activity activity; /* the watchdog looks at it for as long as there is a process */
static const int64_t TURN_LEAST_US = 1 * US_PER_S;

struct running {
	const struct process *process;
	const char *config_path, *instance;
	struct config_key keys[KEYS_MOST];
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
	enum runtime_phase phase; /* as last told */
	char why[256];
	int64_t drain_until_us; /* boot time; 0: not stopping */
};

/* --- arguments --- */

static void print_help(const struct process *process)
{
	printf("cartbus-%s: %s\n\n"
	       "Usage: cartbus-%s [--config FILE] [--instance NAME]\n\n"
	       "  --config FILE     the configuration; %s if not given\n"
	       "  --instance NAME   a name that stays over restarts and is unique among those that run; \"%s\" if not "
	       "given\n"
	       "  --manifest        print what this service hears, remembers and says (its part of topology.conf)\n"
	       "  --version         print the version\n\n"
	       "`cartbus up` runs all services together; systemd runs each as cartbus-NAME.service.\n",
		process->service->name, process->help ? process->help : "a service of cartbus", process->service->name,
		CONFIG_DEFAULT, process->service->name);
}

static void print_manifest(const struct service *service)
{
	_cleanup_(buffer_free) struct buffer manifest = { 0 };

	service_manifest(service, &manifest);
	fputs(buffer_text(&manifest), stdout);
}

/* Exits when there is nothing to run. */
static void read_arguments(struct running *running, int argc, char **argv)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'c' },
		{ "instance", required_argument, NULL, 'i' }, { "manifest", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'v' }, { NULL, 0, NULL, 0 } };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			running->config_path = optarg;
			break;
		case 'i':
			running->instance = optarg;
			break;
		case 'm':
			print_manifest(running->process->service);
			exit(0);
		case 'h':
			print_help(running->process);
			exit(0);
		case 'v':
			printf("cartbus %s\n", CARTBUS_VERSION);
			exit(0);
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "cartbus-%s: \"%s\" is not understood; see --help\n", running->process->service->name,
			argv[optind]);
		exit(EXIT_USAGE);
	}
	if (!running->instance[0] || strchr(running->instance, '/') || strlen(running->instance) >= 64) {
		fprintf(stderr, "cartbus-%s: an instance's name has 1 to 63 characters and no slash\n",
			running->process->service->name);
		exit(EXIT_USAGE);
	}
}

/* --- configuration --- */

static bool has_key(const struct config_key *keys, int count, const struct config_key *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(keys[i].section, key->section) == 0 && strcmp(keys[i].key, key->key) == 0)
			return true;
	return false;
}

/* Everybody reads the same file: what this process does not know is another's. */
static void gather_keys(struct running *running)
{
	const struct config_key *tables[] = { running->process->keys, process_keys };
	int count = 0;

	for (int t = 0; t < 2; t++)
		for (const struct config_key *key = tables[t]; key && key->section; key++)
			if (count + 1 < KEYS_MOST && !has_key(running->keys, count, key))
				running->keys[count++] = *key;
}

static int64_t origin(const struct running *running, const char *key)
{
	struct config_error error;
	int64_t us = 0;

	if (!config_get(running->config, "clock", NULL, key))
		die("%s: a [clock] with a rate needs %s", running->config_path, key);
	if (config_get_int(running->config, "clock", NULL, key, 0, INT64_MAX, &us, &error) < 0)
		die("%s", error.text);
	return us;
}

static void set_clock(struct running *running)
{
	const char *text = config_get(running->config, "clock", NULL, "rate");
	char *end;
	double rate = strtod(text, &end);

	if (*end || end == text || !(rate > 0 && rate <= 1e6))
		die("%s: rate \"%s\" in [clock] is not a number above 0", running->config_path, text);
	if (rate >= 1 && rate <= 1) {
		running->clock = clock_system();
		return;
	}
	running->clock = clock_scaled(rate, origin(running, "origin-real-us"), origin(running, "origin-wall-us"));
}

static void read_config(struct running *running)
{
	struct config_error error = { .text = "" };
	int r;

	gather_keys(running);
	r = config_load(running->config_path, running->keys, &running->config, &error);
	if (r < 0)
		die("%s; give the right file with --config", error.text);
	log_configure(running->config, running->instance);
	set_clock(running);
}

/* --- state, link, runtime --- */

static void open_state(const struct running *running, struct store **ret)
{
	const char *state = config_get(running->config, "paths", NULL, "state");
	char path[PATH_MAX], why[512] = "";
	int r;

	snprintf(path, sizeof(path), "%s/%s", state, running->instance);
	r = file_make_folders(path, 0750);
	if (r < 0)
		die("the folder %s cannot be made: %s; make it writable for this user", path, strerror(-r));
	r = store_open(path, &runtime_store_options, ret, why);
	if (r == -EBUSY)
		die("the folder %s is in use by another process; give this one another --instance", path);
	if (r == -EUCLEAN)
		die("the state in %s is damaged (%s); delete it except a spool folder inside: it is folded again", path,
			why);
	if (r < 0)
		die("the state in %s cannot be opened: %s", path, why[0] ? why : strerror(-r));
}

/* Beside the state, whose lock holds them too. */
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

static void tell(enum log_level level, const struct log_about *about, const char *words)
{
	log_event_about(level, about, "%s", words);
}

static void open_runtime(struct running *running)
{
	struct runtime_settings settings = { .instance = running->instance,
		.memory_bytes = memory_resident_bytes,
		.activity = &activity,
		.tell = tell };
	struct store *store = NULL;
	struct reach reach;
	char why[256];

	open_state(running, &store);
	open_notes(running);
	settings.notes = running->notes;
	if (reach_read(running->config, running->process->service->name, &reach, why) < 0)
		die("%s: %s", running->config_path, why);
	if (zmq_link_new(&reach, &running->link) < 0)
		die("[paths] run (%s) is too long for a socket's name, or [connect] broker (%s) no address", reach.run,
			reach.host);
	curve_wipe(&reach.key);
	if (running->process->drivers)
		running->drivers = running->process->drivers(running->config, &running->clock);
	if (runtime_new(running->process->service, &settings, running->link, &store, &running->clock, running->drivers,
		    &running->runtime) < 0)
		die("the runtime does not start");
}

/* --- signals --- */

static void begin_to_stop(void *context)
{
	struct running *running = context;
	struct signalfd_siginfo signal;

	if (read(running->signals, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (running->drain_until_us > 0) {
		loop_stop(running->loop); /* asked twice */
		return;
	}
	log_event(LOG_INFO, "stopping");
	notify("STOPPING=1");
	running->drain_until_us = clock_boot_us(&running->clock) + DRAIN_US;
	runtime_drain(running->runtime);
	if (running->process->leave)
		running->process->leave();
}

static void watch_signals(struct running *running)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL); /* before ZeroMQ's threads exist, so that none of them takes one */
	signal(SIGPIPE, SIG_IGN);
	running->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (running->signals < 0)
		die("no signalfd: %s", strerror(errno));
}

/* --- what does not come to an end --- */

static void watch_turns(const struct running *running)
{
	struct config_error error;
	int64_t turn_us;

	if (config_get_span(running->config, "turn", NULL, "deadline", &turn_us, &error) < 0)
		die("%s", error.text);
	if (turn_us < TURN_LEAST_US)
		die("%s: deadline in [turn] is less than 1s", running->config_path);
	activity_begin(&activity, TASK_LOOP, 0);
	if (watchdog_start(&activity, running->process->service->name, turn_us) < 0)
		die("no thread for the watchdog: is the limit of processes (ulimit -u) too low?");
}

/* --- what the admin and the supervisor hear --- */

static void say_ready(struct running *running)
{
	if (!running->ready_said)
		notify("READY=1");
	running->ready_said = true;
}

static void tell_phase(struct running *running)
{
	switch (running->phase) {
	case RUNTIME_AWAY:
		log_event(LOG_WARNING, "away from the broker: %s", running->why);
		notify_status("away from the broker: %s", running->why);
		break;
	case RUNTIME_STANDBY:
		log_event(LOG_INFO, "standing by: %s", running->why);
		notify_status("standing by: %s", running->why);
		say_ready(running);
		break;
	case RUNTIME_CATCHING_UP:
		log_event(LOG_INFO, "connected, folding what was missed");
		notify_status("connected, folding what was missed");
		break;
	case RUNTIME_READY:
		log_event(LOG_INFO, "ready at=%llu", (unsigned long long)state_cursor(runtime_state(running->runtime)));
		notify_status("ready");
		say_ready(running);
		break;
	case RUNTIME_REFUSED:
		log_event(LOG_CRITICAL, "refused for good: %s", running->why);
		notify_status("refused for good: %s", running->why);
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
	if (running->process->service->gateway)
		say_ready(running);
	while (goes_on(running)) {
		int64_t wait_us = loop_prepare(running->loop); /* it may say something, which the runtime then sends */

		wait_us = lesser(wait_us, runtime_work(running->runtime));
		wait_us = lesser(wait_us, notify_alive(&running->alive, clock_boot_us(&running->clock)));
		notice_phase(running);
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

int process_main(int argc, char **argv, const struct process *process)
{
	_cleanup_free_ struct running *running = memory_new(sizeof(*running));

	running->process = process;
	running->config_path = CONFIG_DEFAULT;
	running->instance = process->service->name;
	running->phase = RUNTIME_AWAY;
	umask(027);
	log_open(process->service->name, LOG_INFO);
	read_arguments(running, argc, argv);
	log_open(running->instance, LOG_INFO);
	read_config(running);
	watch_signals(running);
	open_runtime(running);
	TEXT_COPY(running->why, runtime_why(running->runtime)); /* not being connected yet is nothing to tell */
	running->loop = loop_new(running->link, running->drivers, &activity);
	loop_watch(running->loop, running->signals, false, begin_to_stop, running);
	if (running->notes)
		loop_watch(running->loop, claim_notes_fd(running->notes), false, work_notes, running->notes);
	if (process->start)
		process->start(running->loop, running->runtime, running->config, &running->clock);
	watch_turns(running);
	run(running);
	end(running);
	return running->phase == RUNTIME_REFUSED ? EXIT_ENVIRONMENT : 0;
}

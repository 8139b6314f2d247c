/*
 * main.c: the broker's process: sockets and a store around the broker's core
 *
 * Owns:      the state folder <state>/broker (locked), the sockets below <run>, the loop.
 * Promises:  it hears messages, commits them with one sync, sends the answers that are due, and so on; it
 *            exits with 1 and a reason when a commit fails or the log cannot be trusted, with 0 after
 *            SIGTERM. It reports an abort (an assertion of RocksDB, or its own) too.
 * Read next: broker.c, committer.c, ../wire/hub.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/config.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/notify.h"
#include "bus/base/reload.h"
#include "bus/base/text.h"
#include "bus/broker/broker.h"
#include "bus/broker/committer.h"
#include "bus/broker/listener.h"
#include "bus/broker/log/log.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/options.h"
#include "bus/broker/verify/verify.h"
#include "bus/wire/bus_keys.h"
#include "bus/wire/sidelog_file.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * --- a cartbus.conf that changes while the broker runs ---
 *
 * Promises:  no change takes effect before a restart, as a restart ends every session; the broker reports
 *            each change that waits for one, and a file with which a restart would fail. listener.c reads the
 *            list of peers (peers.conf) anew without a restart.
 */

struct reconfigure {
	const char *path; /* borrowed, as all here */
	const struct config_key *keys;
	const struct config *running;
	struct reload judging;
	char state[RELOAD_WHY + 100]; /* the text that STATUS adds; "": the broker runs with the file as it is */
};

static void reconfigure_begin(struct reconfigure *of, int64_t now_us)
{
	int r;

	if (of->judging.child)
		return;
	r = reload_begin(&of->judging,
		(char *const[]){ "cartbus-broker", "--check", "--config", (char *)of->path, NULL }, now_us);
	if (r < 0)
		log_event(LOG_ERROR, "the configuration cannot be judged: %s", strerror(-r));
}

static void refuse(struct reconfigure *of, const char *why)
{
	log_event(LOG_ERROR, "the configuration is not right, and with it the next start will fail: %s", why);
	snprintf(of->state, sizeof(of->state), "; cartbus.conf is not right: %s", why);
}

static void tell_what_waits(struct reconfigure *of)
{
	struct config *now = NULL;
	struct config_error error = { .text = "" };
	char which[300];

	if (config_load(of->path, of->keys, &now, &error) < 0) {
		refuse(of, error.text); /* the file changed once more */
		return;
	}
	of->state[0] = '\0';
	if (config_differs(of->running, now, which, sizeof(which))) {
		log_event(LOG_NOTICE, "takes effect at the next start (systemctl restart cartbus-broker): %s", which);
		snprintf(of->state, sizeof(of->state), "; at the next start: %s", which);
	}
	config_free(now);
}

static bool reconfigure_look(struct reconfigure *of, int64_t now_us)
{
	char why[RELOAD_WHY];

	if (!reload_judged(&of->judging, now_us, why))
		return false;
	if (why[0])
		refuse(of, why);
	else
		tell_what_waits(of);
	return true;
}

/* --- the process --- */

enum {
	TOPOLOGY_BYTES_MAX = 16 << 20,
	FRAMES_AT_ONCE = 4096,    /* per commit: how many frames a batch may hold ... */
	BYTES_AT_ONCE = 16 << 20, /* ... and how large */
	CONTROLS_AT_ONCE = 1024,
};

static const struct config_key keys[] = { CONFIG_TABLE(bus_keys), CONFIG_OTHERS, CONFIG_END };

static volatile sig_atomic_t stopping, reloading, reconfiguring;

struct process {
	struct config *config;
	struct clock clock;
	struct topology topology;
	struct listener listener;
	struct broker *broker;
	struct committer *committer;
	struct notify_alive alive;
	struct reconfigure reconfigure;
	int frames_heard; /* since a commit was sealed */
	size_t bytes_heard;
	int64_t wait_us; /* until there is something to do even if no message comes */
	char folder[512], sidelog[512];
	bool is_short; /* low on disk space, as last reported */
	int lock;
};

static void stop(int signal_number)
{
	(void)signal_number;
	stopping = 1;
}

/*
 * RocksDB aborts where it cannot write its own logs. Its message is on stderr already; after this handler
 * abort() goes on.
 */
static void say_aborted(int signal_number)
{
	static const char files[] = "<2>broker: stopped by an assertion, in the words of the line before. No "
				    "descriptor was left: raise the "
				    "limit of open files (LimitNOFILE= of cartbus-broker), then start again. What was "
				    "confirmed is there.\n";
	static const char words[] =
		"<2>broker: stopped by an assertion, in the words of the line before. Most likely the disk of "
		"[paths] state failed or is full: check it, then start again. What was confirmed is there.\n";

	bool is_out_of_files = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) < 0 && errno == EMFILE;

	(void)signal_number;
	if (write(STDERR_FILENO, is_out_of_files ? files : words,
		    (is_out_of_files ? sizeof(files) : sizeof(words)) - 1) < 0)
		return; /* no reader is left */
}

static void reload(int signal_number)
{
	(void)signal_number;
	reloading = 1;
	reconfiguring = 1;
}

static void wake(int signal_number)
{
	(void)signal_number;
}

static struct clock parse_clock(const struct config *config)
{
	double rate = config_real(config, "clock", NULL, "rate");

	if (rate < 1 || rate > 1)
		return clock_scaled(rate, config_number(config, "clock", NULL, "origin-real-us"),
			config_number(config, "clock", NULL, "origin-wall-us"));
	return clock_system();
}

/* <folder of this program>/../share/cartbus/topology.conf */
static void default_topology(char path[512])
{
	char program[400] = "";
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	if (len < 0)
		die("cannot read /proc/self/exe: say where topology.conf is with [broker] topology");
	program[len] = '\0';
	slash = strrchr(program, '/');
	*slash = '\0';
	snprintf(path, 512, "%s/../share/cartbus/topology.conf", program);
}

static void read_topology(struct process *process)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	char path[512];
	int r;

	if (config_get(process->config, "broker", NULL, "topology")[0] != '\0')
		TEXT_COPY(path, config_get(process->config, "broker", NULL, "topology"));
	else
		default_topology(path);
	r = file_read(path, TOPOLOGY_BYTES_MAX, &text);
	if (r == -EFBIG)
		die("cannot use the topology %s: it is larger than 16 MB. Declare fewer topics", path);
	if (r < 0)
		die("cannot read the topology %s: the build makes it; [broker] topology says where it is", path);
	if (topology_parse(buffer_text(&text), path, &process->topology, &error) < 0)
		die("cannot use the topology: %s; [broker] topology says where it is", error.text);
}

static void check_made(const char *path, const char *key, int r)
{
	if (r < 0)
		die("cannot make the folder %s: %s; create it or change [paths] %s", path, strerror(-r), key);
}

/*
 * Makes the one folder that the broker's group may enter: services of other users find the sockets there.
 * This happens before the log is open: its threads write files, and share the umask.
 */
static void make_run_folder(const char *path)
{
	const mode_t before = umask(027);
	int r = file_make_folders(path, 0750);

	umask(before);
	check_made(path, "run", r);
}

/*
 * A log whose restore did not end must not be opened: it is half in place, or still has the identity of the
 * log that it was copied from.
 */
static void check_restored(const struct process *process)
{
	const char *state = config_get(process->config, "paths", NULL, "state");
	char path[600];

	snprintf(path, sizeof(path), "%s/" RESTORING_MARK, state);
	if (access(path, F_OK) == 0)
		die("a restore into %s did not come to its end: run cartbus restore again, with the same backup",
			state);
}

static struct store *open_store(struct process *process, const struct store_options *options)
{
	char lock[600], why[512] = "";
	struct store *store;
	int r;

	snprintf(process->folder, sizeof(process->folder), "%s/broker",
		config_get(process->config, "paths", NULL, "state"));
	check_made(process->folder, "state", file_make_private_folder(process->folder));
	snprintf(lock, sizeof(lock), "%s/.lock", process->folder);
	r = file_lock(lock, &process->lock);
	if (r == -EBUSY)
		die("another broker is using %s: stop it first, or give this one another [paths] state",
			process->folder);
	if (r < 0)
		die("cannot lock %s: %s", lock, strerror(-r));
	if (!options->accepts_loss)
		check_restored(process); /* again: a restore may have begun before this process had the lock */
	r = store_open(process->folder, options, &store, why);
	if (r == -EUCLEAN)
		die("cannot open the log in %s: it is damaged: %s. " BROKER_REMEDY
		    " If its end is lost for good: cartbus-broker --help, at --new-identity.",
			process->folder, why);
	if (r < 0)
		die("cannot open the log in %s: %s (%s)", process->folder, why, strerror(-r));
	if (why[0] != '\0')
		log_event(LOG_WARNING, "opened the log in %s: %s", process->folder, why);
	return store;
}

static void name_sidelog(struct process *process)
{
	snprintf(process->sidelog, sizeof(process->sidelog), "%s/" SIDELOG_FOLDER,
		config_get(process->config, "paths", NULL, "state"));
}

/*
 * Gives the identity first, then puts the side log away: if this is interrupted between the two, the log does
 * not start beside the side log of its old identity. The commit that gives the identity also clears the note of
 * lost messages: until then a start still reports them missing.
 */
static void give_new_identity(struct process *process)
{
	struct store_options options = broker_store_options;
	struct store *store;
	char before[40], after[40], away[SIDELOG_PATH];
	int r;

	options.accepts_loss = true;
	store = open_store(process, &options);
	r = log_new_identity(store, before, after);
	if (r == -ENOENT)
		die("there is no log in %s", process->folder);
	if (r < 0)
		die("the log in %s could not get another identity: %s", process->folder, store_why(store));
	store_close(store);
	name_sidelog(process);
	r = sidelog_put_away(process->sidelog, away);
	if (r < 0 && r != -ENOENT && r != -EBADMSG) /* the start reports a damaged one */
		die("the side log in %s could not be put away: %s; run this again", process->sidelog, strerror(-r));
	printf("the log in %s was %s and is %s now\n", process->folder, before, after);
	puts("Now " FOLDED_ANEW("the state folders of the services beside it") ": they fold it anew.");
	puts("Keep those files: cartbus restore DIR learns from them what was mailed.");
	puts("No mail is sent until the operator says so: cartbus restore --release");
	if (r == 0)
		printf("The side log lies in %s now. It may hold what this log does not: cartbus restore DIR learns "
		       "from it.\n",
			away);
}

static int reload_who_may_come(void *context, char ret_why[256])
{
	struct process *process = context;
	int r = listener_reload(&process->listener, process->broker, ret_why);

	reloading = 0;
	if (r < 0)
		log_event(LOG_ERROR, "peers.conf is not taken, and who may connect is left as it was: %s", ret_why);
	else
		log_event(LOG_NOTICE, "peers.conf was read again: it says who may connect over TCP");
	return r;
}

static int verify(struct process *process, const struct broker_options *options)
{
	struct broker_settings settings = broker_settings_read(process->config);
	int r;

	snprintf(process->folder, sizeof(process->folder), "%s/broker",
		config_get(process->config, "paths", NULL, "state"));
	name_sidelog(process);
	if (!options->folder)
		settings.sidelog = process->sidelog;
	read_topology(process);
	r = verify_command(options->folder ? options->folder : process->folder, options->json, &process->topology,
		&settings, clock_wall_us(&process->clock));
	topology_free(&process->topology);
	return r;
}

static void open_broker(struct process *process)
{
	struct broker_settings settings = broker_settings_read(process->config);
	struct store *store;
	struct broker_out out = {
		.open_mailbox = hub_open_mailbox,
		.close_mailbox = hub_close_mailbox,
		.push = hub_push,
		.control = hub_control,
		.is_tapped = hub_is_tapped,
		.tap = hub_tap,
	};
	char why[512] = "";

	make_run_folder(config_get(process->config, "paths", NULL, "run"));
	store = open_store(process, &broker_store_options);
	listener_open(&process->listener, process->config);
	out.context = process->listener.hub;
	settings.snapshots = process->folder;
	name_sidelog(process);
	settings.sidelog = process->sidelog;
	if (broker_open(&store, &process->topology, &settings, &process->clock, &out, &process->broker, why) < 0)
		die("%s: %s", process->folder, why);
	process->listener.broker = process->broker;
	broker_admit(process->broker, process->listener.registry);
	broker_on_reload(process->broker, reload_who_may_come, process);
}

static bool may_hear(const struct process *process)
{
	return process->frames_heard < FRAMES_AT_ONCE && process->bytes_heard < BYTES_AT_ONCE;
}

static void hear_frames(struct process *process)
{
	struct bytes frame;
	const char *who;

	while (may_hear(process) && hub_hear_frame(process->listener.hub, &who, &frame) == 0) {
		broker_hear_frame(process->broker, who, frame);
		process->bytes_heard += frame.len;
		process->frames_heard++;
	}
}

static void hear_controls(struct process *process)
{
	struct bytes message, peer;
	const char *who;

	for (int i = 0; i < CONTROLS_AT_ONCE && hub_hear_control(process->listener.hub, &peer, &who, &message) == 0;
		i++)
		broker_hear_control(process->broker, peer, who, message);
}

/*
 * Exits at once: the rest of exit() would write to the disk that just failed, and RocksDB aborts over that.
 */
static noreturn void give_up(const struct broker *broker, int error)
{
	char why[700];

	snprintf(why, sizeof(why), "%s (%s)", broker_why(broker), strerror(-error));
	log_event(LOG_CRITICAL, "%s", why);
	notify_failed(why);
	_exit(1);
}

static void tell_committing(const struct process *process)
{
	notify_status("committing%s", process->reconfigure.state);
}

static void tell_disk_space(struct process *process)
{
	char why[256];
	bool is_short = broker_is_short(process->broker, why);

	if (is_short == process->is_short)
		return;
	process->is_short = is_short;
	if (is_short) {
		log_event(LOG_ERROR, "nothing new is taken: %s", why);
		notify_status("nothing new is taken: %s", why);
	} else {
		log_event(LOG_NOTICE, "there is room again: new messages are taken");
		tell_committing(process);
	}
}

/* Sends the answers that the commit covers, and then runs the tick. */
static void end_commit(struct process *process, int written)
{
	int r = broker_let_out(process->broker, written);

	if (r < 0)
		give_up(process->broker, r);
	process->wait_us = broker_tick(process->broker);
	tell_disk_space(process);
}

/*
 * Commits everything that was heard: a large commit is written while the next messages are heard, a small one
 * at once.
 */
static void begin_commit(struct process *process)
{
	int r;

	process->wait_us = broker_may_wait_us(process->broker);
	if (process->wait_us > 0)
		return;
	r = broker_seal(process->broker);
	if (r < 0)
		give_up(process->broker, r);
	process->frames_heard = 0;
	process->bytes_heard = 0;
	if (broker_may_hear_on(process->broker))
		committer_start(process->committer);
	else
		end_commit(process, broker_write(process->broker));
}

/*
 * While a commit is under way the broker hears only frames, and no more of them than the next commit may
 * hold.
 */
static void hear_on(struct process *process)
{
	int written, r = 0;

	if (may_hear(process))
		r = hub_wait_frames(process->listener.hub, committer_fd(process->committer));
	else
		committer_wait(process->committer);
	if (r < 0)
		die("cannot wait for messages: %s", strerror(-r));
	hear_frames(process);
	if (committer_is_done(process->committer, &written))
		end_commit(process, written);
}

static void hear_all(struct process *process)
{
	int r = hub_wait(process->listener.hub, process->wait_us);
	char why[256];

	if (r < 0)
		die("cannot wait for messages: %s", strerror(-r));
	if (reloading)
		reload_who_may_come(process, why);
	if (reconfiguring)
		reconfigure_begin(&process->reconfigure, clock_boot_us(&process->clock));
	reconfiguring = 0;
	if (reconfigure_look(&process->reconfigure, clock_boot_us(&process->clock)) && !process->is_short)
		tell_committing(process);
	listener_tell_turned_away(&process->listener);
	hear_frames(process);
	hear_controls(process);
}

/* Sends no sign of life while a commit is waited for: if the commit never ends, the broker hangs. */
static void say_alive(struct process *process)
{
	int64_t wait_us = notify_alive(&process->alive, clock_boot_us(&process->clock));

	if (wait_us >= 0 && (process->wait_us < 0 || wait_us < process->wait_us))
		process->wait_us = wait_us;
}

static void run_loop(struct process *process)
{
	process->alive = notify_alive_asked();
	while (!stopping || committer_is_at_work(process->committer)) {
		say_alive(process);
		if (committer_is_at_work(process->committer)) {
			hear_on(process);
		} else {
			hear_all(process);
			begin_commit(process);
		}
	}
}

DEFINE_CLEANUP(struct config *, config_free)

int main(int argc, char **argv)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct broker_options options = broker_options_parse(argc, argv);
	struct process process = { .lock = -1 };
	struct config_error error;

	log_open("broker", LOG_INFO);
	umask(077);
	dumps_forbid();
	int r = config_load(options.config, keys, &config, &error);
	if (r < 0)
		die("%s%s", error.text, config_load_remedy(r));
	process.config = config;
	log_configure(config, "broker");
	if (options.new_identity) {
		give_new_identity(&process);
		return 0;
	}
	process.clock = parse_clock(config);
	if (options.verify)
		return verify(&process, &options);
	if (options.only_checks)
		log_write_as(LOG_FORM_TEXT);
	read_topology(&process);
	if (options.only_checks) {
		listener_check(config);
		broker_settings_read(config);
		topology_free(&process.topology);
		return 0;
	}
	process.reconfigure = (struct reconfigure){ .path = options.config, .keys = keys, .running = config };
	signal(SIGCHLD, wake);
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	signal(SIGABRT, say_aborted);
	signal(SIGHUP, reload);
	check_restored(&process);
	open_broker(&process);
	log_event(LOG_NOTICE, "ready log=%s head=%llu", broker_log_id(process.broker),
		(unsigned long long)broker_head(process.broker));
	notify("READY=1\nSTATUS=committing");
	process.committer = committer_new(process.broker);
	run_loop(&process);
	committer_free(process.committer);
	notify("STOPPING=1");
	log_event(LOG_NOTICE, "stopped head=%llu", (unsigned long long)broker_head(process.broker));
	broker_close(process.broker);
	topology_free(&process.topology);
	listener_close(&process.listener);
	return 0;
}

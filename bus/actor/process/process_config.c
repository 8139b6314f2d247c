/*
 * process_config.c: the arguments and the configuration of a process, at the start and after a change
 *
 * Promises:  an invalid configuration is not taken: the process goes on with the old one, and says so in its
 *            log, its STATUS and to the broker. A valid one that changes nothing for this process has no
 *            effect; any other is taken by a restart of the program in place.
 * Fails by:  at a start, exit 1 with file, line and remedy; later, going on.
 * Read next: bus/base/reload.c, process.c
 */
#include "bus/actor/process/process_inside.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "bus/wire/zmq_link.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * All programs read the same file: a key that a program of the bus does not know belongs to another program.
 */
static const struct config_key bare_keys[] = { CONFIG_TABLE(process_keys), CONFIG_OTHERS, CONFIG_END };

static const struct config_key *keys_of(const struct running *running)
{
	return running->process->keys ? running->process->keys : bare_keys;
}

static void set_clock(struct running *running)
{
	const struct config *config = running->config;
	double rate = config_real(config, "clock", NULL, "rate");

	running->clock = rate < 1 || rate > 1
		? clock_scaled(rate, config_number(config, "clock", NULL, "origin-real-us"),
			  config_number(config, "clock", NULL, "origin-wall-us"))
		: clock_system();
}

/* `reader` NULL: the whole file has to be right. Else faults in keys of other programs are only reported. */
static void read_config(struct running *running, const char *reader)
{
	struct config_error error = { .text = "" };
	int r;

	r = config_load_for(running->config_path, keys_of(running), reader, &running->config, &error);
	if (r < 0)
		die("%s%s", error.text, config_load_remedy(r));
	log_configure(running->config, running->instance);
	if (error.text[0])
		log_event(LOG_ERROR, "what others need of the configuration is wrong: %s", error.text);
	set_clock(running);
}

/*
 * A process that has all it needs starts: a fault elsewhere in the file does not keep webhooks out after the
 * next power cut.
 */
void process_read_config(struct running *running)
{
	read_config(running, running->process->service->name);
}

int64_t process_turn_deadline_us(const struct running *running)
{
	return config_number(running->config, "turn", NULL, "deadline");
}

void process_check_only(struct running *running)
{
	struct broker_endpoint broker;
	char why[256];

	unsetenv("NOTIFY_SOCKET"); /* it belongs to the process that had this one check */
	read_config(running, NULL);
	log_write_as(LOG_FORM_TEXT);
	if (broker_endpoint_read(running->config, running->process->service->name, &broker, why) < 0)
		die("%s: %s", running->config_path, why);
	curve_wipe(&broker.key);
	if (running->process->check)
		running->process->check(running->config);
	_exit(0);
}

static void end_reloading(const struct running *running)
{
	if (running->ready_said)
		notify("READY=1");
}

void process_begin_to_reload(struct running *running)
{
	int r;

	if (running->drain_until_us > 0 || running->reload.child)
		return; /* the process will read it anyhow */
	if (running->ready_said)
		notify("RELOADING=1");
	r = reload_begin(&running->reload,
		(char *const[]){ "cartbus", "--check", "--config", (char *)running->config_path, "--instance",
			(char *)running->instance, NULL },
		clock_boot_us(&running->clock));
	if (r < 0) {
		log_event(LOG_ERROR, "the configuration cannot be judged, and what ran goes on: %s", strerror(-r));
		end_reloading(running);
	}
}

void process_tell_config(const struct running *running, bool is_read)
{
	struct clock real = clock_system();

	runtime_tell_config(running->runtime, is_read ? clock_wall_us(&real) : 0, running->kept_why[0] != '\0');
}

static void keep_config(struct running *running, const char *why)
{
	TEXT_COPY(running->kept_why, why);
	log_event(LOG_ERROR, "the configuration is not taken, and what ran goes on: %s", why);
	process_tell_config(running, false);
	process_show_status(running);
	end_reloading(running);
}

static void take_config(struct running *running)
{
	struct config *now = NULL;
	struct config_error error = { .text = "" };
	char which[300];

	if (config_load(running->config_path, keys_of(running), &now, &error) < 0) {
		keep_config(running, error.text); /* the file changed once more */
		return;
	}
	running->kept_why[0] = '\0';
	running->again = config_differs(running->config, now, which, sizeof(which));
	config_free(now);
	process_tell_config(running, true);
	if (running->again) {
		log_event(LOG_NOTICE, "begins anew with another configuration: %s", which);
		notify_status("begins anew with another configuration");
		process_begin_to_leave(running);
	} else {
		log_event(LOG_INFO, "the configuration was read, and nothing in it is new to this process");
		process_show_status(running);
		end_reloading(running);
	}
}

void process_end_judging(struct running *running)
{
	char why[RELOAD_WHY];

	if (!reload_judged(&running->reload, clock_boot_us(&running->clock), why))
		return;
	if (running->drain_until_us > 0)
		return;
	if (why[0])
		keep_config(running, why);
	else
		take_config(running);
}

int64_t process_judge_late(struct running *running)
{
	int64_t wait_us = running->reload.until_us - clock_boot_us(&running->clock);

	if (!running->reload.child)
		return -1;
	if (wait_us > 0)
		return wait_us;
	process_end_judging(running);
	return -1;
}

/* The arguments of a service's command line. */

static const char CONFIG_DEFAULT[] = "/etc/cartbus/cartbus.conf";
enum { INSTANCE_MAX = 64 };

static void print_help(const struct process *process)
{
	printf("cartbus-%s: %s\n\n"
	       "Usage: cartbus-%s [--config FILE] [--instance NAME] [--check]\n\n"
	       "  --config FILE     the configuration; CARTBUS_CONFIG or %s if not given\n"
	       "  --instance NAME   a name that stays over restarts and is unique among those that run; \"%s\" if not "
	       "given\n  --check           say whether it could start with this configuration, and start nothing\n"
	       "  --manifest        print what this service hears, remembers and says (its part of topology.conf)\n"
	       "  --version         print the version\n\n"
	       "SIGHUP: takes the configuration anew, if it is right; else what ran goes on.\n\n"
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

/* `more`: an argument that is left over; NULL: none */
static void refuse_nonsense(const struct process *process, const struct process_options *chosen, const char *more)
{
	const char *name = process->service->name;

	if (more) {
		fprintf(stderr, "cartbus-%s: \"%s\" is not understood; see --help\n", name, more);
		exit(EXIT_USAGE);
	}
	if (!chosen->instance[0] || strchr(chosen->instance, '/') || strlen(chosen->instance) >= INSTANCE_MAX) {
		fprintf(stderr, "cartbus-%s: an instance's name has 1 to 63 characters and no slash\n", name);
		exit(EXIT_USAGE);
	}
}

struct process_options process_options_parse(const struct process *process, int argc, char **argv)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'c' },
		{ "instance", required_argument, NULL, 'i' }, { "check", no_argument, NULL, 'k' },
		{ "manifest", no_argument, NULL, 'm' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' }, { NULL, 0, NULL, 0 } };
	const char *in_environment = getenv("CARTBUS_CONFIG");
	struct process_options chosen = { .config_path =
						  in_environment && *in_environment ? in_environment : CONFIG_DEFAULT,
		.instance = process->service->name };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			chosen.config_path = optarg;
			break;
		case 'i':
			chosen.instance = optarg;
			break;
		case 'k':
			chosen.only_checks = true;
			break;
		case 'm':
			print_manifest(process->service);
			exit(0);
		case 'h':
			print_help(process);
			exit(0);
		case 'v':
			printf("cartbus %s\n", CARTBUS_VERSION);
			exit(0);
		default:
			exit(EXIT_USAGE);
		}
	}
	refuse_nonsense(process, &chosen, optind < argc ? argv[optind] : NULL);
	return chosen;
}

/*
 * world_real.c: the conformance suite's world, real: runtimes with RocksDB in this process, sockets over ipc, and a broker process
 *
 * Killing an instance closes its sockets and store without a word; killing the broker is SIGKILL.
 */
#include "bus/base/cleanup.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/zmq_link.h"
#include "tests/unit/actor/world.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static const int64_t PATIENCE_US = 60 * US_PER_S;
enum { ROUND_US = 500, HEARTBEAT_MS = 300 };

struct instance {
	struct list hook;
	char name[64];
	const struct service *service;
	struct effect_driver *const *drivers;
	struct runtime *runtime;
	struct link *link; /* the runtime's */
	struct claim_notes *notes;
	bool paused;
};

struct world {
	struct folder folder;
	struct clock clock;
	pid_t broker;
	struct list instances;
	json_t *log; /* messages read so far */
	uint64_t next;
	bool reading, read_to_the_end;
};

static const struct service outside = { .name = "outside", .operator_ = true };

static void write_file(const struct world *world, const char *name, struct buffer *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", world->folder.path, name);
	file = fopen(path, "w");
	if (!file || fputs(buffer_text(text), file) < 0 || fclose(file) != 0)
		die("cannot write %s", path);
}

/* Leases are short, so that a test of them is. */
static void write_topology(const struct world *world, const struct service *const *services)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_(buffer_free) struct buffer says = { 0 };

	for (; *services; services++) {
		const struct service *service = *services;

		service_manifest(service, &text);
		text.len--; /* the empty line behind the peer's section */
		if (service_hears(service, 0))
			buffer_add_text(&text, "lease = 8s\n");
		for (size_t i = 0; service_hears(service, i); i++)
			buffer_printf(&says, "says = %s\n", service_hears(service, i)->topic->name);
		for (size_t i = 0; service_remembers(service, i); i++)
			buffer_printf(&says, "says = %s\n", service_remembers(service, i)->topic->name);
	}
	buffer_printf(&text, "[peer outside]\noperator = yes\n%s", buffer_text(&says));
	write_file(world, "topology.conf", &text);
}

static void write_config(const struct world *world, int heartbeat_ms)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	const char *path = world->folder.path;

	buffer_printf(&text,
		"[paths]\nstate = %s/state\nrun = %s/run\n[broker]\ntopology = %s/topology.conf\nheartbeat = "
		"%d\n[log]\nlevel = warning\n",
		path, path, path, heartbeat_ms);
	write_file(world, "cartbus.conf", &text);
}

struct world *world_new(const struct service *const *services, uint64_t seed)
{
	(void)seed;
	return world_new_real(services, HEARTBEAT_MS);
}

struct world *world_new_real(const struct service *const *services, int heartbeat_ms)
{
	struct world *world = memory_new(sizeof(*world));

	world->folder = folder_new();
	world->clock = clock_system();
	world->log = json_array();
	world->next = 1;
	list_init(&world->instances);
	write_topology(world, services);
	write_config(world, heartbeat_ms);
	world_restart_broker(world);
	world_start(world, "outside", &outside, NULL);
	return world;
}

const char *world_folder(const struct world *world)
{
	return world->folder.path;
}

void world_kill_broker(struct world *world)
{
	kill(world->broker, SIGKILL);
	waitpid(world->broker, NULL, 0);
	world->broker = 0;
}

void world_restart_broker(struct world *world)
{
	char config[128];

	snprintf(config, sizeof(config), "%s/cartbus.conf", world->folder.path);
	world->broker = fork();
	if (world->broker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
		execl(CARTBUS_BROKER, "cartbus-broker", "--config", config, (char *)NULL);
		_exit(127);
	}
}

/* --- instances --- */

static void state_path(const struct world *world, const char *name, char ret[160])
{
	snprintf(ret, 160, "%s/%.64s", world->folder.path, name);
}

static void run(struct world *world, struct instance *instance)
{
	struct runtime_settings settings = { .instance = instance->name };
	struct store *store = NULL;
	struct link *link = NULL;
	struct broker_endpoint endpoint;
	char path[160], why[512];

	state_path(world, instance->name, path);
	if (store_open(path, &runtime_store_options, &store, why) < 0)
		die("%s: %s", path, why);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/claims");
	if (claim_notes_open(path, &instance->notes) < 0)
		die("no notes at %s", path);
	settings.notes = instance->notes;
	instance->paused = false;
	snprintf(path, sizeof(path), "%s/run", world->folder.path);
	endpoint = broker_endpoint_local(path);
	if (zmq_link_new(&endpoint, &link) < 0 ||
		runtime_new(instance->service, &settings, link, &store, &world->clock, instance->drivers,
			&instance->runtime) < 0)
		die("no runtime");
	instance->link = link;
}

static struct instance *find(const struct world *world, const char *name)
{
	LIST_EACH (hook, &world->instances)
		if (strcmp(LIST_ENTRY(hook, struct instance, hook)->name, name) == 0)
			return LIST_ENTRY(hook, struct instance, hook);
	die("no instance %s", name);
}

void world_start(
	struct world *world, const char *name, const struct service *service, struct effect_driver *const *drivers)
{
	struct instance *instance = memory_new(sizeof(*instance));

	TEXT_COPY(instance->name, name);
	instance->service = service;
	instance->drivers = drivers;
	list_append(&world->instances, &instance->hook);
	run(world, instance);
}

void world_kill(struct world *world, const char *name)
{
	struct instance *instance = find(world, name);

	runtime_free(instance->runtime);
	claim_notes_free(instance->notes);
	instance->runtime = NULL;
	instance->notes = NULL;
}

void world_pause(struct world *world, const char *name)
{
	find(world, name)->paused = true;
}

void world_restart(struct world *world, const char *name)
{
	run(world, find(world, name));
}

void world_forget(struct world *world, const char *name)
{
	char path[160];

	state_path(world, name, path);
	nftw(path, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

struct runtime *world_runtime(struct world *world, const char *name)
{
	return find(world, name)->runtime;
}

void world_free(struct world *world)
{
	LIST_EACH_SAFE (hook, &world->instances) {
		struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		runtime_free(instance->runtime);
		claim_notes_free(instance->notes);
		list_remove(hook);
		free(instance);
	}
	if (world->broker)
		world_kill_broker(world);
	json_decref(world->log);
	folder_remove(&world->folder);
	free(world);
}

/* --- time passes --- */

static void one_round(struct world *world)
{
	LIST_EACH (hook, &world->instances) {
		struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		if (!instance->runtime || instance->paused)
			continue;
		claim_notes_work(instance->notes);
		zmq_link_wait(instance->link, NULL, 0, 0); /* a process's loop waits before it receives, too */
		runtime_work(instance->runtime);
	}
	nanosleep(&(struct timespec){ .tv_nsec = ROUND_US * 1000 }, NULL);
}

bool world_until(struct world *world, world_condition *holds, void *context)
{
	int64_t until_us = clock_boot_us(&world->clock) + PATIENCE_US;

	while (clock_boot_us(&world->clock) < until_us) {
		if (holds(world, context))
			return true;
		one_round(world);
	}
	return false;
}

void world_for(struct world *world, int64_t us)
{
	int64_t until_us = clock_boot_us(&world->clock) + us;

	while (clock_boot_us(&world->clock) < until_us)
		one_round(world);
}

static void wait_frozen(int64_t us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000 }, NULL);
}

void world_freeze_for(struct world *world, int64_t us)
{
	(void)world;
	wait_frozen(us);
}

void world_freeze(struct world *world)
{
	world_freeze_for(world, 4 * US_PER_S);
}

int64_t world_now_us(struct world *world)
{
	return clock_wall_us(&world->clock);
}

int64_t world_lease_us(struct world *world)
{
	(void)world;
	return 8 * US_PER_S;
}

/* --- saying and reading --- */

struct waiting {
	bool answered;
	enum said_result result;
	uint64_t seq;
};

static void answered(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)reason;
	*(struct waiting *)context = (struct waiting){ .answered = true, .result = result, .seq = seq };
}

static bool outside_is_open(struct world *world, void *context)
{
	(void)context;
	return runtime_phase(world_runtime(world, "outside")) == RUNTIME_READY;
}

static bool is_answered(struct world *world, void *context)
{
	(void)world;
	return ((struct waiting *)context)->answered;
}

enum said_result world_say(struct world *world, const struct topic *topic, const struct publish_options *how,
	const void *message, uint64_t *ret_seq)
{
	struct waiting waiting = { .answered = false };

	if (!world_until(world, outside_is_open, NULL) ||
		runtime_publish(world_runtime(world, "outside"), topic, how, NULL, message, answered, &waiting) < 0)
		return SAID_UNKNOWN;
	if (!world_until(world, is_answered, &waiting))
		die("neither confirmed nor refused");
	if (ret_seq)
		*ret_seq = waiting.seq;
	return waiting.result;
}

static void take_answer(void *context, bool ok, const char *text, bool more)
{
	struct world *world = context;
	json_t *answer = ok ? json_loads(text, 0, NULL) : NULL;
	json_t *messages = json_object_get(answer, "messages"), *next = json_object_get(answer, "next"), *message;
	size_t i;

	(void)more;
	json_array_foreach(messages, i, message)
	{
		json_array_append(world->log, message);
		world->next = (uint64_t)json_integer_value(json_object_get(message, "seq")) + 1;
	}
	world->read_to_the_end = answer && json_is_null(next);
	world->reading = false;
	json_decref(answer);
}

static bool has_read(struct world *world, void *context)
{
	char argument[80];

	(void)context;
	if (world->read_to_the_end)
		return true;
	snprintf(argument, sizeof(argument), "{\"from\": %llu, \"limit\": 1000}", (unsigned long long)world->next);
	if (!world->reading)
		world->reading =
			runtime_ask(world_runtime(world, "outside"), "read", argument, take_answer, world) == 0;
	return false;
}

static const char *text_of(const json_t *message, const char *key)
{
	return json_string_value(json_object_get(message, key));
}

void world_log(struct world *world, sim_log_fn *each, void *context)
{
	json_t *message;
	size_t i;

	world->read_to_the_end = false;
	if (!world_until(world, has_read, NULL))
		die("the broker does not let its log be read");
	json_array_foreach(world->log, i, message)
	{
		const char *text = text_of(message, "payload");
		size_t len = strlen(text);
		_cleanup_free_ uint8_t *payload = memory_new(len + 4);
		int decoded = EVP_DecodeBlock(payload, (const uint8_t *)text, (int)len);
		struct message_meta said = { .topic = text_of(message, "topic"),
			.shop = text_of(message, "shop"),
			.key = text_of(message, "key"),
			.said_by = text_of(message, "said_by"),
			.seq = (uint64_t)json_integer_value(json_object_get(message, "seq")) };

		decoded -= len > 0 && text[len - 1] == '=';
		decoded -= len > 1 && text[len - 2] == '=';
		each(&said, BYTES(payload, (size_t)decoded), context);
	}
}

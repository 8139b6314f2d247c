/*
 * affinity.c: threads that wake each other, on one processor while there is little to do
 *
 * Owns:      where the threads that it found may run.
 * Promises:  light work many times in a row brings them together where the caller runs. Heavy work parts them at once, and so does
 *            a processor that others are busy on: the kernel counts how long the caller was ready to run there and did not.
 * Fails by:  leaving everything to the scheduler, for good: where the system counts nothing or allows nothing.
 */
#include "bus/base/affinity.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	THREADS_MAX = 8,
	CALLER = 0,          /* as sched_setaffinity calls the thread that asks */
	LIGHT_IN_A_ROW = 64, /* brings them together, and as often the waiting is looked at */
	LIGHT_AFTER_A_CROWD = 4096,
	THREAD_NAME_MAX = 16,
};

static const uint64_t WAITED_MOST_NS =
	UINT64_C(50000) * LIGHT_IN_A_ROW; /* with only each other in the way it is a third */

struct affinity {
	pid_t threads[THREADS_MAX];
	int count; /* below 2: there is nothing to bring together */
	int waited_fd;
	uint64_t waited_ns;
	cpu_set_t anywhere;
	bool together;
	int light_left; /* until something is done */
};

static bool is_named(const char *tid, const char *name)
{
	char path[64], found[THREAD_NAME_MAX] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, found, sizeof(found)) > 0 && strncmp(found, name, strlen(name)) == 0;
}

static void find_threads(struct affinity *affinity, const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	affinity->threads[affinity->count++] = CALLER;
	while (tasks && affinity->count < THREADS_MAX && (entry = readdir(tasks)))
		if (is_named(entry->d_name, name))
			affinity->threads[affinity->count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	if (tasks)
		closedir(tasks);
}

/* The second number that the kernel shows; 0: it shows none. */
static uint64_t waited_ns(const struct affinity *affinity)
{
	char text[96] = "", *second = NULL;

	if (affinity->waited_fd >= 0 && pread(affinity->waited_fd, text, sizeof(text) - 1, 0) > 0)
		second = strchr(text, ' ');
	return second ? strtoull(second, NULL, 10) : 0;
}

struct affinity *affinity_new(const char *name)
{
	struct affinity *affinity = memory_new(sizeof(*affinity));

	affinity->light_left = LIGHT_IN_A_ROW;
	affinity->waited_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (waited_ns(affinity) > 0 &&
		sched_getaffinity(CALLER, sizeof(affinity->anywhere), &affinity->anywhere) == 0 &&
		CPU_COUNT(&affinity->anywhere) > 1)
		find_threads(affinity, name);
	return affinity;
}

static bool allow(const struct affinity *affinity, const cpu_set_t *processors)
{
	for (int i = 0; i < affinity->count; i++)
		if (sched_setaffinity(affinity->threads[i], sizeof(*processors), processors) < 0)
			return false;
	return true;
}

static void part(struct affinity *affinity, int light_left)
{
	if (affinity->together && !allow(affinity, &affinity->anywhere))
		affinity->count = 0;
	affinity->together = false;
	affinity->light_left = light_left;
}

void affinity_free(struct affinity *affinity)
{
	if (!affinity)
		return;
	part(affinity, 0);
	if (affinity->waited_fd >= 0)
		close(affinity->waited_fd);
	free(affinity);
}

static void come_together(struct affinity *affinity)
{
	int here = sched_getcpu();
	cpu_set_t processor;

	if (here < 0 || here >= CPU_SETSIZE)
		return;
	CPU_ZERO(&processor);
	CPU_SET(here, &processor);
	affinity->together = true;
	if (allow(affinity, &processor))
		return;
	part(affinity, 0);
	affinity->count = 0;
}

void affinity_light_work(struct affinity *affinity)
{
	uint64_t waited;

	if (affinity->count < 2 || --affinity->light_left > 0)
		return;
	affinity->light_left = LIGHT_IN_A_ROW;
	waited = waited_ns(affinity);
	if (!affinity->together)
		come_together(affinity);
	else if (waited - affinity->waited_ns > WAITED_MOST_NS)
		part(affinity, LIGHT_AFTER_A_CROWD);
	affinity->waited_ns = waited;
}

void affinity_heavy_work(struct affinity *affinity)
{
	part(affinity, LIGHT_IN_A_ROW);
}

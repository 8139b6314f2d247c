/*
 * syncer.c: a few threads that sync what they are given
 *
 * Owns:      the threads; each descriptor from syncer_begin on.
 * Promises:  what one thread writes here and another reads is written and read under the lock; signals go to the threads that were
 *            there before.
 * Fails by:  the errno of the sync as the result; die() where the kernel gives no thread.
 */
#include "bus/base/syncer.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { THREADS_MOST = 8 }; /* more at once did not make a disk faster */

struct syncer {
	pthread_mutex_t lock;
	pthread_cond_t begun, ended_all;
	struct list waiting, ended; /* struct syncing */
	size_t unfinished, idle;
	bool closing;
	int event; /* readable: `ended` is not empty */
	size_t thread_count;
	pthread_t threads[THREADS_MOST];
};

struct syncer *syncer_new(void)
{
	struct syncer *syncer = memory_new(sizeof(*syncer));

	pthread_mutex_init(&syncer->lock, NULL);
	pthread_cond_init(&syncer->begun, NULL);
	pthread_cond_init(&syncer->ended_all, NULL);
	list_init(&syncer->waiting);
	list_init(&syncer->ended);
	syncer->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (syncer->event < 0)
		die("cannot make an event descriptor: %s", strerror(errno));
	return syncer;
}

static void tell(const struct syncer *syncer)
{
	const uint64_t one = 1;

	if (write(syncer->event, &one, sizeof(one)) < 0)
		die("cannot write to an event descriptor: %s", strerror(errno));
}

/* Under the lock, but for the sync itself. */
static void sync_one(struct syncer *syncer)
{
	struct syncing *syncing = LIST_ENTRY(syncer->waiting.next, struct syncing, hook);

	list_remove(&syncing->hook);
	pthread_mutex_unlock(&syncer->lock);
	syncing->result = (syncing->data_only ? fdatasync : fsync)(syncing->fd) < 0 ? -errno : 0;
	close(syncing->fd);
	pthread_mutex_lock(&syncer->lock);
	if (list_empty(&syncer->ended))
		tell(syncer);
	list_append(&syncer->ended, &syncing->hook);
	if (--syncer->unfinished == 0)
		pthread_cond_broadcast(&syncer->ended_all);
}

static void *run(void *context)
{
	struct syncer *syncer = context;

	pthread_mutex_lock(&syncer->lock);
	while (!syncer->closing) {
		if (list_empty(&syncer->waiting)) {
			syncer->idle++;
			pthread_cond_wait(&syncer->begun, &syncer->lock);
			syncer->idle--;
		} else {
			sync_one(syncer);
		}
	}
	pthread_mutex_unlock(&syncer->lock);
	return NULL;
}

static void start_thread(struct syncer *syncer)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = pthread_create(&syncer->threads[syncer->thread_count], NULL, run, syncer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		syncer->thread_count++;
	else if (syncer->thread_count == 0)
		die("cannot start a thread: %s; raise the limit of processes (TasksMax, ulimit -u)", strerror(r));
}

static void begin(struct syncer *syncer, struct syncing *syncing)
{
	pthread_mutex_lock(&syncer->lock);
	list_append(&syncer->waiting, &syncing->hook);
	syncer->unfinished++;
	if (syncer->idle == 0 && syncer->thread_count < THREADS_MOST)
		start_thread(syncer);
	pthread_cond_signal(&syncer->begun);
	pthread_mutex_unlock(&syncer->lock);
}

void syncer_begin(struct syncer *syncer, struct syncing *syncing, int fd)
{
	*syncing = (struct syncing){ .fd = fd };
	begin(syncer, syncing);
}

void syncer_begin_data(struct syncer *syncer, struct syncing *syncing, int fd)
{
	*syncing = (struct syncing){ .fd = fd, .data_only = true };
	begin(syncer, syncing);
}

struct syncing *syncer_next(struct syncer *syncer)
{
	struct syncing *syncing = NULL;
	uint64_t told;

	pthread_mutex_lock(&syncer->lock);
	if (!list_empty(&syncer->ended)) {
		syncing = LIST_ENTRY(syncer->ended.next, struct syncing, hook);
		list_remove(&syncing->hook);
		if (list_empty(&syncer->ended) && read(syncer->event, &told, sizeof(told)) < 0)
			die("cannot read from an event descriptor: %s", strerror(errno));
	}
	pthread_mutex_unlock(&syncer->lock);
	return syncing;
}

void syncer_wait(struct syncer *syncer)
{
	pthread_mutex_lock(&syncer->lock);
	while (syncer->unfinished > 0)
		pthread_cond_wait(&syncer->ended_all, &syncer->lock);
	pthread_mutex_unlock(&syncer->lock);
}

int syncer_fd(const struct syncer *syncer)
{
	return syncer->event;
}

void syncer_free(struct syncer *syncer)
{
	if (!syncer)
		return;
	syncer_wait(syncer);
	pthread_mutex_lock(&syncer->lock);
	syncer->closing = true;
	pthread_cond_broadcast(&syncer->begun);
	pthread_mutex_unlock(&syncer->lock);
	for (size_t i = 0; i < syncer->thread_count; i++)
		pthread_join(syncer->threads[i], NULL);
	close(syncer->event);
	pthread_mutex_destroy(&syncer->lock);
	pthread_cond_destroy(&syncer->begun);
	pthread_cond_destroy(&syncer->ended_all);
	free(syncer);
}

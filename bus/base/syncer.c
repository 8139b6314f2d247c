/*
 * syncer.c: a few threads that sync the files given to them
 *
 * A thread takes a bundle of files, tells the disk to write all of them, and only then syncs one after the
 * other. Most data of the later files is on the disk by then: their content, and the inodes that share a
 * block (or a commit of the journal) with the first. While a thread is at work, files wait for it until they
 * are a bundle of their own: that makes bundles under load, and lets a single file go at once.
 *
 * Owns:      the threads; each descriptor from syncer_begin on.
 * Promises:  a file has ended only after its own fsync; fields that one thread writes and another reads are
 *            used under the lock; the older threads of the process get the signals.
 * Fails by:  the errno of the sync as the result; die() where the kernel gives no thread.
 */
#include "bus/base/syncer.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	THREADS_MOST = 8, /* more threads at once did not make a disk faster */
	BUNDLE = 8,       /* all effects of a sender at once (64) keep all the threads busy */
};

struct syncer {
	pthread_mutex_t lock;
	pthread_cond_t handed_over, ended_all;
	struct list begun_now; /* struct syncing, as all here; of the calling thread: not handed over yet */
	struct list waiting, ended;
	size_t waiting_count, unfinished, at_work, idle;
	bool closing;
	int event; /* readable: `ended` is not empty */
	size_t thread_count;
	pthread_t threads[THREADS_MOST];
};

struct syncer *syncer_new(void)
{
	struct syncer *syncer = memory_new(sizeof(*syncer));

	pthread_mutex_init(&syncer->lock, NULL);
	pthread_cond_init(&syncer->handed_over, NULL);
	pthread_cond_init(&syncer->ended_all, NULL);
	list_init(&syncer->begun_now);
	list_init(&syncer->waiting);
	list_init(&syncer->ended);
	syncer->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (syncer->event < 0)
		die("cannot make an event descriptor: %s", strerror(errno));
	return syncer;
}

static void wake_loop(const struct syncer *syncer)
{
	const uint64_t one = 1;

	if (write(syncer->event, &one, sizeof(one)) < 0)
		die("cannot write to an event descriptor: %s", strerror(errno));
}

static size_t take_bundle(struct syncer *syncer, struct list *ret)
{
	size_t count = 0;

	for (list_init(ret); count < BUNDLE && !list_empty(&syncer->waiting); count++) {
		struct list *hook = syncer->waiting.next;

		list_remove(hook);
		list_append(ret, hook);
	}
	syncer->waiting_count -= count;
	return count;
}

/* Only starts the writing, and only of the content: whether it succeeds, fsync reports. */
static void write_back(const struct list *bundle)
{
	LIST_EACH (hook, bundle)
		(void)sync_file_range(LIST_ENTRY(hook, struct syncing, hook)->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

static void sync_each(const struct list *bundle)
{
	LIST_EACH (hook, bundle) {
		struct syncing *syncing = LIST_ENTRY(hook, struct syncing, hook);

		syncing->result = (syncing->data_only ? fdatasync : fsync)(syncing->fd) < 0 ? -errno : 0;
		close(syncing->fd);
	}
}

/* Runs under the lock, except for the syncs themselves. */
static void sync_bundle(struct syncer *syncer)
{
	struct list bundle;
	size_t count = take_bundle(syncer, &bundle);

	syncer->at_work++;
	pthread_mutex_unlock(&syncer->lock);
	if (count > 1)
		write_back(&bundle);
	sync_each(&bundle);
	pthread_mutex_lock(&syncer->lock);
	syncer->at_work--;
	if (list_empty(&syncer->ended))
		wake_loop(syncer);
	list_move_all(&syncer->ended, &bundle);
	syncer->unfinished -= count;
	if (syncer->unfinished == 0)
		pthread_cond_broadcast(&syncer->ended_all);
}

static void *run(void *context)
{
	struct syncer *syncer = context;

	pthread_mutex_lock(&syncer->lock);
	while (!syncer->closing) {
		if (list_empty(&syncer->waiting)) {
			syncer->idle++;
			pthread_cond_wait(&syncer->handed_over, &syncer->lock);
			syncer->idle--;
		} else {
			sync_bundle(syncer);
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

void syncer_begin(struct syncer *syncer, struct syncing *syncing, int fd)
{
	*syncing = (struct syncing){ .fd = fd };
	list_append(&syncer->begun_now, &syncing->hook);
}

void syncer_begin_data(struct syncer *syncer, struct syncing *syncing, int fd)
{
	*syncing = (struct syncing){ .fd = fd, .data_only = true };
	list_append(&syncer->begun_now, &syncing->hook);
}

static size_t count_of(const struct list *list)
{
	size_t count = 0;

	LIST_EACH (hook, list)
		count++;
	return count;
}

/*
 * Wakes a thread for each whole bundle. A smaller rest waits for a thread that is at work; if none is, one is
 * woken.
 */
static void wake_threads(struct syncer *syncer)
{
	size_t wanted = syncer->waiting_count / BUNDLE;

	if (wanted == 0 && syncer->at_work == 0)
		wanted = 1;
	for (size_t woken = 0; woken < wanted; woken++) {
		if (woken < syncer->idle)
			pthread_cond_signal(&syncer->handed_over);
		else if (syncer->thread_count < THREADS_MOST)
			start_thread(syncer);
	}
}

void syncer_hand_over(struct syncer *syncer)
{
	size_t count = count_of(&syncer->begun_now);

	if (count == 0)
		return;
	pthread_mutex_lock(&syncer->lock);
	list_move_all(&syncer->waiting, &syncer->begun_now);
	syncer->waiting_count += count;
	syncer->unfinished += count;
	wake_threads(syncer);
	pthread_mutex_unlock(&syncer->lock);
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
	syncer_hand_over(syncer);
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
	pthread_cond_broadcast(&syncer->handed_over);
	pthread_mutex_unlock(&syncer->lock);
	for (size_t i = 0; i < syncer->thread_count; i++)
		pthread_join(syncer->threads[i], NULL);
	close(syncer->event);
	pthread_mutex_destroy(&syncer->lock);
	pthread_cond_destroy(&syncer->handed_over);
	pthread_cond_destroy(&syncer->ended_all);
	free(syncer);
}

/*
 * committer.c: a thread that writes the broker's commits, so that the broker's own thread hears on while the
 * disk syncs
 *
 * Owns:      the thread, and the two descriptors by which the two threads wake each other.
 * Promises:  one commit at a time. The thread runs broker_write and nothing else; the other thread handles
 *            the signals.
 * Fails by:  die() when the system gives no thread.
 * Read next: commit.c (what may happen meanwhile), main.c
 */
#include "bus/broker/committer.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct committer {
	struct broker *broker;
	pthread_t thread;
	int asked, done; /* eventfds */
	atomic_int written;
	atomic_bool ending;
	bool is_at_work; /* noted by the broker's thread: it has asked, and has not seen the commit done */
};

static void wake_thread(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		die("the broker's threads cannot wake each other");
}

static bool was_told(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) == sizeof(times);
}

static void *run(void *context)
{
	struct committer *committer = context;

	while (was_told(committer->asked) && !committer->ending) {
		committer->written = broker_write(committer->broker);
		wake_thread(committer->done);
	}
	return NULL;
}

struct committer *committer_new(struct broker *broker)
{
	struct committer *committer = memory_new(sizeof(*committer));
	sigset_t all, before;

	committer->broker = broker;
	committer->asked = eventfd(0, EFD_CLOEXEC);
	committer->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (committer->asked < 0 || committer->done < 0 ||
		pthread_create(&committer->thread, NULL, run, committer) != 0)
		die("the system gives no thread to write commits: raise the limits of processes and open files");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return committer;
}

void committer_free(struct committer *committer)
{
	if (!committer)
		return;
	committer->ending = true;
	wake_thread(committer->asked);
	pthread_join(committer->thread, NULL);
	close(committer->asked);
	close(committer->done);
	free(committer);
}

int committer_fd(const struct committer *committer)
{
	return committer->done;
}

void committer_start(struct committer *committer)
{
	committer->is_at_work = true;
	wake_thread(committer->asked);
}

bool committer_is_at_work(const struct committer *committer)
{
	return committer->is_at_work;
}

bool committer_is_done(struct committer *committer, int *ret_written)
{
	if (!committer->is_at_work || !was_told(committer->done))
		return false;
	*ret_written = committer->written;
	committer->is_at_work = false;
	return true;
}

void committer_wait(struct committer *committer)
{
	struct pollfd done = { .fd = committer->done, .events = POLLIN };

	while (committer->is_at_work && poll(&done, 1, -1) < 0)
		; /* a signal interrupted the wait: it is handled later */
}

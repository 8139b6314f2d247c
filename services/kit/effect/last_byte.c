/*
 * last_byte.c: timers that cut a connection, or remove a file, at a given time
 *
 * Owns:      the signal LAST_BYTE_SIGNAL, and kernel timers: as many as the most last bytes that were under
 *            way at the same time.
 * Promises:  after that time the thread that set the timer runs no instruction before the cut, even if the
 *            process was stopped or is busy. A guard that has ended cuts nothing.
 * Fails by:  NULL: the caller must not send the last byte.
 * Read next: transport_smtp_transfer.c, http/call.c, transport_maildir.c
 */
#include "services/kit/effect/last_byte.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LAST_BYTE_SIGNAL SIGRTMIN

enum { ROOM_LEAST = 256 }; /* bytes in the peer's window: a TLS record with a line of SMTP or a last byte */

/* Never freed. Of all that the signal handler reads, only a flag changes while the timer is set. */
struct last_byte {
	struct list hook; /* in `set` or `spare` */
	timer_t timer;
	pid_t thread;
	int fd; /* -1: a file */
	char path[800];
	volatile sig_atomic_t handed_over, was_cut;
};

static LIST_HEAD(set);
static LIST_HEAD(spare);

/* ---- what the peer has ---- */

static bool has_all(int fd)
{
	int queued;

	return ioctl(fd, SIOCOUTQ, &queued) < 0 || queued == 0;
}

/*
 * Fields that the kernel does not fill are 0: an older kernel knows fewer, and a socket that is not TCP has
 * none. Returns the number of bytes that were filled.
 */
static size_t ask_tcp(int fd, struct tcp_info *ret)
{
	socklen_t len = sizeof(*ret);

	*ret = (struct tcp_info){ 0 };
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, ret, &len) < 0 ? 0 : len;
}

static bool has_room(int fd)
{
	struct tcp_info info;

	if (ask_tcp(fd, &info) < offsetof(struct tcp_info, tcpi_snd_wnd) + sizeof(info.tcpi_snd_wnd))
		return true;
	return info.tcpi_snd_wnd >= ROOM_LEAST;
}

bool last_byte_is_next(int fd)
{
	return has_all(fd) && has_room(fd);
}

/* ---- the cut: it runs in the signal handler, so it only makes system calls ---- */

static void cut_socket(struct last_byte *last)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	if (last->handed_over && has_all(last->fd))
		return;
	if (connect(last->fd, &nowhere, sizeof(nowhere)) < 0)
		shutdown(last->fd, SHUT_RDWR);
	last->was_cut = true;
}

static void cut(int number, siginfo_t *signal, void *context)
{
	struct last_byte *last = signal->si_value.sival_ptr;
	int before = errno;

	(void)number, (void)context;
	if (last->fd >= 0)
		cut_socket(last);
	else if (unlink(last->path) == 0)
		last->was_cut = true;
	errno = before;
}

/* ---- timers ---- */

static void hear_signal(void)
{
	struct sigaction action = { .sa_sigaction = cut, .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t alone;

	sigfillset(&action.sa_mask);
	sigaction(LAST_BYTE_SIGNAL, &action, NULL);
	sigemptyset(&alone);
	sigaddset(&alone, LAST_BYTE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &alone, NULL); /* the parent process may have blocked it */
}

static struct last_byte *make(void)
{
	struct last_byte *last = memory_new(sizeof(*last));
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LAST_BYTE_SIGNAL };

	hear_signal();
	last->thread = gettid();
	event.sigev_value.sival_ptr = last;
	event._sigev_un._tid = last->thread;
	if (timer_create(CLOCK_BOOTTIME, &event, &last->timer) == 0)
		return last;
	log_event(LOG_ERROR,
		"no timer for the last byte of a mail: %s; raise the limit of pending signals (LimitSIGPENDING, ulimit "
		"-i)",
		strerror(errno));
	free(last);
	return NULL;
}

static struct last_byte *take(void)
{
	LIST_EACH (hook, &spare) {
		struct last_byte *last = LIST_ENTRY(hook, struct last_byte, hook);

		if (last->thread != gettid())
			continue;
		list_remove(&last->hook);
		return last;
	}
	return make();
}

/*
 * Reads the kernel's clock first, so that time between the two readings makes the moment earlier and never
 * later.
 */
static struct timespec moment_of(const struct clock *clock, int64_t until_us, int64_t *ret_left_us)
{
	const struct clock kernels = clock_system();
	int64_t now_us = clock_boot_us(&kernels), left_us = until_us - clock_boot_us(clock);
	int64_t at_us = now_us + left_us > 0 ? now_us + left_us : 1; /* 0 would disarm the timer */

	*ret_left_us = left_us;
	return (struct timespec){ .tv_sec = at_us / US_PER_S, .tv_nsec = at_us % US_PER_S * 1000 };
}

static void set_timer(const struct last_byte *last, struct timespec at)
{
	timer_settime(last->timer, TIMER_ABSTIME, &(struct itimerspec){ .it_value = at }, NULL);
}

/* How long the kernel waits for an acknowledgement; 0: its default, a quarter of an hour. */
static void be_patient_for(int fd, unsigned ms)
{
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

/*
 * Linux counts from the second expiry of its retransmission timer; the first two expiries send the byte
 * again.
 */
static void give_up_after(int fd, int64_t left_us)
{
	struct tcp_info info;

	ask_tcp(fd, &info);
	left_us -= 2 * (int64_t)info.tcpi_rto;
	be_patient_for(fd, left_us > US_PER_MS ? (unsigned)(left_us / US_PER_MS) : 1);
}

static struct last_byte *begin(int fd, const char *path, const struct clock *clock, int64_t until_us)
{
	struct last_byte *last = take();
	int64_t left_us;

	if (!last)
		return NULL;
	struct timespec at = moment_of(clock, until_us, &left_us);
	last->fd = fd;
	TEXT_COPY(last->path, path);
	last->handed_over = last->was_cut = false;
	list_append(&set, &last->hook);
	if (fd >= 0)
		give_up_after(fd, left_us);
	set_timer(last, at);
	return last;
}

struct last_byte *last_byte_of_socket(int fd, const struct clock *clock, int64_t until_us)
{
	return begin(fd, "", clock, until_us);
}

struct last_byte *last_byte_of_file(const char *path, const struct clock *clock, int64_t until_us)
{
	return begin(-1, path, clock, until_us);
}

void last_byte_handed_over(struct last_byte *last)
{
	if (last)
		last->handed_over = true;
}

bool last_byte_was_cut(const struct last_byte *last)
{
	if (!last)
		return false;
	return last->was_cut || (last->handed_over && last->fd >= 0 && !has_all(last->fd));
}

/* A signal that is pending arrives before timer_settime returns, because it goes to this thread. */
static void stop_timer(const struct last_byte *last)
{
	set_timer(last, (struct timespec){ 0 });
}

void last_byte_end(struct last_byte **last)
{
	struct last_byte *ended = *last;

	*last = NULL;
	if (!ended)
		return;
	stop_timer(ended);
	if (ended->fd >= 0)
		be_patient_for(ended->fd, 0);
	list_remove(&ended->hook);
	list_append(&spare, &ended->hook);
}

void last_byte_forget_socket(int fd)
{
	LIST_EACH (hook, &set) {
		struct last_byte *last = LIST_ENTRY(hook, struct last_byte, hook);

		if (last->fd != fd)
			continue;
		stop_timer(last);
		last->fd = -1;
	}
}

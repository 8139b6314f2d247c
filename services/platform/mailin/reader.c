/*
 * reader.c: parses mails in a separate process, which may crash on a mail
 *
 * A mail is passed as a memory descriptor in one datagram; its report comes back in another. The other end is
 * cartbus-mailin again, started by the process that has mails to read.
 *
 * Owns:      the process, the socket to it, and the order of the mails that wait for it.
 * Promises:  every mail is answered once. A mail that killed its reader, or that took its reader too long, is
 *            tried once more in a new reader and then given up, and the next mail is read. No report is
 *            trusted before report_is_sound has accepted it.
 * Fails by:  READER_DIED, READER_AWAY.
 * Read next: delivery.c, folder.c (have mails)
 */
#include "services/platform/mailin/reader.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WITHIN_US (20 * US_PER_S) /* the reader's limit of processor time usually ends it sooner */
#define IDLE_US US_PER_MINUTE
enum { DEATHS_MOST = 2, SERVES_ON = 3 };

static const char SELF[] = "/proc/self/exe";

extern char **environ;

struct reader {
	const struct clock *clock;
	const char *program;
	int epoll;
	pid_t child;             /* 0: none */
	int socket;              /* -1: none */
	bool busy;               /* the reader has a mail */
	struct reading *current; /* the mail that it has; NULL: none, or it was forgotten since */
	uint64_t deaths;
	int64_t since_us;    /* boot time at which it got this mail, or ended its last */
	struct list waiting; /* `current` is not among them */
};

/* ---- the process ---- */

/*
 * The child gets /dev/null as standard input and output. The socket's descriptor becomes SERVES_ON, even if
 * it is that already.
 */
static int spawn(const char *program, int socket, pid_t *ret)
{
	char *const argv[] = { (char *)program, (char *)READER_ARGUMENT, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, socket, SERVES_ON);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	int r = posix_spawn(ret, program, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int start(struct reader *reader)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	int r = spawn(reader->program, ends[1], &reader->child);
	close(ends[1]);
	if (r < 0) {
		close(ends[0]);
		reader->child = 0;
		return r;
	}
	reader->socket = ends[0];
	return epoll_ctl(reader->epoll, EPOLL_CTL_ADD, reader->socket, &event) < 0 ? -errno : 0;
}

/* Kills the reader if it still runs. Returns its exit status. */
static int end(struct reader *reader)
{
	int status = 0;
	if (reader->socket >= 0)
		close(reader->socket);
	if (reader->child > 0) {
		kill(reader->child, SIGKILL);
		while (waitpid(reader->child, &status, 0) < 0 && errno == EINTR)
			;
	}
	reader->socket = -1;
	reader->child = 0;
	reader->busy = false;
	return status;
}

/* ---- mails ---- */

static int memory_of(struct bytes mail)
{
	int fd = memfd_create("mail", MFD_CLOEXEC);
	size_t done = 0;
	while (fd >= 0 && done < mail.len) {
		ssize_t n = write(fd, (const char *)mail.data + done, mail.len - done);
		if (n <= 0) {
			close(fd);
			return -ENOMEM;
		}
		done += (size_t)n;
	}
	return fd < 0 ? -errno : fd;
}

static int hand_over(struct reader *reader, struct bytes mail)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char one = 1;
	struct iovec iov = { .iov_base = &one, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)
	};
	int fd = memory_of(mail);
	if (fd < 0)
		return fd;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	int r = sendmsg(reader->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static void answer(struct reading *reading, enum reader_end how, const struct report *report)
{
	list_remove(&reading->hook);
	reading->answer(reading->context, how, report);
}

static void answer_current(struct reader *reader, enum reader_end how, const struct report *report)
{
	struct reading *reading = reader->current;
	reader->busy = false;
	reader->current = NULL;
	reader->since_us = clock_boot_us(reader->clock);
	if (reading)
		answer(reading, how, report);
}

static int give(struct reader *reader, const struct reading *reading)
{
	int r = reader->child ? 0 : start(reader);
	return r < 0 ? r : hand_over(reader, reading->mail);
}

/* Hands the first waiting mail over. If that fails, reader_look answers all of them READER_AWAY. */
static void go_on(struct reader *reader)
{
	if (reader->busy || list_empty(&reader->waiting))
		return;
	struct reading *first = LIST_ENTRY(reader->waiting.next, struct reading, hook);
	int r = give(reader, first);
	if (r < 0) {
		log_event(LOG_ERROR, "no process that reads mails can be had: %s", strerror(-r));
		end(reader);
		return;
	}
	list_remove(&first->hook);
	reader->current = first;
	reader->busy = true;
	reader->since_us = clock_boot_us(reader->clock);
}

/* A reader without a mail ended by itself. A reader with a mail may have died of another cause, once. */
static void take_death(struct reader *reader, const char *how)
{
	bool was_busy = reader->busy;
	struct reading *reading = reader->current;
	int status = end(reader);
	reader->deaths += was_busy;
	if (was_busy)
		log_event(LOG_WARNING, "a mail ended the process that reads mails: %s: bytes=%zu signal=%d exit=%d",
			how, reading ? reading->mail.len : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
			WIFEXITED(status) ? WEXITSTATUS(status) : 0);
	if (!reading)
		return;
	if (++reading->deaths >= DEATHS_MOST) {
		answer_current(reader, READER_DIED, NULL);
		return;
	}
	reader->current = NULL;
	list_prepend(&reader->waiting, &reading->hook);
}

void reader_work(void *context)
{
	static struct report report; /* large */
	struct reader *reader = context;
	if (reader->socket < 0)
		return;
	ssize_t len = recv(reader->socket, &report, sizeof(report), MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len != (ssize_t)sizeof(report))
		take_death(reader, "it died");
	else if (!reader->busy || !report_is_sound(&report))
		take_death(reader, "it answered nonsense");
	else
		answer_current(reader, READER_READ, &report);
	go_on(reader);
}

/* ---- for the owners of mails ---- */

struct reader *reader_new(const struct clock *clock, const char *program)
{
	struct reader *reader = memory_new(sizeof(*reader));
	reader->clock = clock;
	reader->program = program ? program : SELF;
	reader->socket = -1;
	list_init(&reader->waiting);
	reader->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (reader->epoll < 0)
		die("epoll: %s", strerror(errno));
	return reader;
}

uint64_t reader_deaths(const struct reader *reader)
{
	return reader->deaths;
}

int reader_fd(const struct reader *reader)
{
	return reader->epoll;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	end(reader);
	LIST_EACH_SAFE (hook, &reader->waiting)
		list_remove(hook);
	close(reader->epoll);
	free(reader);
}

void reader_read(struct reader *reader, struct reading *reading, struct bytes mail, reader_fn *call, void *context)
{
	*reading = (struct reading){ .mail = mail, .answer = call, .context = context };
	list_append(&reader->waiting, &reading->hook);
	go_on(reader);
}

void reader_forget(struct reader *reader, struct reading *reading)
{
	if (reader->current == reading)
		reader->current = NULL; /* its answer will be dropped */
	else
		list_remove(&reading->hook);
}

static void tell_all_away(struct reader *reader)
{
	LIST_HEAD(all);
	list_move_all(&all, &reader->waiting);
	while (!list_empty(&all))
		answer(LIST_ENTRY(all.next, struct reading, hook), READER_AWAY, NULL);
}

int64_t reader_look(struct reader *reader)
{
	int64_t left_us = reader->since_us + (reader->busy ? WITHIN_US : IDLE_US) - clock_boot_us(reader->clock);
	if (!reader->child) {
		tell_all_away(reader);
		return -1;
	}
	if (left_us > 0)
		return left_us;
	take_death(reader, "it found no end");
	go_on(reader);
	return reader->child ? WITHIN_US : -1;
}

/*
 * The process that parses mails
 *
 * Owns:      nothing of value: it is started without the configuration, reads no key, and has no connection
 *            but its socket.
 * Promises:  a mail takes at most MEMORY_MOST of memory and CPU_S of processor time; the kernel enforces
 *            both. The process writes no file and leaves no core. It ends with the process that started it.
 * Fails by:  ending, which the other side takes as an answer.
 */

enum { CPU_S = 5, FILES_MOST = 32, MEMORY_MOST = 512 * 1024 * 1024 };

#ifndef __has_feature /* clang tells it this way */
#define __has_feature(name) 0
#endif
/* The shadow memory of the sanitizer alone is larger. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
static const rlim_t memory_most = RLIM_INFINITY;
#else
static const rlim_t memory_most = MEMORY_MOST;
#endif

static bool limit(int what, rlim_t most)
{
	struct rlimit limit;
	if (getrlimit(what, &limit) < 0)
		return false;
	limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
	return setrlimit(what, &limit) == 0;
}

static bool shut_in(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) &&
		limit(RLIMIT_NOFILE, FILES_MOST) && limit(RLIMIT_AS, memory_most);
}

static bool allow_time(void)
{
	struct rusage used;
	return getrusage(RUSAGE_SELF, &used) == 0 &&
		limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + CPU_S));
}

/* -1: no mail will come any more. */
static int take_descriptor(void)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char one;
	int fd = -1;
	struct iovec iov = { .iov_base = &one, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)
	};
	if (recvmsg(SERVES_ON, &message, MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static bool take_mail(struct buffer *ret)
{
	struct stat about;
	int fd = take_descriptor();
	buffer_clear(ret);
	if (fd < 0)
		return false;
	size_t len = fstat(fd, &about) == 0 && about.st_size <= REPORT_BYTES_MOST ? (size_t)about.st_size : 0;
	ssize_t n = len ? pread(fd, buffer_grow(ret, len), len, 0) : 0;
	close(fd);
	ret->len = n > 0 ? (size_t)n : 0;
	return n == (ssize_t)len;
}

void reader_serve(void)
{
	static struct report report; /* large */
	struct buffer mail = { 0 };
	bool serves = shut_in();
	report_init();
	while (serves && allow_time() && take_mail(&mail)) {
		report_read(buffer_bytes(&mail), &report);
		serves = send(SERVES_ON, &report, sizeof(report), MSG_NOSIGNAL) == (ssize_t)sizeof(report);
	}
	_exit(serves ? EXIT_SUCCESS : EXIT_FAILURE);
}

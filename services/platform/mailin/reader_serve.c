/*
 * reader_serve.c: the process that takes mails apart
 *
 * Owns:      nothing that is worth taking: it is started without the configuration, reads no key, and knows nobody.
 * Promises:  one mail takes no more memory than MEMORY_MOST and no more processor time than CPU_S: the kernel ends it. It writes no
 *            file and leaves no core. It ends with the process that started it.
 * Fails by:  its end, which is an answer too.
 * Read next: reader.c (the other end), report.c
 */
#include "services/platform/mailin/reader.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SERVES_ON = 3, CPU_S = 5, FILES_MOST = 32, MEMORY_MOST = 512 * 1024 * 1024 };

#ifndef __has_feature /* clang's way to tell */
#define __has_feature(name) 0
#endif
/* The sanitizer's shadow alone is larger. */
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

/* -1: there is none any more. */
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

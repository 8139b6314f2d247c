/*
 * stderr_of.h: what a process says on stderr, and how it ends
 */
#ifndef TESTS_UNIT_STDERR_OF_H
#define TESTS_UNIT_STDERR_OF_H

#include "tests/unit/cmocka_all.h"
#include <sys/wait.h>
#include <unistd.h>

/* What a child process that runs `body` writes on stderr; its exit status goes to `ret_status`. */
static inline void stderr_of(void (*body)(void), char to[8192], int *ret_status)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		body();
		_exit(0);
	}
	close(ends[1]);
	size_t len = 0;
	for (ssize_t got; len < 8191 && (got = read(ends[0], to + len, 8191 - len)) > 0;)
		len += (size_t)got;
	to[len] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, ret_status, 0), child);
}

#endif

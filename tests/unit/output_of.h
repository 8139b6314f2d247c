/*
 * output_of.h: what a process prints, on either output, and how it ends
 */
#ifndef TESTS_UNIT_OUTPUT_OF_H
#define TESTS_UNIT_OUTPUT_OF_H

#include "bus/base/bytes.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `body` in a child process; what it returns is the child's exit, unless it exits itself. Returns that exit. */
static inline int output_of(int (*body)(const void *context), const void *context, struct buffer *ret_said)
{
	char text[4096];
	int ends[2], status;
	ssize_t len;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		int ended = body(context);
		fflush(NULL);
		_exit(ended);
	}
	close(ends[1]);
	buffer_clear(ret_said);
	while ((len = read(ends[0], text, sizeof(text))) > 0)
		buffer_add(ret_said, text, (size_t)len);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif

/*
 * planted.h: which planted change is awake in this process
 *
 * Every file with planted changes includes it. Each changed function holds its body several times: as it is, and once for each change.
 * Reads CARTBUS_AWAKE, the number of the change that is awake, and CARTBUS_REACHED, a file: it gains a line with the number of every
 * change whose function is called. Without both, all code is as it was.
 */
#ifndef TESTS_MUTANTS_PLANTED_H
#define TESTS_MUTANTS_PLANTED_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void planted_is_reached(int number)
{
	const char *path = getenv("CARTBUS_REACHED");
	int file, kept = errno;

	if (!path)
		return;
	file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (file >= 0) {
		dprintf(file, "%d\n", number);
		close(file);
	}
	errno = kept;
}

/* Whether this change is awake. seen: of the place that asks; it is told once that the place was reached. */
static inline bool planted_is_awake(int number, bool *seen)
{
	static int awake = -1;

	if (awake < 0) {
		const char *text = getenv("CARTBUS_AWAKE");

		awake = text ? atoi(text) : 0;
	}
	if (!*seen) {
		*seen = true;
		planted_is_reached(number);
	}
	return awake == number;
}

#endif

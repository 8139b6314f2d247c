/*
 * fuzz.h: what every target provides, and how it says that a promise was broken
 *
 * A target reads one input as its code would read it from outside. Not crashing is the least: it also holds what was read
 * against what the code promises.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* As assert, in every build. */
#define MUST(promise)                                                                                                  \
	do {                                                                                                           \
		if (!(promise)) {                                                                                      \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);                          \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

#endif

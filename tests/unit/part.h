/*
 * part.h: a program's tests in parts that ctest runs side by side, or only those whose names match a pattern
 */
#ifndef TESTS_UNIT_PART_H
#define TESTS_UNIT_PART_H

#include "tests/unit/cmocka_all.h"
#include <stdio.h>

/*
 * The first argument is "PART/OF" (from 1), or cmocka's pattern, or there is none. Of OF parts each has every OF-th test; the
 * others are blank, which cmocka passes over.
 */
static inline void take_part(struct CMUnitTest *tests, size_t count, int argc, char **argv)
{
	unsigned part, of;

	if (argc > 1 && sscanf(argv[1], "%u/%u", &part, &of) == 2)
		for (size_t i = 0; of > 0 && i < count; i++)
			tests[i] = i % of + 1 == part ? tests[i] : (struct CMUnitTest){ 0 };
	else if (argc > 1)
		cmocka_set_test_filter(argv[1]);
}

#endif

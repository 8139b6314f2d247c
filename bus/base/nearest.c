/*
 * nearest.c: which known name is nearest to a mistyped one
 *
 * Slips are letters that are missing, too many, wrong, or swapped with their neighbour (optimal string alignment distance).
 */
#include "bus/base/nearest.h"

#include <stddef.h>
#include <string.h>

enum { LEN_MOST = 60, SLIPS_MOST = 3 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int slips_between(const char *a, const char *b)
{
	int rows[3][LEN_MOST + 1] = { { 0 } }; /* of the last letters of a: two before, one before, this one */
	int a_len = (int)strlen(a), b_len = (int)strlen(b);

	for (int j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (int i = 1; i <= a_len; i++) {
		int *row = rows[i % 3];
		const int *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= b_len; j++) {
			row[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_before[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

struct nearest nearest_begin(const char *typed)
{
	int bearable = (int)strlen(typed) / 2;

	return (struct nearest){ .typed = typed, .slips = (bearable < SLIPS_MOST ? bearable : SLIPS_MOST) + 1 };
}

void nearest_try(struct nearest *nearest, const char *name)
{
	int slips;

	if (strlen(nearest->typed) > LEN_MOST || strlen(name) > LEN_MOST)
		return;
	slips = slips_between(nearest->typed, name);
	if (slips < nearest->slips) {
		nearest->slips = slips;
		nearest->name = name;
	}
}

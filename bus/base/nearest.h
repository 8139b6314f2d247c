/*
 * nearest.h: which of the names that there are somebody may have meant
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

struct nearest {
	const char *typed, *name; /* name: the one that is nearest so far; NULL: none is near */
	int slips;
};

struct nearest nearest_begin(const char *typed); /* borrowed */
void nearest_try(struct nearest *nearest, const char *name);

#endif

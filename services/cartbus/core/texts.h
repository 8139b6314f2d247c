/* texts.h: texts in the order in which they came, each once; the empty one never */
#ifndef CARTBUS_CORE_TEXTS_H
#define CARTBUS_CORE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct map;

struct texts {
	struct map *set;
	char **all;
	size_t count;
};

void texts_init(struct texts *texts);
void texts_free(struct texts *texts);
bool texts_has(const struct texts *texts, const char *text);
void texts_add(struct texts *texts, const char *text);
const char *texts_at(const struct texts *texts, size_t i); /* borrowed; NULL: no more */

#endif

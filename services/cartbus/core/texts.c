/* texts.c: texts in the order in which they came, each once */
#include "services/cartbus/core/texts.h"

#include "bus/base/map.h"
#include "bus/base/memory.h"
#include <stdlib.h>

void texts_init(struct texts *texts)
{
	*texts = (struct texts){ .set = map_new() };
}

bool texts_has(const struct texts *texts, const char *text)
{
	return *text && map_get(texts->set, bytes_of(text));
}

void texts_add(struct texts *texts, const char *text)
{
	if (!*text || texts_has(texts, text))
		return;
	texts->all = memory_resize(texts->all, (texts->count + 1) * sizeof(*texts->all));
	texts->all[texts->count++] = memory_copy_text(text);
	map_put(texts->set, bytes_of(text), texts);
}

void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->all[i]);
	free(texts->all);
	map_free(texts->set);
}

const char *texts_at(const struct texts *texts, size_t i)
{
	return i < texts->count ? texts->all[i] : NULL;
}

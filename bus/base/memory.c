#include "bus/base/memory.h"
#include "bus/base/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *memory_new(size_t size)
{
	void *memory = calloc(1, size ? size : 1);
	if (!memory)
		die("out of memory: %zu bytes asked for; give the service a larger limit", size);
	return memory;
}

void *memory_resize(void *memory, size_t size)
{
	void *resized = realloc(memory, size ? size : 1);
	if (!resized)
		die("out of memory: %zu bytes asked for; give the service a larger limit", size);
	return resized;
}

void *memory_copy(struct bytes from)
{
	char *copy = memory_resize(NULL, from.len + 1);
	if (from.len)
		memcpy(copy, from.data, from.len);
	copy[from.len] = '\0';
	return copy;
}

char *memory_copy_text(const char *text)
{
	return memory_copy(bytes_of(text));
}

uint64_t memory_resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* throttle_file.h: the counts of failed tries to sign in, and their file */
#ifndef CONSOLE_PEOPLE_THROTTLE_FILE_H
#define CONSOLE_PEOPLE_THROTTLE_FILE_H

#include "bus/base/text.h"
#include <stdint.h>

/*
 * Failures of one name or network. Each adds a time, and time itself takes it away again: so many failures are left as fit
 * between now and `until_us`.
 */
struct throttle_count {
	uint64_t hash;
	int64_t until_us, last_us; /* the last failure */
};

struct throttle_table {
	struct throttle_count *all;
	size_t count, most;
};

struct throttle_counts {
	struct hash_key key;
	struct throttle_table names, networks;
	struct throttle_count together;
};

/* false: there is no file, or it is none of these; then `ret` may be filled in part. The tables' `most` and room are the caller's. */
bool throttle_file_read(const char *path, struct throttle_counts *ret);
int throttle_file_write(const char *path, const struct throttle_counts *counts, int64_t now_us);

#endif

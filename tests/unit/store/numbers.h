/*
 * numbers.h: a store that holds 0, 1, 2 ..., written by a program of its own, and ways to damage it
 */
#ifndef TESTS_UNIT_STORE_NUMBERS_H
#define TESTS_UNIT_STORE_NUMBERS_H

#include "bus/store/store.h"
#include "tests/unit/folder.h"
#include <sys/types.h>

/* families; how long a value is; what RocksDB writes before a number in its log; ... and once more, where a block ends in it */
enum { LOG, STATE, VALUE_BYTES = 3000, RECORD_HEAD = 32, FRAGMENT_HEAD = 7 };
extern const struct store_options options;

struct store *opened(const char *path);
int put_number(struct store *store, uint64_t number, bool sync);
uint64_t count_numbers(struct store *store); /* which must be 0, 1, 2 ... without a gap */

/* This very program, begun anew with these arguments; `says`: its standard output, or -1. */
pid_t start_program(const char *what, const char *path, const char *more, int says);
/* What main has to do with such arguments: its exit code; -1: they are none of these. */
int numbers_program(int argc, char **argv);

uint64_t commit_until_killed(const char *path, uint64_t from, uint64_t enough); /* the first that was not confirmed */
void commit_and_die(const char *path); /* five that are synced, and one more that is not */

void find_log(const struct folder *folder, char to[256]); /* the newest write-ahead log */
void find_log_before(const char *path, const char *below, char to[256]);
off_t size_of(const char *path);
void flip_byte(const char *path, off_t at);

#endif

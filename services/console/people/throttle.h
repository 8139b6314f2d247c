/*
 * throttle.h: how long somebody has to wait before the next try to sign in
 *
 * Three counts of failures decay by themselves: of the name that is tried, of the network it is tried from, and of all
 * together. After five failures a name waits 2, 4, 8 ... seconds, 15 minutes at most, and one failure is forgiven each
 * hour: nobody is locked out for ever. A network has 20 failures in 10 minutes, all networks together 200 a minute. A
 * try during a wait is not counted, so that waiting ends. A right password does not end a wait: otherwise a guesser
 * would learn that it is right.
 *
 * Names are counted by a keyed hash, whether they exist or not. Memory is bounded: of more names than there is room for,
 * those with the fewest failures are forgotten first. It is not for two threads at a time.
 */
#ifndef CONSOLE_PEOPLE_THROTTLE_H
#define CONSOLE_PEOPLE_THROTTLE_H

#include "bus/base/cleanup.h"
#include "bus/base/sources.h"

struct throttle;

/*
 * `path` is <state>/console/throttle, whose waits go on after a restart; its folder is made. A file that is missing or
 * damaged has none. Times are wall time; a clock that was set back does not make a wait longer than its most.
 */
struct throttle *throttle_open(const char *path, int64_t now_us);
void throttle_free(struct throttle *throttle); /* takes NULL; writes nothing */
DEFINE_CLEANUP(struct throttle *, throttle_free)

/* How long to wait; 0: try now. `name` or `network` NULL: it is unknown, and does not count. */
int64_t throttle_wait_us(struct throttle *throttle, const char *name, const struct source_key *network, int64_t now_us);
void throttle_failed(struct throttle *throttle, const char *name, const struct source_key *network, int64_t now_us);
/* The person signed in, with all that is asked for: the name's failures are forgiven; those of the network are not. */
void throttle_succeeded(struct throttle *throttle, const char *name);

/* Writes the file if something changed and the last time is 10 s ago; `is_last`: at once. 0, or a negative errno. */
int throttle_write(struct throttle *throttle, int64_t now_us, bool is_last);

#endif

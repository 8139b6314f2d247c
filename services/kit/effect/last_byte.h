/*
 * last_byte.h: the last byte of a mail leaves before a moment, or not at all
 *
 * A check of the clock bounds nothing that comes after it: who is stopped between the check and the write (SIGSTOP, a frozen group, a
 * machine that was asleep) writes when it goes on, and what the kernel took may lie there until the peer opens its window. So
 *     - what holds asks for its claim when the last byte would leave at once (last_byte_is_next);
 *     - a timer on boot time is set before the check that comes before the write. Its signal goes to this thread: a thread that
 *       was stopped finds it pending when it goes on, and the kernel runs its handler before the next instruction. The handler cuts the socket
 *       and discards what is queued (shutdown(2) would send it), or takes the file away;
 *     - it stays set until the peer's TCP has acknowledged everything, and the kernel gives up by itself (TCP_USER_TIMEOUT), also
 *       while the process is stopped. It sends what is lost again twice before it looks how long it tried: to a server that
 *       is so far away that this takes longer than what is left, a lost byte of a stopped process leaves once more.
 * A pause that the boot clock does not count (a hypervisor's) is not seen.
 */
#ifndef KIT_EFFECT_LAST_BYTE_H
#define KIT_EFFECT_LAST_BYTE_H

#include "bus/base/clock.h"
#include <stdbool.h>

/* The peer's TCP has acknowledged all that was written, and has room for a line or a record more. Not of a socket: true. */
bool last_byte_is_next(int fd);
enum { LAST_BYTE_LOOK_MS = 1, LAST_BYTE_LOOK_MOST_MS = 20 }; /* how often to ask: nothing tells when it comes true */
/*
 * So many bytes before it are written by themselves. A TCP that waits for the other side's next word puts its acknowledgement off, by
 * 40 ms with Linux, but gives it at once for the second of two pieces that were both pushed, when they are read.
 */
enum { LAST_BYTE_APART = 2 };

struct last_byte;

/*
 * Cuts at a moment of the clock's boot time, also one that is over. NULL: no timer can be had (a log event says why): what it was
 * for must not be done.
 */
struct last_byte *last_byte_of_socket(int fd, const struct clock *clock, int64_t until_us);
struct last_byte *last_byte_of_file(
	const char *path, const struct clock *clock, int64_t until_us); /* unlinks what has this path then */
/* The kernel took all of it: cut from now on only if something is not acknowledged. Takes NULL. */
void last_byte_handed_over(struct last_byte *last);
/* Of a connection that has ended: by us, or by the kernel, which waited in vain for an acknowledgement. NULL: false. */
bool last_byte_was_cut(const struct last_byte *last);
/* Nothing is cut any more, and NULL is left. Before the descriptor is closed. The socket's patience is the kernel's own again. */
void last_byte_end(struct last_byte **last);
void last_byte_forget_socket(int fd); /* the same, for code that closes the socket and knows no struct last_byte */

#endif

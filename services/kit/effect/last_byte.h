/*
 * last_byte.h: the last byte of a mail leaves before a given moment, or not at all
 *
 * A check of the clock does not limit what happens after it. A process that is stopped between the check and
 * the write (SIGSTOP, a frozen group, a sleeping machine) writes when it goes on. Bytes that the kernel took
 * may also wait there until the peer opens its window. So
 *     - what holds asks for its claim when the last byte would leave at once (last_byte_is_next);
 *     - a timer on boot time is set before the check that comes before the write. Its signal goes to this thread: a thread that
 *       was stopped finds it pending when it goes on, and the kernel runs its handler before the next instruction. The handler cuts the socket
 *       and discards what is queued (shutdown(2) would send it), or takes the file away;
 *     - it stays set until the peer's TCP has acknowledged everything, and the kernel gives up by itself (TCP_USER_TIMEOUT), also
 *       while the process is stopped. It sends what is lost again twice before it looks how long it tried: to a server that
 *       is so far away that this takes longer than what is left, a lost byte of a stopped process leaves once more.
 * A pause that the boot clock does not count (of a hypervisor) is not noticed.
 */
#ifndef KIT_EFFECT_LAST_BYTE_H
#define KIT_EFFECT_LAST_BYTE_H

#include "bus/base/clock.h"
#include <stdbool.h>

/*
 * true: the peer's TCP has acknowledged all written bytes, and has room for one more line or record; also
 * true if `fd` is no socket.
 */
bool last_byte_is_next(int fd);
/* how often to ask, because no event tells when it becomes true */
enum { LAST_BYTE_LOOK_MS = 1, LAST_BYTE_LOOK_MOST_MS = 20 };
/*
 * This many bytes before the last byte are written separately. A TCP that waits for the other side's next
 * word delays its acknowledgement, by 40 ms with Linux. But it acknowledges at once the second of two pushed
 * pieces when they are read.
 */
enum { LAST_BYTE_APART = 2 };

struct last_byte;

/*
 * Cuts the connection at until_us, a boot time of the clock, which may be over already. NULL: no timer can be
 * made (a log event tells why), and the caller must not send.
 */
struct last_byte *last_byte_of_socket(int fd, const struct clock *clock, int64_t until_us);
struct last_byte *last_byte_of_file(
	const char *path, const struct clock *clock, int64_t until_us); /* unlinks this path at until_us */
/*
 * To be called when the kernel has taken all bytes: from now on the connection is cut only if bytes are not
 * acknowledged. Takes NULL.
 */
void last_byte_handed_over(struct last_byte *last);
/*
 * For a connection that has ended: did we cut it, or the kernel, which waited in vain for an acknowledgement?
 * NULL gives false.
 */
bool last_byte_was_cut(const struct last_byte *last);
/*
 * Ends the guard and sets the pointer to NULL; to be called before the descriptor is closed. The socket gets
 * the kernel's own timeout back.
 */
void last_byte_end(struct last_byte **last);
void last_byte_forget_socket(int fd); /* the same, for code that closes the socket and knows no struct last_byte */

#endif

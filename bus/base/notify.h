/*
 * notify.h: what a process tells its supervisor (sd_notify's protocol): READY=1, STATUS=..., STOPPING=1, WATCHDOG=1
 *
 * A datagram to the socket that NOTIFY_SOCKET names; without that variable nothing happens.
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

void notify(const char *lines);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * That this process cannot go on, and why: `systemctl status` and `cartbus doctor` show it until the next start. Where systemd began
 * this process and READY=1 was never said, it waits for a while, or until it is asked to end: what cannot start is tried again
 * (Restart=always), but not every second, with as many lines.
 */
#define NOTIFY_FAILED "failed: " /* what its STATUS= begins with */
void notify_failed(const char *why);

/*
 * That work comes on. Said from the loop that does the work and from nowhere else: a loop that hangs beside a thread that lives
 * must be noticed. WATCHDOG_USEC says how long the supervisor waits (sd_watchdog_enabled(3)); a third of it is our rhythm.
 */
struct notify_alive {
	int64_t every_us, next_us; /* 0: nobody asks */
};

struct notify_alive notify_alive_asked(void);
/* Says WATCHDOG=1 if it is time. `now_us` is boot time. How long until the next time, in microseconds; -1: never. */
int64_t notify_alive(struct notify_alive *alive, int64_t now_us);

#endif

/*
 * notify.h: reports to the supervisor (sd_notify's protocol): READY=1, STATUS=..., STOPPING=1, WATCHDOG=1
 *
 * Each report is a datagram to the socket that NOTIFY_SOCKET names; without that variable nothing happens.
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

void notify(const char *lines);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * Reports that this process cannot go on, and why; `systemctl status` and `cartbus doctor` show it until the
 * next start. If systemd started the process and READY=1 was never reported, it waits for a while or until a
 * signal asks it to end. So a process that cannot start is tried again (Restart=always), but not every second
 * with as many log lines.
 */
#define NOTIFY_FAILED "failed: " /* the beginning of its STATUS= */
void notify_failed(const char *why);

/*
 * Reports that the process makes progress (WATCHDOG=1). It must be called only from the loop that does the
 * work, because a hanging loop beside a living thread must be noticed. WATCHDOG_USEC tells how long the
 * supervisor waits (sd_watchdog_enabled(3)); the process reports after each third of it.
 */
struct notify_alive {
	int64_t every_us, next_us; /* 0: the supervisor does not ask */
};

struct notify_alive notify_alive_asked(void);
/*
 * Sends WATCHDOG=1 if it is time. `now_us` is boot time. Returns the microseconds until the next time; -1:
 * never.
 */
int64_t notify_alive(struct notify_alive *alive, int64_t now_us);

#endif

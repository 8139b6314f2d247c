/*
 * notify.h: what a process tells its supervisor (sd_notify's protocol): READY=1, STATUS=..., STOPPING=1
 *
 * A datagram to the socket that NOTIFY_SOCKET names; without that variable nothing happens.
 */
#ifndef BUS_BASE_NOTIFY_H
#define BUS_BASE_NOTIFY_H

void notify(const char *lines);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/*
 * notify.h: telling systemd how we are (sd_notify's protocol, without its library)
 */
#ifndef BUS_BASE_NOTIFY_H
#define BUS_BASE_NOTIFY_H

/* "READY=1", "STATUS=...", "STOPPING=1". Nothing happens when nobody asked ($NOTIFY_SOCKET). */
void notify(const char *state);

#endif

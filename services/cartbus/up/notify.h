/* notify.h: the listening end of sd_notify's protocol (bus/base/notify.h is the other) */
#ifndef CARTBUS_UP_NOTIFY_H
#define CARTBUS_UP_NOTIFY_H

#include <sys/types.h>

int notify_open(const char *path); /* a datagram socket at `path`, or a negative errno */
/* Reads what is there; calls ready(context, pid) for each READY=1. The kernel vouches for the pid. */
void notify_hear(int fd, void (*ready)(void *context, pid_t pid), void *context);

#endif

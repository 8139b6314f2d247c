/*
 * watcher.h: notices that an owner saved a file
 */
#ifndef PLATFORM_MIRROR_WATCHER_H
#define PLATFORM_MIRROR_WATCHER_H

#include "services/platform/mirror/mirror.h"

struct watcher;

/* `shops`: the folder with one folder per shop; borrowed. What it reads goes into `into`. Never fails: without inotify it looks more often. */
struct watcher *watcher_new(const char *shops, struct mirror *into);
void watcher_free(struct watcher *watcher);
int watcher_fd(const struct watcher *watcher); /* readable when something was saved; -1: there is no inotify */
void watcher_wake(struct watcher *watcher, int64_t boot_us);
/* Looks when it is time to; returns in how many boot microseconds it wants to be called again. */
int64_t watcher_look(struct watcher *watcher, int64_t boot_us);

#endif

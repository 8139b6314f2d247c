/* watcher.h: notices when an owner saves a file */
#ifndef PLATFORM_MIRROR_WATCHER_H
#define PLATFORM_MIRROR_WATCHER_H

#include "services/platform/mirror/mirror.h"

struct watcher;

/*
 * `shops` is the folder with one folder per shop; borrowed. Its texts go into `into`. It never fails: without
 * inotify it looks more often.
 */
struct watcher *watcher_new(const char *shops, struct mirror *into);
void watcher_free(struct watcher *watcher);
int watcher_fd(const struct watcher *watcher); /* readable when a file was saved; -1: there is no inotify */
void watcher_wake(struct watcher *watcher, int64_t boot_us);
/* Looks when it is due. Returns after how many microseconds of boot time to call again. */
int64_t watcher_look(struct watcher *watcher, int64_t boot_us);

#endif

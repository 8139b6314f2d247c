/*
 * folder.h: the maildir that bounces and complaints are delivered to
 */
#ifndef MAILIN_FOLDER_H
#define MAILIN_FOLDER_H

#include "bus/actor/runtime.h"

struct folder;

/* `path` is a maildir: new/ is read, aside/ made. die()s with a remedy when it cannot be used. All but the strings is borrowed. */
struct folder *folder_new(const char *path, struct bytes key, struct runtime *runtime, const struct clock *clock);
void folder_free(struct folder *folder); /* the runtime must not call back after this. Takes NULL */
/* Looks when it is time to; returns in how many boot microseconds it wants to be called again. */
int64_t folder_look(struct folder *folder);

#endif

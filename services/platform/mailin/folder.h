/*
 * folder.h: the maildir that bounces and complaints are delivered to
 */
#ifndef PLATFORM_MAILIN_FOLDER_H
#define PLATFORM_MAILIN_FOLDER_H

#include "bus/actor/runtime/runtime.h"
#include "services/kit/keys/keyring.h"
#include "services/platform/mailin/quarantine.h"
#include "services/platform/mailin/reader.h"
#include "services/platform/mailin/routed.h"

struct folder;

struct folder_needs { /* borrowed */
	const struct keyring *keys;
	struct reader *reader;
	struct routing *routing;
	struct quarantine *quarantine;
	struct runtime *runtime;
	const struct clock *clock;
};

/* What lies in `in` (new/ of a maildir, retry/ of quarantine.h) below `path` is read, and goes or goes into `quarantine`. die()s with a remedy when it cannot be used. All but the strings is borrowed. */
struct folder *folder_new(const char *path, const char *in, const struct folder_needs *needs);
void folder_check(const char *path, const char *in); /* die()s as folder_new does where it could not be read */
void folder_free(struct folder *folder); /* neither runtime nor reader may call back after this. Takes NULL */
/* Looks when it is time to; returns in how many boot microseconds it wants to be called again. */
int64_t folder_look(struct folder *folder);

#endif

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

/*
 * Reads the mails in `in` (new/ of a maildir, retry/ of quarantine.h) below `path`. A mail that was read is
 * deleted or moved into `quarantine`. die()s with a remedy if the folder cannot be used. Everything but the
 * strings is borrowed.
 */
struct folder *folder_new(const char *path, const char *in, const struct folder_needs *needs);
void folder_check(const char *path, const char *in); /* die()s like folder_new if the folder cannot be read */
void folder_free(struct folder *folder); /* neither runtime nor reader may call back after this. Takes NULL */
/* Looks for mails when it is due. Returns after how many microseconds of boot time to call again. */
int64_t folder_look(struct folder *folder);

#endif

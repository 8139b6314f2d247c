/*
 * fetcher.h: reads the Google documents that shops name, beside everything else in the loop
 */
#ifndef PLATFORM_MIRROR_FETCHER_H
#define PLATFORM_MIRROR_FETCHER_H

#include "services/kit/google/google.h"
#include "services/platform/mirror/mirror.h"

struct fetcher;

/* What a document's export says, as a file of ours has it: without a byte order mark, lines ended by \n. Appends to `ret`. */
void fetcher_text(struct bytes body, struct buffer *ret);

/* `api` is borrowed. `into` says which documents there are (mirror_each), and takes what comes. */
struct fetcher *fetcher_new(const struct google_settings *settings, const char *api, struct mirror *into);
void fetcher_free(struct fetcher *fetcher); /* takes NULL */
int fetcher_fd(const struct fetcher *fetcher);
void fetcher_wake(struct fetcher *fetcher);
/* Asks for what is due; returns in how many boot microseconds it wants to be called again, -1: when fd is readable. */
int64_t fetcher_look(struct fetcher *fetcher, int64_t boot_us);

#endif

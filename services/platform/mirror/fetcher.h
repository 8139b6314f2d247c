/* fetcher.h: reads the Google documents that shops name, without blocking the loop */
#ifndef PLATFORM_MIRROR_FETCHER_H
#define PLATFORM_MIRROR_FETCHER_H

#include "services/kit/google/google.h"
#include "services/platform/mirror/mirror.h"

struct fetcher;

/*
 * Converts the export of a document to the form of our files: without a byte order mark, and with \n at line
 * ends. Appends to `ret`.
 */
void fetcher_text(struct bytes body, struct buffer *ret);

/* `api` is borrowed. `into` names the documents (mirror_each) and receives the texts. */
struct fetcher *fetcher_new(const struct google_settings *settings, const char *api, struct mirror *into);
void fetcher_free(struct fetcher *fetcher); /* takes NULL */
int fetcher_fd(const struct fetcher *fetcher);
void fetcher_wake(struct fetcher *fetcher);
/*
 * Requests the due documents. Returns after how many microseconds of boot time to call again; -1: when fd is
 * readable.
 */
int64_t fetcher_look(struct fetcher *fetcher, int64_t boot_us);

#endif

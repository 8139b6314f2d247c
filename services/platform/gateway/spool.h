/*
 * spool.h: what the gateway has accepted and the broker has not confirmed, on disk
 *
 * The only state besides the broker's log that must not be deleted while it holds something. Append, sync, answer; replay in
 * order; gone when confirmed.
 */
#ifndef PLATFORM_GATEWAY_SPOOL_H
#define PLATFORM_GATEWAY_SPOOL_H

#include "bus/base/bytes.h"

struct spool;

/*
 * The folder is made when it is not there. -EUCLEAN: a record that may have been acknowledged is damaged; ret_why says which
 * file and what to do. Other errors are the file system's, ret_why says where.
 */
int spool_open(const char *folder, struct spool **ret, char ret_why[400]);
void spool_close(struct spool *spool); /* takes NULL */

/* Buffers a message; nothing is promised before spool_sync has returned 0. */
void spool_add(struct spool *spool, struct bytes message);
/*
 * Writes what was added as one record and syncs it. On failure nothing of it counts and spool_last_failure says why: a full disk
 * may recover, a failed sync does not (it is unknown what the disk holds) and refuses until the process has started anew.
 */
int spool_sync(struct spool *spool);
const char *spool_trouble(const struct spool *spool);      /* it is broken until a restart: why; NULL: it is not */
const char *spool_last_failure(const struct spool *spool); /* of spool_sync, in words; "": none */

uint64_t spool_count(const struct spool *spool); /* synced and not confirmed */

/* Replay. `ticket` names the message to spool_confirmed. false: everything is on its way (or nothing is there). -errno as *ret_error. */
bool spool_next(struct spool *spool, struct buffer *ret_message, uint64_t *ret_ticket, int *ret_error);
/* Settled: the file goes when all of its messages are. */
int spool_confirmed(struct spool *spool, uint64_t ticket);
/* The session broke: replay starts again from the oldest message that is not confirmed. */
void spool_rewind(struct spool *spool);
uint64_t spool_on_its_way(const struct spool *spool); /* given out by spool_next since the last rewind, not confirmed */

#endif

/*
 * spool.h: messages on disk that the gateway has accepted and the broker has not confirmed
 *
 * Besides the broker's log it is the only state that must not be deleted while it has content. Messages are
 * appended, synced and answered; they are replayed in order, and deleted when they are confirmed.
 */
#ifndef PLATFORM_GATEWAY_SPOOL_H
#define PLATFORM_GATEWAY_SPOOL_H

#include "bus/base/bytes.h"

struct spool;

/*
 * The folder is made if it is missing. -EUCLEAN: a record that may have been acknowledged is damaged; ret_why
 * names the file and the remedy. Other errors are the file system's; ret_why tells where.
 */
int spool_open(const char *folder, struct spool **ret, char ret_why[400]);
void spool_close(struct spool *spool); /* takes NULL */

/* Buffers a message; nothing is promised before spool_sync has returned 0. */
void spool_add(struct spool *spool, struct bytes message);
/*
 * Writes the added messages as one record and syncs it. On failure none of them count, and spool_last_failure
 * gives the reason. A full disk may recover. -EMSGSIZE: they are too much for one record. A failed sync does
 * not recover, because it is unknown what is on disk; the spool then refuses everything until the process
 * restarts.
 */
int spool_sync(struct spool *spool);
/* why it is broken until a restart; NULL: it is not */
const char *spool_trouble(const struct spool *spool);
/* the last failure of spool_sync, in words; "": none */
const char *spool_last_failure(const struct spool *spool);

uint64_t spool_count(const struct spool *spool); /* synced and not confirmed */

/*
 * Gives the next message to replay. `ticket` names the message for spool_confirmed. false: all messages are
 * given out, or there are none; *ret_error: 0 or a negative errno.
 */
bool spool_next(struct spool *spool, struct buffer *ret_message, uint64_t *ret_ticket, int *ret_error);
/* Confirms a message. A file is deleted when all its messages are confirmed. */
int spool_confirmed(struct spool *spool, uint64_t ticket);
/* The session broke: replay starts again from the oldest message that is not confirmed. */
void spool_rewind(struct spool *spool);
/* messages given out by spool_next since the last rewind and not confirmed */
uint64_t spool_on_its_way(const struct spool *spool);

#endif

/*
 * committer.h: a thread that writes the broker's commits
 */
#ifndef BROKER_COMMITTER_H
#define BROKER_COMMITTER_H

#include "bus/broker/broker.h"

struct committer;

struct committer *committer_new(struct broker *broker); /* borrowed */
void committer_free(struct committer *committer);       /* takes NULL; must not be called while it works */

int committer_fd(const struct committer *committer); /* readable when a commit has been written */
void committer_start(struct committer *committer);   /* starts broker_write for the sealed batch */
bool committer_is_at_work(const struct committer *committer);
/*
 * Is the started commit written? Then the thread is free again, and ret_written is the result of
 * broker_write.
 */
bool committer_is_done(struct committer *committer, int *ret_written);
void committer_wait(struct committer *committer); /* waits until it is done */

#endif

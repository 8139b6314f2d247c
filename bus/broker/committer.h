/*
 * committer.h: a thread that writes the broker's commits
 */
#ifndef BROKER_COMMITTER_H
#define BROKER_COMMITTER_H

#include "bus/broker/broker.h"

struct committer;

struct committer *committer_new(struct broker *broker); /* borrowed */
void committer_free(struct committer *committer);       /* takes NULL; not while it is at work */

int committer_fd(const struct committer *committer); /* readable when a commit has been written */
void committer_start(struct committer *committer);   /* broker_write, of what was sealed */
bool committer_is_at_work(const struct committer *committer);
/* Has what was started been written? Then its thread is free again, and ret_written is what broker_write answered. */
bool committer_is_done(struct committer *committer, int *ret_written);
void committer_wait(struct committer *committer); /* until that */

#endif

/*
 * loop.h: the loop's own side: process.c makes it, the code that lives in it uses process.h
 */
#ifndef ACTOR_PROCESS_LOOP_H
#define ACTOR_PROCESS_LOOP_H

#include "bus/actor/process.h"

struct activity; /* watchdog.h */

struct loop *loop_new(struct link *link, struct effect_driver *const *drivers, struct activity *activity);
void loop_free(struct loop *loop); /* takes NULL; what it was made with is borrowed */
/* Calls what is to be called before a wait; how long the wait may last at most, -1: any. */
int64_t loop_prepare(struct loop *loop);
/* Waits and calls what is ready. */
void loop_wait(struct loop *loop, int64_t timeout_us);
bool loop_stopped(const struct loop *loop);

#endif

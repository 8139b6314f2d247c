/*
 * loop.h: the loop's inner interface: process.c makes and runs the loop; code that runs in it uses process.h
 */
#ifndef ACTOR_PROCESS_LOOP_H
#define ACTOR_PROCESS_LOOP_H

#include "bus/actor/process.h"

struct activity; /* watchdog.h */

struct loop *loop_new(struct link *link, struct effect_driver *const *drivers, struct activity *activity);
void loop_free(struct loop *loop); /* takes NULL; the link, drivers and activity are borrowed and stay */
/* Calls the functions of loop_before_wait. Returns the longest wait in microseconds; -1: no limit. */
int64_t loop_prepare(struct loop *loop);
/* Waits at most timeout_us, then calls the functions whose descriptors are ready. */
void loop_wait(struct loop *loop, int64_t timeout_us);
bool loop_stopped(const struct loop *loop);

#endif

/*
 * affinity.h: threads that wake each other, on one processor while there is little to do
 *
 * To wake a thread on another processor that is idle takes an interrupt and 10 to 20 microseconds, on a virtual machine more; on the
 * same one it is a switch of 3. The scheduler prefers the idle one, and with much to do it is right.
 */
#ifndef BUS_BASE_AFFINITY_H
#define BUS_BASE_AFFINITY_H

struct affinity;

/* This thread, and those of its process whose names begin with `name`. They stay where they are for now. */
struct affinity *affinity_new(const char *name);
void affinity_free(struct affinity *affinity); /* takes NULL; the threads may run anywhere again */

/* Said by this thread before each piece of work. */
void affinity_light_work(struct affinity *affinity);
void affinity_heavy_work(struct affinity *affinity);

#endif

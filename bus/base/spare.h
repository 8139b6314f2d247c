/*
 * spare.h: one descriptor that is kept free, to turn away a client when no other descriptor is left
 *
 * Without it that client would wait in the listening socket's queue, which stays readable, and its server would turn without end.
 */
#ifndef BASE_SPARE_H
#define BASE_SPARE_H

#include <stdbool.h>

struct spare {
	int fd; /* -1: it is not there */
};

void spare_keep(struct spare *spare); /* takes it, if it is not there and one is free. Before the first time: fd = -1 */
/* Sets it free: the next accept() may use it. spare_keep follows, after that client's descriptor is closed. false: there is none. */
bool spare_lend(struct spare *spare);

#endif

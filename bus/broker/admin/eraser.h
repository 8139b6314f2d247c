/* eraser.h: a thread that has the store rewrite its files, so that the broker goes on meanwhile */
#ifndef BROKER_ADMIN_ERASER_H
#define BROKER_ADMIN_ERASER_H

#include "bus/broker/admin/erase.h"

/* `exactly`: the spans tell all; else the small families are rewritten whole. */
struct eraser *eraser_new(struct store *store, const struct erase_span *spans, bool exactly);
bool eraser_is_done(struct eraser *eraser, int *ret_result);
void eraser_free(struct eraser *eraser); /* takes NULL; waits for it */

#endif

/*
 * summarizer.h: the service that tells the owner, how a month or a week went
 */
#ifndef CARTS_SUMMARIZER_SUMMARIZER_H
#define CARTS_SUMMARIZER_SUMMARIZER_H

#include "bus/actor/service.h"

extern const struct service summarizer;

/* Where the files go: <folder>/<shop>/summary-<month or week>.txt. Called once, before the first turn. */
void summarizer_set_up(const char *folder);

#endif

/*
 * tally.h: what became of each step, in history and in the rehearsal
 */
#ifndef CARTS_REHEARSAL_TALLY_H
#define CARTS_REHEARSAL_TALLY_H

#include "services/carts/rehearsal/rehearsal.h"

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally); /* takes NULL */
/* Notes a reminder.* or an audit, and passes over all else; `really`: it is history's. */
void tally_hear(struct tally *tally, const struct message_meta *said, struct bytes payload, bool really);
void tally_each(const struct tally *tally, rehearsed_fn *each, void *context);

#endif

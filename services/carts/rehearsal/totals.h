/* totals.h: the result of each step, in history and in the rehearsal */
#ifndef CARTS_REHEARSAL_TOTALS_H
#define CARTS_REHEARSAL_TOTALS_H

#include "services/carts/rehearsal/rehearsal.h"

struct totals;

struct totals *totals_new(void);
void totals_free(struct totals *totals); /* takes NULL */
/* Notes a reminder.* or an audit, and ignores all else. `really`: the message comes from history. */
void totals_hear(struct totals *totals, const struct message_meta *said, struct bytes payload, bool really);
void totals_each(const struct totals *totals, rehearsed_fn *each, void *context);

#endif

/* idem.h: has this been said before? The idempotency keys of the log, and of what is staged and not committed yet */
#ifndef BROKER_LOG_IDEM_H
#define BROKER_LOG_IDEM_H

#include "bus/broker/core.h"

struct idem *idem_new(void);
void idem_free(struct idem *idem);

/* The number of the message under this key; 0: there is none, or it is too old. ret_same: it is the same, byte for byte. */
uint64_t idem_find(struct broker *broker, int topic, const Envelope *envelope, struct bytes message, bool *ret_same);
void idem_stage(struct broker *broker, int topic, const Envelope *envelope, struct bytes message, uint64_t seq);
void idem_key(struct broker *broker, int topic, const Envelope *envelope, struct buffer *ret); /* appends */
/* From now on `message` is the text under this key. */
void idem_renew(struct broker *broker, struct store_batch *batch, const struct logged *logged, const Envelope *envelope,
	struct bytes message);
void idem_committed(struct broker *broker);
void idem_sweep(struct broker *broker);

#endif

/* idem.h: finds repeated messages by the idempotency keys of the log and of staged messages */
#ifndef BROKER_LOG_IDEM_H
#define BROKER_LOG_IDEM_H

#include "bus/broker/core.h"

struct idem *idem_new(void);
void idem_free(struct idem *idem);

/*
 * The number of the message under this key; 0: there is none, or it is too old. ret_same: both messages are
 * equal, byte for byte.
 */
uint64_t idem_find(struct broker *broker, int topic, const Envelope *envelope, struct bytes message, bool *ret_same);
void idem_stage(struct broker *broker, int topic, const Envelope *envelope, struct bytes message, uint64_t seq);
void idem_key(struct broker *broker, int topic, const Envelope *envelope, struct buffer *ret); /* appends */
/* Makes `message` the new text under this key. */
void idem_renew(struct broker *broker, struct store_batch *batch, const struct logged *logged, const Envelope *envelope,
	struct bytes message);
void idem_committed(struct broker *broker);
void idem_sweep(struct broker *broker);

#endif

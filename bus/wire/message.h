/*
 * message.h: an envelope and a payload, as on the wire and in the log
 *
 * u16 length of the Envelope | Envelope | payload. The sender writes it once; it is stored and forwarded
 * unchanged.
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "bus.pb.h"
#include "bus/base/bytes.h"

/* The broker's own topics: they always exist and are kept for ever. */
#define TOPIC_DEAD_LETTER "dead.letter"
#define TOPIC_FORGOTTEN "log.forgotten" /* projected to every service that remembers anything: bus.proto, Forgotten */

/* appends; -EMSGSIZE: too large */
int message_write(const Envelope *envelope, struct bytes payload, struct buffer *ret);
/*
 * -EBADMSG: the bytes are malformed, a name is not printable UTF-8, or a required name (topic, shop) is
 * empty.
 */
int message_read(struct bytes message, Envelope *ret_envelope, struct bytes *ret_payload);

#endif

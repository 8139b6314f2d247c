/*
 * message.h: an envelope and a payload, as they lie on the wire and in the log
 *
 * u16 length of the Envelope | Envelope | payload. Written once by the sayer, stored and handed on verbatim.
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "bus.pb.h"
#include "bus/base/bytes.h"

/* The broker's own topics: always there, kept for ever. */
#define TOPIC_DEAD_LETTER "dead.letter"
#define TOPIC_FORGOTTEN "log.forgotten" /* projected to every service that remembers anything: bus.proto, Forgotten */

int message_write(const Envelope *envelope, struct bytes payload, struct buffer *ret); /* appends; -EMSGSIZE */
/* -EBADMSG: it does not add up, a name is not printable UTF-8, or a required name (topic, shop) is empty. */
int message_read(struct bytes message, Envelope *ret_envelope, struct bytes *ret_payload);

#endif

/*
 * codec.h: protobuf for what lies on every message's way: heads of items, envelopes, what services say, and their rows
 *
 * The bytes and the structs are nanopb's; so is the description they are derived from, once. nanopb itself unpacks its
 * descriptors anew for each field of each message, which was a third of the broker's time and a fifth of a service's.
 */
#ifndef WIRE_CODEC_H
#define WIRE_CODEC_H

#include "bus/base/bytes.h"
#include <pb.h>

struct codec;

enum { CODEC_BORROWED_MAX = 512 * 1024 }; /* bytes of a borrowed field (proto/borrowed.h) */

const struct codec *codec_of(const pb_msgdesc_t *fields);
size_t codec_most(const struct codec *codec);                      /* no message of it is longer */
size_t codec_size(const struct codec *codec, const void *message); /* of this one, encoded */
/* `to` has room for codec_size, or codec_most; how many bytes were written. */
size_t codec_write(const struct codec *codec, const void *message, uint8_t *to);
/*
 * -EBADMSG: it does not add up, or does not fit. What is not known is skipped; what is missing is zero, but for the places in a
 * list behind its last one. Borrowed fields point into `from`.
 */
int codec_read(const struct codec *codec, struct bytes from, void *ret_message);

#endif

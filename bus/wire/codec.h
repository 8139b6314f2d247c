/*
 * codec.h: fast protobuf for the messages on the hot path: heads of items, envelopes, payloads and rows
 *
 * The bytes and the structs are those of nanopb. A codec is derived once from nanopb's descriptor. nanopb
 * itself unpacks its descriptors again for each field of each message; that took a third of the broker's time
 * and a fifth of a service's.
 */
#ifndef WIRE_CODEC_H
#define WIRE_CODEC_H

#include "bus/base/bytes.h"
#include <pb.h>

struct codec;

enum { CODEC_BORROWED_MAX = 512 * 1024 }; /* bytes of a borrowed field (proto/borrowed.h) */

const struct codec *codec_of(const pb_msgdesc_t *fields);
size_t codec_most(const struct codec *codec); /* the largest encoded size in bytes */
/* the encoded size of this message in bytes */
size_t codec_size(const struct codec *codec, const void *message);
/* Returns the number of bytes written. `to` must have room for codec_size or codec_most bytes. */
size_t codec_write(const struct codec *codec, const void *message, uint8_t *to);
/*
 * -EBADMSG: the bytes are malformed, or a value does not fit its field. Unknown fields are skipped. Missing
 * fields are zero, except list places after the last element, which are undefined. Borrowed fields point into
 * `from`.
 */
int codec_read(const struct codec *codec, struct bytes from, void *ret_message);

#endif

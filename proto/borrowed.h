/*
 * borrowed.h: a field of a message that borrows its bytes
 *
 * nanopb's own texts are arrays of at most 65535 bytes inside the struct (its sizes have 16 bits), whether they are used or not. A field with
 *     Message callback_function:"borrowed_field"
 *     Message.field type:FT_CALLBACK callback_datatype:"struct bytes"
 * in its .options is a struct bytes instead. bus/wire/codec.c reads and writes it by its tables. Reading points it into the bytes that were
 * read: they must outlive the struct. It ends without a NUL, and has at most CODEC_BORROWED_MAX bytes. Writing copies what it points at;
 * empty is not there. nanopb itself writes the field and refuses to read it, since it may hand over a copy on its own stack: where
 * messages of any kind are read, topic_read (bus/actor/topic.h) or codec_read does it.
 */
#ifndef PROTO_BORROWED_H
#define PROTO_BORROWED_H

#include "bus/base/bytes.h"
#include <pb.h>

/* What nanopb calls for such a field. */
bool borrowed_field(pb_istream_t *from, pb_ostream_t *to, const pb_field_t *field);

#endif

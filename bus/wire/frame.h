/*
 * frame.h: many messages in one frame, on every hop
 *
 * A frame is  u32 length of head | FrameHead  and then, per item,  u32 length of head | u32 length of body | head | body.
 * Lengths are little endian. Heads are the messages of proto/bus.proto; a body is a message (message.h) or empty.
 *
 * Promises: a reader never reads past the given bytes, and refuses malformed frames (-EBADMSG).
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include "bus.pb.h"
#include "bus/base/bytes.h"

enum {
	/* of a whole frame; the sockets accept a little more, to report the sender */
	FRAME_BYTES_MAX = 4 << 20,
	MESSAGE_BYTES_MAX = 1 << 20, /* of one message, envelope included */
	TURN_FACTS_MAX = 4096,       /* of one turn; they travel in one frame */
};

struct frame_writer {
	struct buffer items;
	uint32_t count;
};

/* `fields` describes `head` (Up_fields or Down_fields). */
void frame_add(struct frame_writer *writer, const pb_msgdesc_t *fields, const void *head, struct bytes body);
/* also clears the writer */
void frame_finish(struct frame_writer *writer, uint64_t epoch, uint64_t number, struct buffer *ret);
/* The same in the writer's own memory: borrowed until the writer is used again. */
struct bytes frame_close(struct frame_writer *writer, uint64_t epoch, uint64_t number);
void frame_writer_clear(struct frame_writer *writer);
void frame_writer_free(struct frame_writer *writer);

struct frame_reader {
	FrameHead head;
	const uint8_t *at, *end;
	uint32_t left;
};

int frame_open(struct bytes frame, struct frame_reader *ret);
/*
 * 0: the next item. -ENODATA: there are no more. -EBADMSG: the frame is malformed. The body is borrowed from
 * the frame.
 */
int frame_next(struct frame_reader *reader, const pb_msgdesc_t *fields, void *ret_head, struct bytes *ret_body);

/* A control message is one Control without a frame. */
int control_encode(const Control *control, struct buffer *ret);
int control_decode(struct bytes bytes, Control *ret);

#endif

/*
 * frame.c: many messages in one frame
 *
 * Owns:      the layout that frame.h describes.
 * Promises:  reads only inside the given bytes; a malformed frame is -EBADMSG, never a guess.
 * Fails by:  -EBADMSG on input from outside. Frames that this process encodes always fit: anything else is a
 *            bug (assert).
 * Read next: message.c
 */
#include "bus/wire/frame.h"
#include "bus/wire/codec.h"
#include <assert.h>
#include <errno.h>
#include <pb_decode.h>
#include <pb_encode.h>

enum {
	ITEM_PREFIX = 8,          /* two lengths */
	LENGTH = 4,               /* before the head */
	FRAME_HEAD_ROOM = 64,     /* more than the largest FrameHead and its length */
	ITEM_LEAST = ITEM_PREFIX, /* an item of an empty head and an empty body */
};

static void put_u32_at(uint8_t *at, size_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* The head is written last and stands first: the items leave room for it, so that they need not move. */
static void begin(struct frame_writer *writer)
{
	if (writer->items.len > 0)
		return;
	buffer_grow(&writer->items, FRAME_HEAD_ROOM);
	writer->items.len = FRAME_HEAD_ROOM;
}

void frame_add(struct frame_writer *writer, const pb_msgdesc_t *fields, const void *head, struct bytes body)
{
	const struct codec *codec = codec_of(fields);
	uint8_t *at;
	size_t len;

	begin(writer);
	at = buffer_grow(&writer->items, ITEM_PREFIX + codec_most(codec) + body.len);
	len = codec_write(codec, head, at + ITEM_PREFIX);
	put_u32_at(at, len);
	put_u32_at(at + 4, body.len);
	writer->items.len += ITEM_PREFIX + len;
	if (body.len > 0)
		buffer_add(&writer->items, body.data, body.len);
	writer->count++;
}

struct bytes frame_close(struct frame_writer *writer, uint64_t epoch, uint64_t number)
{
	FrameHead head = { .epoch = epoch, .number = number, .items = writer->count };
	uint8_t encoded[FRAME_HEAD_ROOM - LENGTH];
	size_t len = codec_write(codec_of(FrameHead_fields), &head, encoded), all;
	uint8_t *at;

	begin(writer);
	all = writer->items.len - FRAME_HEAD_ROOM + LENGTH + len;
	at = writer->items.data + FRAME_HEAD_ROOM - LENGTH - len;
	put_u32_at(at, len);
	memcpy(at + LENGTH, encoded, len);
	frame_writer_clear(writer);
	return BYTES(at, all);
}

void frame_finish(struct frame_writer *writer, uint64_t epoch, uint64_t number, struct buffer *ret)
{
	struct bytes frame = frame_close(writer, epoch, number);

	buffer_clear(ret);
	buffer_add(ret, frame.data, frame.len);
}

void frame_writer_clear(struct frame_writer *writer)
{
	buffer_clear(&writer->items);
	writer->count = 0;
}

void frame_writer_free(struct frame_writer *writer)
{
	buffer_free(&writer->items);
	writer->count = 0;
}

int frame_open(struct bytes frame, struct frame_reader *ret)
{
	const uint8_t *at = frame.data;
	size_t head_len;

	*ret = (struct frame_reader){ 0 };
	if (frame.len < 4 || frame.len > FRAME_BYTES_MAX)
		return -EBADMSG;
	head_len = get_u32(at);
	if (head_len > frame.len - 4)
		return -EBADMSG;
	if (codec_read(codec_of(FrameHead_fields), BYTES(at + 4, head_len), &ret->head) < 0)
		return -EBADMSG;
	ret->at = at + 4 + head_len;
	ret->end = at + frame.len;
	ret->left = ret->head.items;
	if (ret->left > (size_t)(ret->end - ret->at) / ITEM_LEAST)
		return -EBADMSG;
	return 0;
}

int frame_next(struct frame_reader *reader, const pb_msgdesc_t *fields, void *ret_head, struct bytes *ret_body)
{
	size_t rest = (size_t)(reader->end - reader->at);
	size_t head_len, body_len;

	if (reader->left == 0)
		return rest == 0 ? -ENODATA : -EBADMSG;
	if (rest < ITEM_PREFIX)
		return -EBADMSG;
	head_len = get_u32(reader->at);
	body_len = get_u32(reader->at + 4);
	rest -= ITEM_PREFIX;
	if (head_len > rest || body_len > rest - head_len)
		return -EBADMSG;
	if (codec_read(codec_of(fields), BYTES(reader->at + ITEM_PREFIX, head_len), ret_head) < 0)
		return -EBADMSG;
	*ret_body = BYTES(reader->at + ITEM_PREFIX + head_len, body_len);
	reader->at += ITEM_PREFIX + head_len + body_len;
	reader->left--;
	return 0;
}

int control_encode(const Control *control, struct buffer *ret)
{
	pb_ostream_t stream;
	size_t size;
	uint8_t *at;

	buffer_clear(ret);
	if (!pb_get_encoded_size(&size, Control_fields, control))
		return -EMSGSIZE;
	at = buffer_grow(ret, size);
	stream = pb_ostream_from_buffer(at, size);
	if (!pb_encode(&stream, Control_fields, control))
		return -EMSGSIZE;
	ret->len += stream.bytes_written;
	return 0;
}

int control_decode(struct bytes bytes, Control *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(bytes.data, bytes.len);

	return pb_decode(&stream, Control_fields, ret) ? 0 : -EBADMSG;
}

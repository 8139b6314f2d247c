/*
 * fuzz_frame.c: any bytes are a frame or are refused; a body that is handed out lies inside the frame
 */
#include "bus/wire/frame.h"
#include "tests/fuzz/fuzz.h"
#include <errno.h>

static void read_as(struct bytes frame, const pb_msgdesc_t *fields, void *head)
{
	struct frame_reader reader;
	struct bytes body;
	const uint8_t *start = frame.data, *end = start + frame.len;
	int r = frame_open(frame, &reader);
	while (r == 0 && (r = frame_next(&reader, fields, head, &body)) == 0)
		MUST(!body.len ||
			((const uint8_t *)body.data >= start && (const uint8_t *)body.data + body.len <= end));
	MUST(r == -ENODATA || r == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static Up up;
	static Down down;
	static Control control;
	read_as(BYTES(data, len), Up_fields, &up);
	read_as(BYTES(data, len), Down_fields, &down);
	control_decode(BYTES(data, len), &control);
	return 0;
}

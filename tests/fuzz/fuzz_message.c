/*
 * fuzz_message.c: any bytes are a message or are refused; what was read is written and read back the same
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static Envelope envelope, again;
	struct bytes payload, payload_again;
	_cleanup_(buffer_free) struct buffer written = { 0 };
	if (message_read(BYTES(data, len), &envelope, &payload))
		return 0;
	MUST(*envelope.topic && *envelope.shop);
	MUST(text_is_utf8(bytes_of(envelope.topic)) && !text_has_control(envelope.topic));
	MUST(text_is_utf8(bytes_of(envelope.key)) && !text_has_control(envelope.key));
	MUST(payload.len <= len);

	MUST(message_write(&envelope, payload, &written) == 0);
	MUST(message_read(buffer_bytes(&written), &again, &payload_again) == 0);
	MUST(bytes_equal(payload, payload_again));
	MUST(strcmp(envelope.topic, again.topic) == 0 && strcmp(envelope.key, again.key) == 0);
	return 0;
}

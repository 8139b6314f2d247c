/*
 * fuzz_voice.c: any text is a voice or is refused with its place
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/kit/voice.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = memory_copy(BYTES(data, len));
	struct voice *voice = NULL;
	struct voice_error error = { 0 };
	if (voice_parse(text, &voice, &error)) {
		MUST(error.line >= 1 && error.column >= 1 && *error.text);
		return 0;
	}
	for (int step = 1; step <= 2; step++)
		MUST(voice_mail(voice, step) && voice_mail(voice, step)->subject && voice_mail(voice, step)->body);
	voice_free(voice);
	return 0;
}

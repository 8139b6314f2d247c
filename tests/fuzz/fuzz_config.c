/*
 * fuzz_config.c: any text is a configuration or is refused with a reason; what was read is dumped and reads back the same
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/config.h"
#include "bus/base/memory.h"
#include "tests/fuzz/fuzz.h"

DEFINE_CLEANUP(struct config *, config_free)

static const struct config_key keys[] = {
	{ "gateway", "port", "8080", "", false },
	{ "gateway", "slow", "500ms", "", false },
	{ "topic", "class", NULL, "", false },
	{ "peer", "hears", NULL, "", true },
	{ 0 },
};

static void ask(const struct config *config)
{
	struct config_error error = { { 0 } };
	int64_t number;
	if (config_get_int(config, "gateway", NULL, "port", 1, 65535, &number, &error) == 0)
		MUST(number >= 1 && number <= 65535);
	if (config_get_span(config, "gateway", NULL, "slow", &number, &error) == 0)
		MUST(number >= 0);
	else
		MUST(*error.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = memory_copy(BYTES(data, len));
	_cleanup_(config_freep) struct config *config = NULL, *again = NULL;
	_cleanup_(buffer_free) struct buffer first = { 0 }, second = { 0 };
	struct config_error error = { { 0 } };
	if (config_parse(text, "input", keys, &config, &error)) {
		MUST(*error.text && !config);
		return 0;
	}
	ask(config);
	config_dump(config, &first);
	MUST(config_parse(buffer_text(&first), "dump", keys, &again, &error) == 0);
	config_dump(again, &second);
	MUST(bytes_equal(buffer_bytes(&first), buffer_bytes(&second)));
	return 0;
}

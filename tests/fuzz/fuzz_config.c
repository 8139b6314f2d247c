/*
 * fuzz_config.c: any text is a configuration or is refused with a reason; what was read is dumped and reads back the same
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "bus/base/memory.h"
#include "tests/fuzz/fuzz.h"

DEFINE_CLEANUP(struct config *, config_free)

static const struct config_key keys[] = {
	{ "gateway", "port", "8080", "", .kind = CONFIG_PORT },
	{ "gateway", "slow", "500ms", "", .kind = CONFIG_SPAN(0, 365 * US_PER_DAY) },
	{ "gateway", "rate", "1", "", .kind = CONFIG_REAL(0.5, 100) },
	{ "gateway", "tls", "starttls", "", .kind = CONFIG_WORD("starttls none"), .needs = "none: host" },
	{ "gateway", "url", NULL, "", .kind = CONFIG_URL("http https", 100) },
	{ "gateway", "host", NULL, "", .kind = CONFIG_HOST },
	{ "gateway", "ip", NULL, "", .kind = CONFIG_IP },
	{ "topic", "class", NULL, "", .named = true, .kind = CONFIG_TEXT(200) },
	{ "peer", "hears", NULL, "", .repeated = 3, .named = true, .kind = CONFIG_FILE },
	CONFIG_END,
};

static void ask(const struct config *config)
{
	int64_t port = config_number(config, "gateway", NULL, "port");
	int64_t slow_us = config_number(config, "gateway", NULL, "slow");
	double rate = config_real(config, "gateway", NULL, "rate");
	int tls = config_word(config, "gateway", NULL, "tls");

	MUST(port >= 1 && port <= 65535);
	MUST(slow_us >= 0 && slow_us <= 365 * US_PER_DAY);
	MUST(rate >= 0.5 && rate <= 100);
	MUST(tls == 0 || tls == 1);
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

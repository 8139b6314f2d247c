/*
 * fuzz_rules.c: any text is a set of rules or is refused with its place; accepted rules read back as the same rules
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/kit/rules.h"
#include "tests/fuzz/fuzz.h"

static void must_be_same(const struct rules *a, const struct rules *b)
{
	MUST(memcmp(a->waits, b->waits, sizeof(a->waits)) == 0);
	MUST(a->threshold_count == b->threshold_count && a->rate_count == b->rate_count);
	for (int i = 0; i < a->threshold_count; i++) {
		MUST(strcmp(a->thresholds[i].currency, b->thresholds[i].currency) == 0);
		MUST(a->thresholds[i].small_below == b->thresholds[i].small_below);
		MUST(a->thresholds[i].big_above == b->thresholds[i].big_above);
	}
	MUST(a->has_quiet == b->has_quiet && rules_window_us(a) == rules_window_us(b));
	MUST(!a->has_quiet ||
		(a->quiet_from_minute == b->quiet_from_minute && a->quiet_to_minute == b->quiet_to_minute));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = memory_copy(BYTES(data, len));
	_cleanup_(buffer_free) struct buffer printed = { 0 };
	static struct rules rules, again;
	struct rules_error error = { 0 };
	if (rules_parse(text, "USD", &rules, &error)) {
		MUST(error.line >= 1 && error.column >= 1 && *error.text);
		return 0;
	}
	for (int size = SIZE_SMALL; size <= SIZE_BIG; size++)
		MUST(rules.waits[size].first_us > 0 && rules.waits[size].second_us > rules.waits[size].first_us);
	rules_choose(&rules, 4000, "USD");
	rules_choose(&rules, INT64_MAX, "EUR");
	rules_next_sending_us(&rules, "Europe/Madrid", INT64_C(1700000000000000));

	rules_print(&rules, &printed);
	MUST(rules_parse(buffer_text(&printed), "USD", &again, &error) == 0);
	must_be_same(&rules, &again);
	return 0;
}

/*
 * fuzz_rules.c: any text is a set of rules or is refused with its place; accepted rules read back as the same rules
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/kit/rules/rules.h"
#include "tests/fuzz/fuzz.h"

/* By their fields: what lies between these says nothing. */
static bool same_waits(const struct rules_waits *a, const struct rules_waits *b)
{
	return a->mails == b->mails && a->first_us == b->first_us && a->second_us == b->second_us;
}

static bool same_caps(const struct rules *a, const struct rules *b)
{
	for (int i = 0; i < a->cap_count; i++)
		if (a->caps[i].mails != b->caps[i].mails || a->caps[i].period_us != b->caps[i].period_us)
			return false;
	return a->cap_count == b->cap_count;
}

static void must_be_same(const struct rules *a, const struct rules *b)
{
	MUST(a->size_count == b->size_count && a->edge_count == b->edge_count && a->rate_count == b->rate_count);
	for (int i = 0; i < a->size_count; i++) {
		MUST(a->sizes[i].name == b->sizes[i].name && a->sizes[i].is_rest == b->sizes[i].is_rest);
		MUST(same_waits(&a->sizes[i].waits, &b->sizes[i].waits));
	}
	for (int i = 0; i < a->edge_count; i++) {
		MUST(strcmp(a->edges[i].currency, b->edges[i].currency) == 0);
		MUST(memcmp(a->edges[i].from, b->edges[i].from, (size_t)a->size_count * sizeof(a->edges[i].from[0])) ==
			0);
	}
	MUST(same_waits(&a->rest, &b->rest) && a->rest_name == b->rest_name);
	MUST(a->quiet_count == b->quiet_count && memcmp(a->quiets, b->quiets, sizeof(a->quiets)) == 0);
	MUST(same_caps(a, b));
	MUST(rules_window_us(a) == rules_window_us(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = memory_copy(BYTES(data, len));
	static const char *const locales[] = { "en", "de", "fr", "es", "it", "nl", "pt", "ja", "ar", "hi" };
	_cleanup_(buffer_free) struct buffer printed = { 0 };
	static struct rules rules, again;
	struct rules_error error = { 0 };
	if (rules_parse(text, "USD", &rules, &error)) {
		MUST(error.line >= 1 && error.column >= 1 && *error.text);
		return 0;
	}
	for (int i = 0; i < rules.size_count; i++) {
		const struct rules_waits *waits = &rules.sizes[i].waits;
		MUST(waits->mails >= 0 && waits->mails <= 2 && (waits->first_us > 0) == (waits->mails > 0));
		MUST(waits->mails == 2 ? waits->second_us > waits->first_us : waits->second_us == 0);
	}
	rules_choose(&rules, 4000, "USD");
	rules_choose(&rules, INT64_MAX, "EUR");
	rules_next_sending_us(&rules, "Europe/Madrid", INT64_C(1700000000000000));

	for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
		buffer_clear(&printed);
		rules_print(&rules, locales[i], &printed);
		MUST(rules_parse(buffer_text(&printed), "USD", &again, &error) == 0);
		must_be_same(&rules, &again);
	}
	return 0;
}

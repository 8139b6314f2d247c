/*
 * rules_print.c: the rules as they were understood, in sentences that rules_parse reads back as the same rules
 */
#include "bus/base/bytes.h"
#include "services/kit/money.h"
#include "services/kit/rules_text.h"
#include <stdio.h>

static void print_bounds(const struct rules *rules, enum cart_size size, struct buffer *ret)
{
	char shown[40];

	if (size == SIZE_MEDIUM)
		return;
	buffer_add_text(ret, size == SIZE_SMALL ? " (under " : " (over ");
	for (int i = 0; i < rules->threshold_count; i++) {
		const struct rules_threshold *threshold = &rules->thresholds[i];
		money_plain(size == SIZE_SMALL ? threshold->small_below : threshold->big_above, threshold->currency,
			shown, sizeof(shown));
		buffer_printf(ret, "%s%s %s", i ? " or " : "", shown, threshold->currency);
	}
	buffer_add_text(ret, ")");
}

static void print_size(const struct rules *rules, enum cart_size size, struct buffer *ret)
{
	static const char *const names[] = { "Small", "Medium", "Big" };
	char first[40], second[40];

	buffer_printf(ret, "%s carts", names[size]);
	print_bounds(rules, size, ret);
	print_span(rules->waits[size].first_us, first, sizeof(first));
	print_span(rules->waits[size].second_us, second, sizeof(second));
	buffer_printf(ret, ": remind after %s, then after %s.\n", first, second);
}

void rules_print(const struct rules *rules, struct buffer *ret)
{
	char window[40];

	for (int size = SIZE_SMALL; size <= SIZE_BIG; size++)
		print_size(rules, (enum cart_size)size, ret);
	for (int i = 0; i < rules->rate_count; i++)
		buffer_printf(
			ret, "1 %s is %.12g %s.\n", rules->rates[i].from, rules->rates[i].rate, rules->rates[i].to);
	if (rules->has_quiet)
		buffer_printf(ret, "Quiet hours: %02d:%02d to %02d:%02d.\n", rules->quiet_from_minute / 60,
			rules->quiet_from_minute % 60, rules->quiet_to_minute / 60, rules->quiet_to_minute % 60);
	if (rules->window_us == 0)
		return; /* written out it would count between the two mails of one cart, too */
	print_span(rules->window_us, window, sizeof(window));
	buffer_printf(ret, "At most one mail per shopper every %s.\n", window);
}

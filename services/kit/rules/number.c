/*
 * number.c: numbers as owners write them: "1,000.50", "1.000,50", "1'000", "1,00,000"
 *
 * Promises:  a number that can be read in more than one way is not read.
 * Read next: items.c
 */
#include "services/kit/rules/text.h"
#include <string.h>

static bool groups_are_whole(const char *raw, char group, const char *end)
{
	const char *at = strchr(raw, group);

	if (!at || at >= end || at == raw || at - raw > 3 || *raw == '0')
		return false;
	while (at && at < end) {
		const char *next = strchr(at + 1, group);
		const char *stop = next && next < end ? next : end;
		size_t len = (size_t)(stop - at - 1);
		bool indian = group == ',' && next && next < end && len == 2;
		if (len != 3 && !indian)
			return false;
		at = next;
	}
	return true;
}

static int count_of(const char *raw, char c)
{
	int count = 0;

	for (; *raw; raw++)
		count += *raw == c;
	return count;
}

/*
 * The sign that is the decimal point of `raw`; 0: none; '?': unclear. `comma`: the language's decimal point
 * is a comma.
 */
static char decimal_point(const char *raw, bool comma)
{
	const char *last_dot = strrchr(raw, '.'), *last_comma = strrchr(raw, ',');

	if (strchr(raw, ':'))
		return ':';
	if (last_dot && last_comma)
		return last_dot > last_comma ? '.' : ',';
	const char *only = last_dot ? last_dot : last_comma;
	if (!only)
		return 0;
	if (count_of(raw, *only) > 1)
		return 0;
	bool groups = strlen(only + 1) == 3 && groups_are_whole(raw, *only, raw + strlen(raw));
	if (*only == (comma ? ',' : '.'))
		return *only;
	if (groups)
		return 0;
	return *only == '.' || comma ? *only : '?';
}

bool number_plain(const char *raw, bool comma, char ret[32])
{
	char point = decimal_point(raw, comma);
	const char *end = raw + strlen(raw), *at = point ? strrchr(raw, point) : end;
	static const char groups[] = { '\'', '.', ',' };
	size_t len = 0;

	*ret = '\0';
	if (point == '?' || !*raw || (point && count_of(raw, point) > 1))
		return false;
	for (size_t i = 0; i < sizeof(groups); i++)
		if (groups[i] != point && strchr(raw, groups[i]) && !groups_are_whole(raw, groups[i], at))
			return false;
	for (const char *c = raw; *c; c++) {
		if (len + 1 >= 32)
			return false;
		if (c == at)
			ret[len++] = '.';
		else if (*c >= '0' && *c <= '9')
			ret[len++] = *c;
	}
	ret[len] = '\0';
	return true;
}

int64_t number_thousandths(const char *decimal)
{
	int64_t value = 0;
	int decimals = -1;

	for (; *decimal; decimal++) {
		if (*decimal == '.') {
			decimals = 0;
			continue;
		}
		value = value * 10 + (*decimal - '0');
		decimals += decimals >= 0;
		if (decimals > 3 || value > (int64_t)NUMBER_MAX * THOUSANDTHS)
			return -1;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		value *= 10;
	return value > (int64_t)NUMBER_MAX * THOUSANDTHS ? -1 : value;
}

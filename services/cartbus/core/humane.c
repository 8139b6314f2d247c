/* humane.c: short numbers */
#include "services/cartbus/core/humane.h"
#include "bus/base/clock.h"
#include <stdio.h>

static const char *scaled(double number, double step, const char *const *units, char ret[HUMANE_ROOM])
{
	while (number >= step && units[1])
		number /= step, units++;
	snprintf(ret, HUMANE_ROOM, number < 99.95 ? "%.1f%s" : "%.0f%s", number, *units);
	return ret;
}

const char *humane_count(double number, char ret[HUMANE_ROOM])
{
	static const char *const units[] = { "", "k", "M", "G", "T", NULL };

	if (number >= 10000)
		return scaled(number, 1000, units, ret);
	snprintf(ret, HUMANE_ROOM, "%.0f", number);
	return ret;
}

const char *humane_rate(double per_second, char ret[HUMANE_ROOM])
{
	if (per_second < 0)
		snprintf(ret, HUMANE_ROOM, "-");
	else if (per_second > 0 && per_second < 9.95)
		snprintf(ret, HUMANE_ROOM, "%.1f", per_second < 0.05 ? 0.1 : per_second);
	else
		humane_count(per_second, ret);
	return ret;
}

const char *humane_bytes(double bytes, char ret[HUMANE_ROOM])
{
	static const char *const units[] = { "B", "K", "M", "G", "T", NULL };

	return scaled(bytes, 1024, units, ret);
}

const char *humane_age(int64_t us, char ret[HUMANE_ROOM])
{
	static const struct {
		int64_t from_us, unit_us;
		const char *name;
	} units[] = { { 2 * US_PER_DAY, US_PER_DAY, "d" }, { 2 * US_PER_HOUR, US_PER_HOUR, "h" },
		{ 2 * US_PER_MINUTE, US_PER_MINUTE, "min" }, { INT64_MIN, US_PER_S, "s" } };
	int i = 0;

	while (us < units[i].from_us)
		i++;
	snprintf(ret, HUMANE_ROOM, "%lld%s", us > 0 ? (long long)(us / units[i].unit_us) : 0, units[i].name);
	return ret;
}

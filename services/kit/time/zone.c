/*
 * zone.c: local time of a zone, by ICU
 *
 * Owns:      a calendar for each zone, which is kept: a process has few zones and uses them often.
 * Promises:  a zone is never UTC by accident. For an unknown name ICU gives the zone Etc/Unknown, which
 *            behaves like GMT; zone_local() and zone_moment() return -EINVAL, and zone_print() prints UTC
 *            with its name. Short names ("EST", "BST") are unknown here: ICU's BST is Bangladesh.
 * Read next: cron.c (uses it for due times), rules/choose.c (uses it for quiet hours)
 */
#include "services/kit/time/zone.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unicode/ucal.h>
#include <unicode/ustring.h>

enum { ZONE_ROOM = 64, ZONE_NAME_MAX = 39 };

static bool looks_like_iana(const char *zone)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
	size_t len = strlen(zone);

	return len <= ZONE_NAME_MAX && strspn(zone, allowed) == len && (strchr(zone, '/') || strcmp(zone, "UTC") == 0);
}

static bool icu_knows(const char *zone)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar name[ZONE_ROOM], canonical[ZONE_ROOM];
	UBool is_system = false;

	u_uastrcpy(name, zone);
	ucal_getCanonicalTimeZoneID(name, -1, canonical, ZONE_ROOM, &is_system, &error);
	return U_SUCCESS(error) && is_system && strcmp(zone, "Etc/Unknown") != 0;
}

static UCalendar *calendar_open(const char *zone)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar name[ZONE_ROOM];

	u_uastrcpy(name, zone);
	UCalendar *calendar = ucal_open(name, -1, "en_US", UCAL_GREGORIAN, &error);
	if (U_FAILURE(error))
		die("ICU cannot open a calendar for %s: %s (is the package libicu72 complete?)", zone,
			u_errorName(error));
	ucal_setAttribute(calendar, UCAL_LENIENT, 1);
	ucal_setAttribute(calendar, UCAL_SKIPPED_WALL_TIME, UCAL_WALLTIME_NEXT_VALID);
	ucal_setAttribute(calendar, UCAL_REPEATED_WALL_TIME, UCAL_WALLTIME_FIRST);
	return calendar;
}

/* NULL: there is no such zone. Unknown names are not kept, because they come from outside. */
static UCalendar *calendar_of(const char *zone)
{
	static struct map *calendars;

	if (!calendars)
		calendars = map_new();
	UCalendar *calendar = map_get(calendars, bytes_of(zone));
	if (calendar || !looks_like_iana(zone) || !icu_knows(zone))
		return calendar;
	calendar = calendar_open(zone);
	map_put(calendars, bytes_of(zone), calendar);
	return calendar;
}

bool zone_valid(const char *zone)
{
	return calendar_of(zone) != NULL;
}

static int64_t floor_to_ms(int64_t us)
{
	return us / US_PER_MS - (us % US_PER_MS < 0);
}

int zone_local(const char *zone, int64_t us, struct local_time *ret)
{
	UErrorCode error = U_ZERO_ERROR;
	UCalendar *calendar = calendar_of(zone);

	if (!calendar)
		return -EINVAL;
	ucal_setMillis(calendar, (double)floor_to_ms(us), &error);
	*ret = (struct local_time){ .year = ucal_get(calendar, UCAL_EXTENDED_YEAR, &error),
		.month = ucal_get(calendar, UCAL_MONTH, &error) + 1,
		.day = ucal_get(calendar, UCAL_DATE, &error),
		.hour = ucal_get(calendar, UCAL_HOUR_OF_DAY, &error),
		.minute = ucal_get(calendar, UCAL_MINUTE, &error),
		.second = ucal_get(calendar, UCAL_SECOND, &error),
		.weekday = ucal_get(calendar, UCAL_DAY_OF_WEEK, &error) - UCAL_SUNDAY };
	return U_FAILURE(error) ? -EINVAL : 0;
}

int zone_moment(const char *zone, const struct local_time *local, int64_t *ret_us)
{
	UErrorCode error = U_ZERO_ERROR;
	UCalendar *calendar = calendar_of(zone);

	if (!calendar)
		return -EINVAL;
	ucal_clear(calendar);
	ucal_setDateTime(
		calendar, local->year, local->month - 1, local->day, local->hour, local->minute, local->second, &error);
	double ms = ucal_getMillis(calendar, &error);
	if (U_FAILURE(error))
		return -EINVAL;
	*ret_us = (int64_t)llround(ms) * US_PER_MS;
	return 0;
}

static void zone_short_name(UCalendar *calendar, char *ret, int room)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar name[ZONE_ROOM];
	UBool summer = ucal_inDaylightTime(calendar, &error);

	ucal_getTimeZoneDisplayName(
		calendar, summer ? UCAL_SHORT_DST : UCAL_SHORT_STANDARD, "en_US", name, ZONE_ROOM, &error);
	u_strToUTF8(ret, room, NULL, name, -1, &error);
	if (U_FAILURE(error))
		ret[0] = '\0';
}

void zone_print(const char *zone, int64_t us, char *ret, int room)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
		"Nov", "Dec" };
	struct local_time local;
	char name[ZONE_ROOM];

	if (zone_local(zone, us, &local) < 0 && zone_local(zone = "UTC", us, &local) < 0)
		die("ICU does not know UTC; is the package libicu72 complete?");
	zone_short_name(calendar_of(zone), name, sizeof(name));
	snprintf(ret, (size_t)room, "%s %d %s %d, %02d:%02d %s", days[local.weekday], local.day,
		months[local.month - 1], local.year, local.hour, local.minute, name);
}

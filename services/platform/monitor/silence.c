/*
 * silence.c: is a topic quieter than it ever is?
 *
 * Promises:  pure. Told is a pause of more than twice the longest of the last four weeks, and of four hours at least, of a topic that
 *            came twenty times and for a week. A pause that was told widens what is usual by no more than twice, so that one
 *            outage does not make it deaf for the next.
 * Read next: door.c
 */
#include "bus/base/clock.h"
#include "services/platform/monitor/door.h"

#define LEARNT_US (7 * US_PER_DAY)
#define LEAST_SILENCE_US (4 * US_PER_HOUR)
#define SELDOM_US (14 * US_PER_DAY) /* what pauses for longer as a matter of course is not watched */
enum { LEARNT_COUNT = 20, TIMES_USUAL = 2 };

int64_t silence_usual_us(const struct silence *silence, int64_t now_us)
{
	int64_t longest_us = 0, today = now_us / US_PER_DAY;

	for (int i = 0; i < SILENCE_DAYS; i++)
		if (silence->day[i] > today - SILENCE_DAYS && silence->pause_us[i] > longest_us)
			longest_us = silence->pause_us[i];
	return longest_us;
}

static int64_t limit_us(const struct silence *silence, int64_t now_us)
{
	int64_t limit = TIMES_USUAL * silence_usual_us(silence, now_us);

	return limit > LEAST_SILENCE_US ? limit : LEAST_SILENCE_US;
}

void silence_hear(struct silence *silence, int64_t first_us, int64_t last_us, uint32_t count)
{
	int64_t today = first_us / US_PER_DAY, pause_us = first_us - silence->last_us;
	int slot = (int)(today % SILENCE_DAYS);

	if (!silence->count) {
		silence->first_us = first_us;
		pause_us = 0;
	}
	silence->count += count;
	if (last_us > silence->last_us)
		silence->last_us = last_us;
	if (silence->count > LEARNT_COUNT && first_us - silence->first_us > LEARNT_US &&
		pause_us > limit_us(silence, first_us))
		pause_us = limit_us(silence, first_us);
	if (silence->day[slot] != today)
		silence->pause_us[slot] = 0;
	silence->day[slot] = today;
	if (pause_us > silence->pause_us[slot])
		silence->pause_us[slot] = pause_us;
}

int64_t silence_of(const struct silence *silence, int64_t now_us)
{
	int64_t silent_us = now_us - silence->last_us, limit = limit_us(silence, silence->last_us);

	if (silence->count < LEARNT_COUNT || silence->last_us - silence->first_us < LEARNT_US || limit > SELDOM_US)
		return 0;
	return silent_us > limit ? silent_us : 0;
}

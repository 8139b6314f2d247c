#include "services/kit/web/turned_away.h"

void turned_away_tell(struct turned_away *noted, uint64_t count, struct counts_told *told)
{
	if (count > noted->count)
		noted->last_us = clock_wall_us(noted->clock);
	noted->count = count;
	counts_tell(told, "turned_away", count);
	counts_tell(told, "turned_away_us", (uint64_t)noted->last_us);
}

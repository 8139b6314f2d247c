/*
 * topic_set.c: see topic_set.h
 *
 * Owns:      the words of topics from 128 on.
 */
#include "bus/broker/topic_set.h"
#include "bus/base/memory.h"
#include <stdlib.h>
#include <string.h>

static uint32_t word_count(const struct topic_set *set)
{
	return 2 + set->more_count;
}

static uint64_t word_of(const struct topic_set *set, uint32_t word)
{
	return word < 2 ? set->few[word] : set->more[word - 2];
}

/* Room for at least `count` words beyond the first two. */
static void grow(struct topic_set *set, uint32_t count)
{
	if (count <= set->more_count)
		return;
	set->more = memory_resize(set->more, count * sizeof(*set->more));
	memset(set->more + set->more_count, 0, (count - set->more_count) * sizeof(*set->more));
	set->more_count = count;
}

void topic_set_add(struct topic_set *set, int topic)
{
	uint32_t word = (uint32_t)topic / TOPIC_SET_WORD;
	uint64_t bit = UINT64_C(1) << ((uint32_t)topic % TOPIC_SET_WORD);

	if (topic < TOPIC_SET_FEW) {
		set->few[word] |= bit;
		return;
	}
	grow(set, word - 1);
	set->more[word - 2] |= bit;
}

void topic_set_add_all(struct topic_set *set, const struct topic_set *other)
{
	set->few[0] |= other->few[0];
	set->few[1] |= other->few[1];
	grow(set, other->more_count);
	for (uint32_t i = 0; i < other->more_count; i++)
		set->more[i] |= other->more[i];
}

void topic_set_clear(struct topic_set *set)
{
	free(set->more);
	*set = (struct topic_set){ 0 };
}

bool topic_set_any_more(const struct topic_set *set)
{
	for (uint32_t i = 0; i < set->more_count; i++)
		if (set->more[i] != 0)
			return true;
	return false;
}

bool topic_set_meet_more(const struct topic_set *one, const struct topic_set *other)
{
	for (uint32_t i = 0; i < one->more_count && i < other->more_count; i++)
		if ((one->more[i] & other->more[i]) != 0)
			return true;
	return false;
}

int topic_set_next(const struct topic_set *set, int from)
{
	for (uint32_t word = (uint32_t)from / TOPIC_SET_WORD; word < word_count(set); word++) {
		uint64_t bits = word_of(set, word);

		if (word == (uint32_t)from / TOPIC_SET_WORD)
			bits &= UINT64_MAX << ((uint32_t)from % TOPIC_SET_WORD);
		if (bits != 0)
			return (int)(word * TOPIC_SET_WORD) + __builtin_ctzll(bits);
	}
	return -1;
}

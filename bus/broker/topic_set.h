/*
 * topic_set.h: a set of topics, by their index in the topology
 *
 * Sets of the first 128 topics lie in the struct itself and need no memory of their own; a set grows as soon as a higher topic is added.
 * A struct of zeros is the empty set. Who fills a set frees it; a copy of the struct borrows from the original.
 */
#ifndef BROKER_TOPIC_SET_H
#define BROKER_TOPIC_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPIC_SET_WORD = 64, TOPIC_SET_FEW = 2 * TOPIC_SET_WORD };

struct topic_set {
	uint64_t few[2];     /* topics 0 to 127 */
	uint64_t *more;      /* topics from 128 on; NULL: none of them was ever added */
	uint32_t more_count; /* words */
};

void topic_set_add(struct topic_set *set, int topic);
void topic_set_add_all(struct topic_set *set, const struct topic_set *other); /* the union, into `set` */
void topic_set_clear(struct topic_set *set);                                  /* empty; frees what it had grown to */
/* Has a topic from 128 on / the two have one in common: what topic_set_any and topic_set_meet ask for beyond the first two words. */
bool topic_set_any_more(const struct topic_set *set);
bool topic_set_meet_more(const struct topic_set *one, const struct topic_set *other);
/* The first topic of the set that is `from` or higher; -1: there is none. */
int topic_set_next(const struct topic_set *set, int from);

static inline bool topic_set_has(const struct topic_set *set, int topic)
{
	uint32_t word = (uint32_t)topic / TOPIC_SET_WORD, bit = (uint32_t)topic % TOPIC_SET_WORD;

	if (topic < TOPIC_SET_FEW)
		return set->few[word] >> bit & 1;
	return word - 2 < set->more_count && (set->more[word - 2] >> bit & 1);
}

/* Does it hold any topic? */
static inline bool topic_set_any(const struct topic_set *set)
{
	return (set->few[0] | set->few[1]) != 0 || (set->more && topic_set_any_more(set));
}

/* Do the two sets hold a topic in common? */
static inline bool topic_set_meet(const struct topic_set *one, const struct topic_set *other)
{
	return ((one->few[0] & other->few[0]) | (one->few[1] & other->few[1])) != 0 ||
		(one->more && other->more && topic_set_meet_more(one, other));
}

/* for (TOPIC_SET_EACH(topic, &set)): each topic of the set, in ascending order. */
#define TOPIC_SET_EACH(topic, set)                                                                                     \
	int topic = topic_set_next((set), 0);                                                                          \
	topic >= 0;                                                                                                    \
	topic = topic_set_next((set), topic + 1)

#endif

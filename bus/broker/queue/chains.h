/*
 * chains.h: the letters of each key, one behind the other
 *
 * Found by the hash of shop and key; a chain is there for as long as it holds letters.
 */
#ifndef BROKER_QUEUE_CHAINS_H
#define BROKER_QUEUE_CHAINS_H

#include "bus/base/list.h"
#include <stdint.h>

struct chains;

struct chain {
	struct chain *next; /* of the same bucket */
	uint64_t key_hash;
	struct list letters; /* struct letter, in_chain */
};

struct chains *chains_new(void);
void chains_free(struct chains *chains);                            /* takes NULL; letters are not touched */
struct chain *chains_get(struct chains *chains, uint64_t key_hash); /* a new one if there is none */
void chains_drop(struct chains *chains, struct chain *chain);       /* that is empty */

#endif

/*
 * key_chain.h: the letters of each key, one behind the other
 *
 * Found by the hash of shop and key; a chain is there for as long as it holds letters.
 */
#ifndef BROKER_QUEUE_KEY_CHAIN_H
#define BROKER_QUEUE_KEY_CHAIN_H

#include "bus/base/list.h"
#include <stdint.h>

struct key_chain;

struct chain {
	struct chain *next; /* of the same bucket */
	uint64_t key_hash;
	struct list letters; /* struct letter, in_chain */
};

struct key_chain *key_chain_new(void);
void key_chain_free(struct key_chain *chains);                            /* takes NULL; letters are not touched */
struct chain *key_chain_get(struct key_chain *chains, uint64_t key_hash); /* a new one if there is none */
void key_chain_drop(struct key_chain *chains, struct chain *chain);       /* that is empty */

#endif

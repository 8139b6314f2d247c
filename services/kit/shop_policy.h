/*
 * shop_policy.h: the sections of shop.conf that say whom to chase and how much to send; inside shop.c only
 */
#ifndef KIT_SHOP_POLICY_H
#define KIT_SHOP_POLICY_H

#include "services/kit/shop.h"

struct shop_mistake {
	const char *section, *key;
	int nth; /* of a repeated key; 0: it is not one */
	char expected[200];
};

/* -EINVAL: *ret_mistake says what is wrong with which key. */
int shop_read_policy(const struct config *config, struct shop *shop, struct shop_mistake *ret_mistake);

#endif

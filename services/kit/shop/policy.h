/*
 * policy.h: the sections of shop.conf that say whom to chase and how much to send; inside shop.c only
 */
#ifndef KIT_SHOP_POLICY_H
#define KIT_SHOP_POLICY_H

#include "services/kit/shop/shop.h"

/* -EINVAL: ret_error says what is wrong with which key. */
int shop_read_policy(const struct config *config, struct shop *shop, struct config_error *ret_error);

#endif

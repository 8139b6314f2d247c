/* check.h: checks the configuration and all files that it names */
#ifndef CARTBUS_TEXTS_CHECK_H
#define CARTBUS_TEXTS_CHECK_H

#include "services/cartbus/core/command.h"

enum { SHOPS_NOT_READ = -1 };
/* Complains of each thing that is wrong, and of what is doubtful ("warning: ..."); how much is wrong. *ret_shops: how many, or SHOPS_NOT_READ. */
int config_judge(struct command *command, int *ret_shops);

/* The same of the webhook secret of a shop that is in use. */
int check_webhook_secret(const struct command *command, const char *shop);
/*
 * The same of the webhook secrets before the one in use of a shop, where a rotation keeps them. *ret_count: how many of them are accepted.
 */
int check_previous(const struct command *command, const char *shop, int *ret_count);

#endif

/*
 * folds.h: what the pages of cart recovery fold
 *
 * Three tables, in this order, because the last one reads rows of the first: the report's rows, the waiter's rows, and the rows of the
 * pages themselves.
 */
#ifndef CARTS_CONSOLE_FOLDS_H
#define CARTS_CONSOLE_FOLDS_H

#include "bus/actor/service.h"

extern const struct remembers carts_page_report[], carts_page_folds[];

#endif

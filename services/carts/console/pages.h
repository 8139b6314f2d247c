/* pages.h: the rows of cart recovery's pages (services/kit/console/page.h) */
#ifndef CARTS_CONSOLE_PAGES_H
#define CARTS_CONSOLE_PAGES_H

#include "services/carts/console/show.h"
#include "services/kit/console/page.h"

extern const struct page carts_pages[];

#endif

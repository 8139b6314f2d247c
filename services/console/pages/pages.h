/* pages.h: the console's own rows of pages (services/kit/console/page.h) */
#ifndef CONSOLE_PAGES_PAGES_H
#define CONSOLE_PAGES_PAGES_H

#include "services/kit/console/page.h"

extern const struct page sign_in_pages[], shop_pages[], log_pages[], me_pages[], not_mailed_pages[], people_pages[],
	health_pages[];

#endif

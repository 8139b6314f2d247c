/* pages.h: makes the requests of a task to the storefront's API, and reads the answers; pure */
#ifndef PLATFORM_STOREFRONT_PAGES_H
#define PLATFORM_STOREFRONT_PAGES_H

#include "services/kit/http/http.h"
#include "services/kit/shop/shop.h"
#include "services/kit/storefront/event.h"

/* -ENOTSUP: this platform does not have it. */
int pages_ask(const struct shop *shop, const StorefrontTask *task, struct http_request *ret);

struct page {
	int count; /* entries in the answer */
	bool more; /* there is a further page, after `after` */
	uint64_t after, last_id;
};

/* Called in order for each READ_CHANGED and READ_CHECKOUT of a page. */
typedef void page_fn(const struct event *event, enum reading reading, void *context);

/* -EINVAL: it is no answer to the request; ret_why gives the reason. It fills `source->topic`. */
int pages_read(const struct shop *shop, const StorefrontTask *task, struct event_source *source, struct bytes body,
	page_fn *each, void *context, struct page *ret, char ret_why[200]);

#endif

/*
 * pages.h: what a task asks of the storefront's API, and what the answer says. Pure
 */
#ifndef PLATFORM_STOREFRONT_PAGES_H
#define PLATFORM_STOREFRONT_PAGES_H

#include "services/kit/http/http.h"
#include "services/kit/shop/shop.h"
#include "services/kit/storefront/event.h"

/* -ENOTSUP: this platform has no such thing. */
int pages_ask(const struct shop *shop, const StorefrontTask *task, struct http_request *ret);

struct page {
	int count; /* of what the answer holds */
	bool more; /* there is a further page, behind `after` */
	uint64_t after, last_id;
};

/* Called for each READ_CHANGED and READ_CHECKOUT of a page, in its order. */
typedef void page_fn(const struct event *event, enum reading reading, void *context);

/* -EINVAL: the answer is not what was asked for; ret_why. `source->topic` is filled here. */
int pages_read(const struct shop *shop, const StorefrontTask *task, struct event_source *source, struct bytes body,
	page_fn *each, void *context, struct page *ret, char ret_why[200]);

#endif

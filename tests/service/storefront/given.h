/* given.h: a service that fetches from storefronts, a task for it, and what the storefront answers */
#ifndef TESTS_SERVICE_STOREFRONT_GIVEN_H
#define TESTS_SERVICE_STOREFRONT_GIVEN_H

#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/http/http.h"
#include "services/platform/storefront/storefront.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/document.h"
#include <stdio.h>
#include <string.h>

#define NOON_US (INT64_C(1795176000) * US_PER_S) /* Fri 20 Nov 2026, 12:00 UTC */

static struct storefront storefront_here;

static inline void given_shop(struct harness *h, const char *name, const char *platform)
{
	char api[100] = "";

	if (*platform)
		snprintf(api, sizeof(api), "[storefront]\napi = https://api.example\nplatform = %s\n", platform);
	given_text(h, name, "shop", DEMO_SHOP, api);
}

static inline struct harness *given(const char *platform)
{
	struct harness *h = harness_new_in(storefront_in(&storefront_here), NOON_US);
	storefront_here = storefront_of(bytes_of("0123456789abcdef0123456789abcdef"));
	given_shop(h, "demo", platform);
	return h;
}

static inline enum verdict when_task(struct harness *h, TaskKind kind, const char *id, uint64_t after)
{
	StorefrontTask task = {
		.kind = kind, .from_us = NOON_US - 6 * US_PER_HOUR, .after = after, .triggered_us = NOON_US - US_PER_S
	};
	TEXT_COPY(task.id, id);
	TEXT_COPY(task.platform_topic, "store/cart/updated");
	return WHEN(h, storefront_task, &task, .shop = "demo", .key = "k");
}

static inline const char *asked(struct harness *h)
{
	const struct http_request *request = harness_effect_request(h);
	assert_non_null(request);
	return request->url;
}

static inline enum verdict when_answered(struct harness *h, long status, const char *body)
{
	struct http_answer answer = { .end = HTTP_ANSWERED, .status = status, .body = bytes_of(body), .words = "HTTP" };
	if (status == 429) {
		answer.headers[0].name = "Retry-After";
		strcpy(answer.headers[0].value, "7.0");
	}
	return harness_result(h, &answer, CLAIM_NONE);
}

static inline StorefrontTask said_task(struct harness *h)
{
	StorefrontTask task;
	assert_int_equal(harness_count(h, &topic_storefront_task), 1);
	assert_true(harness_said(h, &topic_storefront_task, 0, &task, NULL));
	return task;
}

#define ORDER(id, more)                                                                                                \
	"{\"id\":" id ",\"email\":\"Ann@buyer.example\",\"checkout_token\":\"k1\",\"currency\":\"EUR\"," more          \
	"\"total_price\":\"12.50\",\"financial_status\":\"paid\",\"created_at\":\"2026-11-20T09:00:00Z\"}"

/* Orders of these ids, as either platform lists them. */
static inline const char *page_of(const char *platform, int first, int count)
{
	static struct buffer page;
	bool woo = strcmp(platform, "woocommerce") == 0;
	buffer_clear(&page);
	for (int i = 0; i < count; i++)
		buffer_printf(&page, "%s{\"id\":%d,\"status\":\"processing\",\"financial_status\":\"paid\"}",
			i > 0         ? ","
				: woo ? "["
				      : "{\"orders\":[",
			first + i);
	buffer_add_text(&page, woo ? "]" : "]}");
	return buffer_text(&page);
}

#endif

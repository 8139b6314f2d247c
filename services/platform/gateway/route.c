/* route.c: what a method and a path mean */
#include "services/platform/gateway/route.h"
#include "bus/base/text.h"
#include "services/kit/shop/shop.h"

static struct route method_only(struct route route, const char *method, const char *wanted)
{
	if (strcmp(method, wanted) == 0)
		return route;
	return (struct route){ .entrance = ENTRANCE_WRONG_METHOD, .allow = wanted };
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static struct route find_hook(const char *method, const char *rest)
{
	static const struct {
		const char *name;
		enum entrance entrance;
	} platforms[] = { { "shopify", ENTRANCE_SHOPIFY }, { "woocommerce", ENTRANCE_WOOCOMMERCE },
		{ "cart", ENTRANCE_GENERIC }, { "bigcommerce", ENTRANCE_BIGCOMMERCE } };
	const char *slash = strchr(rest, '/');
	struct route route = { .entrance = ENTRANCE_UNKNOWN };

	if (!slash || !text_copy_bytes(route.name, sizeof(route.name), BYTES(rest, (size_t)(slash - rest))) ||
		!shop_name_valid(route.name))
		return (struct route){ .entrance = ENTRANCE_UNKNOWN };
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
		if (strcmp(slash + 1, platforms[i].name) == 0) {
			route.entrance = platforms[i].entrance;
			return method_only(route, method, "POST");
		}
	return (struct route){ .entrance = ENTRANCE_UNKNOWN };
}

static struct route find_feedback(const char *method, const char *rest)
{
	const char *slash = strchr(rest, '/');
	struct route route = { .entrance = ENTRANCE_FEEDBACK };

	if (!slash || strcmp(slash, "/sns") != 0 ||
		!text_copy_bytes(route.name, sizeof(route.name), BYTES(rest, (size_t)(slash - rest))) ||
		!shop_name_valid(route.name))
		return (struct route){ .entrance = ENTRANCE_UNKNOWN };
	return method_only(route, method, "POST");
}

static bool take_token(const char *token, struct route *ret)
{
	return *token && !strpbrk(token, "/%") && text_copy(ret->name, sizeof(ret->name), token);
}

/* A page that shows, and does what it shows when it is posted to. */
static struct route find_page(const char *method, const char *token, enum entrance show, enum entrance act)
{
	struct route route = { .entrance = is_read(method) ? show : act };

	if (!take_token(token, &route))
		return (struct route){ .entrance = ENTRANCE_UNKNOWN };
	if (route.entrance == show || strcmp(method, "POST") == 0)
		return route;
	return (struct route){ .entrance = ENTRANCE_WRONG_METHOD, .allow = "GET, HEAD, POST" };
}

static struct route find_return(const char *method, const char *token)
{
	struct route route = { .entrance = ENTRANCE_RETURN };

	if (!take_token(token, &route))
		return (struct route){ .entrance = ENTRANCE_UNKNOWN };
	if (is_read(method))
		return route;
	return (struct route){ .entrance = ENTRANCE_WRONG_METHOD, .allow = "GET, HEAD" };
}

struct route route_find(const char *method, const char *path)
{
	if (text_starts(path, "/hooks/"))
		return find_hook(method, path + strlen("/hooks/"));
	if (text_starts(path, "/feedback/"))
		return find_feedback(method, path + strlen("/feedback/"));
	if (text_starts(path, "/u/"))
		return find_page(method, path + strlen("/u/"), ENTRANCE_PAGE, ENTRANCE_OPTOUT);
	if (text_starts(path, "/a/"))
		return find_page(method, path + strlen("/a/"), ENTRANCE_ACTION_PAGE, ENTRANCE_ACTION);
	if (text_starts(path, "/r/"))
		return find_return(method, path + strlen("/r/"));
	if (strcmp(path, "/healthz") != 0)
		return (struct route){ .entrance = ENTRANCE_UNKNOWN };
	if (is_read(method))
		return (struct route){ .entrance = ENTRANCE_HEALTH };
	return (struct route){ .entrance = ENTRANCE_WRONG_METHOD, .allow = "GET, HEAD" };
}

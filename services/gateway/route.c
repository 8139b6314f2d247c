/* route.c: what a method and a path mean */
#include "services/gateway/route.h"
#include "bus/base/text.h"
#include "services/kit/shop.h"

static struct route method_only(struct route route, const char *method, const char *wanted)
{
	if (strcmp(method, wanted) == 0)
		return route;
	return (struct route){ .door = DOOR_WRONG_METHOD, .allow = wanted };
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static struct route find_hook(const char *method, const char *rest)
{
	static const struct {
		const char *name;
		enum door door;
	} platforms[] = { { "shopify", DOOR_SHOPIFY }, { "woocommerce", DOOR_WOOCOMMERCE }, { "cart", DOOR_GENERIC } };
	const char *slash = strchr(rest, '/');
	struct route route = { .door = DOOR_UNKNOWN };

	if (!slash || !text_copy_bytes(route.name, sizeof(route.name), BYTES(rest, (size_t)(slash - rest))) ||
		!shop_name_valid(route.name))
		return (struct route){ .door = DOOR_UNKNOWN };
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
		if (strcmp(slash + 1, platforms[i].name) == 0) {
			route.door = platforms[i].door;
			return method_only(route, method, "POST");
		}
	return (struct route){ .door = DOOR_UNKNOWN };
}

static struct route find_page(const char *method, const char *token)
{
	struct route route = { .door = is_read(method) ? DOOR_PAGE : DOOR_OPTOUT };

	if (!*token || strchr(token, '/') || strchr(token, '%') || !text_copy(route.name, sizeof(route.name), token))
		return (struct route){ .door = DOOR_UNKNOWN };
	if (route.door == DOOR_PAGE || strcmp(method, "POST") == 0)
		return route;
	return (struct route){ .door = DOOR_WRONG_METHOD, .allow = "GET, HEAD, POST" };
}

struct route route_find(const char *method, const char *path)
{
	if (text_starts(path, "/hooks/"))
		return find_hook(method, path + strlen("/hooks/"));
	if (text_starts(path, "/u/"))
		return find_page(method, path + strlen("/u/"));
	if (strcmp(path, "/healthz") != 0)
		return (struct route){ .door = DOOR_UNKNOWN };
	if (is_read(method))
		return (struct route){ .door = DOOR_HEALTH };
	return (struct route){ .door = DOOR_WRONG_METHOD, .allow = "GET, HEAD" };
}

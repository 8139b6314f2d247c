/* origin.c: judges by the browser's own headers which page sent a request */
#include "services/console/origin.h"
#include <string.h>

static const char elsewhere[] = "another site's page sent this request; open the console in a tab of its own",
		  unknown[] = "nobody can tell which page sent this form: neither Origin nor Referer came with it";

static bool is_read(const struct request *request)
{
	return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

static bool header_is(const struct request *request, const char *name, const char *value)
{
	const char *there = request_header(request, name);

	return there && strcmp(there, value) == 0;
}

/* A link, an address that was typed, or a bookmark: a whole page is to be shown, and not within another one. */
static bool is_navigation(const struct request *request)
{
	return is_read(request) && header_is(request, "Sec-Fetch-Mode", "navigate") &&
		header_is(request, "Sec-Fetch-Dest", "document");
}

/* A browser that sends no Sec-Fetch headers: an old one, or a name over plain http. */
static const char *judge_by_origin(const struct request *request, const char *origin)
{
	const char *from = request_header(request, "Origin"), *page = request_header(request, "Referer");
	size_t len = strlen(origin);

	if (from)
		return strcmp(from, origin) == 0 ? NULL : elsewhere;
	if (page)
		return strncmp(page, origin, len) == 0 && (page[len] == '/' || !page[len]) ? NULL : elsewhere;
	return unknown;
}

const char *origin_trouble(const struct request *request, const char *origin)
{
	const char *site = request_header(request, "Sec-Fetch-Site"), *from = request_header(request, "Origin");

	if (request_header_repeated(request, "Origin") || request_header_repeated(request, "Sec-Fetch-Site"))
		return elsewhere;
	if (!is_read(request) && from && strcmp(from, origin) != 0)
		return elsewhere;
	if (!site)
		return is_read(request) ? NULL : judge_by_origin(request, origin);
	if (strcmp(site, "same-origin") == 0)
		return NULL;
	if (strcmp(site, "none") == 0)
		return is_read(request) ? NULL : elsewhere;
	return is_navigation(request) ? NULL : elsewhere;
}

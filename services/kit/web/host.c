/*
 * host.c: reads the host that a request asks for, and compares it with those that are ours
 *
 * Promises:  a host is ours only if a rule has the very name, and the very port if the rule has one.
 * Fails by:  400 with words, false.
 */
#include "services/kit/web/host.h"
#include <stdlib.h>
#include <strings.h>

enum { PORT_DIGITS_MOST = 5, PORT_MOST = 65535 };

/* Reads what stands behind a name. */
static int read_port(const char *text)
{
	size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
	long port;

	if (!*text)
		return HOST_PORT_NONE;
	if (digits == 0 || digits > PORT_DIGITS_MOST || text[digits + 1] || text[1] == '0')
		return HOST_PORT_MALFORMED;
	port = strtol(text + 1, NULL, 10);
	return port <= PORT_MOST ? (int)port : HOST_PORT_MALFORMED;
}

bool host_read(const char *text, struct host *ret)
{
	bool is_bracketed = *text == '[';
	const char *from = text + is_bracketed;
	size_t len = strcspn(from, is_bracketed ? "]" : ":");

	*ret = (struct host){ .is_bracketed = is_bracketed };
	if (len == 0 || len >= HOST_ROOM)
		return false;
	for (size_t i = 0; i < len; i++)
		ret->name[i] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] + 'a' - 'A') : from[i];
	if (is_bracketed && from[len] != ']')
		ret->port = HOST_PORT_MALFORMED;
	else
		ret->port = read_port(from + len + is_bracketed);
	return true;
}

/* ---- requests ---- */

/* The authority of an absolute target, which ends with its path or with the text; NULL: the target is not absolute. */
static const char *authority_of(const char *target)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncasecmp(target, schemes[i], strlen(schemes[i])) == 0)
			return target + strlen(schemes[i]);
	return NULL;
}

const char *request_local_path(const struct request *request)
{
	const char *authority = authority_of(request->path), *path = authority ? strchr(authority, '/') : NULL;

	if (!authority)
		return request->path;
	return path ? path : "/";
}

static unsigned refuse(const char *why, const char **ret_why)
{
	*ret_why = why;
	return 400;
}

unsigned request_host(const struct request *request, struct host *ret, const char **ret_why)
{
	const char *header = request_header(request, "Host"), *authority = authority_of(request->path);
	size_t len = authority ? strcspn(authority, "/") : 0;

	*ret = (struct host){ .port = HOST_PORT_MALFORMED };
	if (!header || request_header_repeated(request, "Host"))
		return refuse("a request has to have one Host", ret_why);
	if (!authority && *request->path != '/' && strcmp(request->path, "*") != 0)
		return refuse("the target is neither a path nor a URL", ret_why);
	if (authority && (strlen(header) != len || strncasecmp(authority, header, len) != 0))
		return refuse("the target names another host than Host does", ret_why);
	return host_read(header, ret) ? 0 : refuse("Host is not a host", ret_why);
}

/* ---- rules ---- */

static bool has_name(const struct host *host, const char *name)
{
	size_t len = strlen(name);
	const char *rest = host->name + len;

	if (strncmp(host->name, name, len) != 0 || host->is_bracketed != (strchr(name, ':') != NULL))
		return false;
	return !*rest || (!host->is_bracketed && strcmp(rest, ".") == 0);
}

static bool has_port(const struct host *host, const struct host_rule *rule)
{
	if (rule->port == 0 || host->port == rule->port)
		return true;
	return rule->may_omit_port && host->port == HOST_PORT_NONE;
}

bool host_allowed(const struct host *host, const struct host_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (has_name(host, rules[i].name) && has_port(host, &rules[i]))
			return true;
	return false;
}

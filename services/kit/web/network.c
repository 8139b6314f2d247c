/* network.c: finds the network that a request comes from */
#include "services/kit/web/network.h"
#include "bus/base/text.h"
#include "services/kit/http/public_address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* true: *ret_is_ipv4 tells if it is an address of IPv4. */
static bool read_address(const char *text, uint8_t ret[16], bool *ret_is_ipv4)
{
	memcpy(ret, mapped, sizeof(mapped));
	*ret_is_ipv4 = inet_pton(AF_INET, text, ret + sizeof(mapped)) == 1;
	return *ret_is_ipv4 || inet_pton(AF_INET6, text, ret) == 1;
}

static bool read_proxy(char *word, struct web_proxy *ret)
{
	char *slash = strchr(word, '/'), *end = NULL;
	bool is_ipv4;
	long bits;

	if (slash)
		*slash++ = '\0';
	if (!read_address(word, ret->address, &is_ipv4))
		return false;
	ret->bits = 128;
	if (!slash)
		return true;
	bits = strtol(slash, &end, 10);
	if (end == slash || *end || *slash < '0' || *slash > '9' || bits > (is_ipv4 ? 32 : 128))
		return false;
	ret->bits = (int)bits + (is_ipv4 ? 96 : 0);
	return true;
}

bool web_proxies_parse(const char *text, struct web_proxies *ret)
{
	char words[512], *rest = words, *word;

	*ret = (struct web_proxies){ 0 };
	if (!text_copy(words, sizeof(words), text))
		return false;
	while ((word = strsep(&rest, " ,\t"))) {
		if (!*word)
			continue;
		if (ret->count == WEB_PROXIES_MOST || !read_proxy(word, &ret->list[ret->count++]))
			return false;
	}
	return true;
}

static bool lies_in(const uint8_t address[16], const struct web_proxy *proxy)
{
	int whole = proxy->bits / 8, rest = proxy->bits % 8;

	if (memcmp(address, proxy->address, (size_t)whole) != 0)
		return false;
	return rest == 0 || ((address[whole] ^ proxy->address[whole]) >> (8 - rest)) == 0;
}

static bool trust(const struct web_proxies *proxies, const uint8_t address[16])
{
	for (int i = 0; i < proxies->count; i++)
		if (lies_in(address, &proxies->list[i]))
			return true;
	return false;
}

bool web_proxies_trust(const struct web_proxies *proxies, const struct sockaddr *peer)
{
	uint8_t address[16];

	if (peer->sa_family == AF_INET) {
		memcpy(address, mapped, sizeof(mapped));
		memcpy(address + sizeof(mapped), &((const struct sockaddr_in *)(const void *)peer)->sin_addr, 4);
		return trust(proxies, address);
	}
	if (peer->sa_family != AF_INET6)
		return false;
	memcpy(address, &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr, sizeof(address));
	return trust(proxies, address);
}

/* ---- what a proxy says ---- */

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	for (end = text + strlen(text); end > text && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	*end = '\0';
	return text;
}

/*
 * Cuts the last item off a list and returns it. It reads from the end, so that no text before an item can
 * change it.
 */
static char *take_last(char *list, char separator)
{
	bool quoted = false;

	for (char *at = list + strlen(list); at > list; at--) {
		if (at[-1] == '"')
			quoted = !quoted;
		if (at[-1] != separator || quoted)
			continue;
		at[-1] = '\0';
		return trim(at);
	}
	return NULL;
}

static char *last_or_whole(char *list, char separator, bool *ret_more)
{
	char *last = take_last(list, separator);

	*ret_more = last != NULL;
	return last ? last : trim(list);
}

static bool is_port(const char *text)
{
	return *text && strlen(text) <= 5 && strspn(text, "0123456789") == strlen(text);
}

/* Cuts brackets and port off an address and returns it. NULL: they are malformed. */
static char *address_of(char *node)
{
	char *colon, *end;

	if (*node == '[') {
		end = strchr(node, ']');
		if (!end || (end[1] && (end[1] != ':' || !is_port(end + 2))))
			return NULL;
		*end = '\0';
		return node + 1;
	}
	colon = strchr(node, ':');
	if (!colon || strchr(colon + 1, ':'))
		return node; /* it has no port: no colon, or those of IPv6 */
	if (!is_port(colon + 1))
		return NULL;
	*colon = '\0';
	return node;
}

/*
 * The value of `for` in an element `for=node;proto=https`, in quotes or not (RFC 7239 section 4). NULL: the
 * element has no `for`, or is malformed.
 */
static char *node_of(char *element)
{
	bool more = true;

	while (more) {
		char *pair = last_or_whole(element, ';', &more);
		size_t len;

		if (strncasecmp(pair, "for=", strlen("for=")) != 0)
			continue;
		pair += strlen("for=");
		len = strlen(pair);
		if (*pair != '"')
			return strpbrk(pair, "\"\\") ? NULL : pair;
		if (len < 2 || pair[len - 1] != '"' || strpbrk(pair, "\\"))
			return NULL;
		pair[len - 1] = '\0';
		return pair + 1;
	}
	return NULL;
}

/*
 * Does the proxy hide the client: by "unknown", or by a name that it made up (RFC 7239 section 6.2 and 6.3)?
 */
static bool is_hidden(const char *node)
{
	return *node == '_' || strcasecmp(node, "unknown") == 0;
}

enum names {
	NAMES_CLIENT,
	NAMES_PROXY, /* a proxy of ours: the item before it tells more */
	NAMES_NOBODY,
	NAMES_NONSENSE
};

static enum names judge_item(const struct web_proxies *proxies, char *item, struct source_key *ret)
{
	char *node = proxies->header == WEB_FORWARDED ? node_of(item) : item;
	uint8_t address[16];
	bool is_ipv4;

	if (node && is_hidden(node))
		return NAMES_NOBODY;
	node = node ? address_of(node) : NULL;
	if (!node || !read_address(node, address, &is_ipv4))
		return NAMES_NONSENSE;
	if (trust(proxies, address))
		return NAMES_PROXY;
	return source_key_of_text(node, ret) ? NAMES_CLIENT : NAMES_NONSENSE;
}

/* Judges the items of one header, from its end. Of a header that is too long it reads the end that fits. */
static enum names judge_list(const struct web_proxies *proxies, const char *value, struct source_key *ret)
{
	char list[1024];
	size_t len = strlen(value);
	enum names names = NAMES_PROXY;
	bool more = true;

	text_copy(list, sizeof(list), value + (len < sizeof(list) ? 0 : len - sizeof(list) + 1));
	while (more && names == NAMES_PROXY)
		names = judge_item(proxies, last_or_whole(list, ',', &more), ret);
	return names;
}

static enum web_named named_by(enum names names)
{
	if (names == NAMES_CLIENT)
		return WEB_CLIENT_NAMED;
	return names == NAMES_NONSENSE ? WEB_CLIENT_MALFORMED : WEB_CLIENT_UNNAMED;
}

enum web_named web_proxies_client(
	const struct web_proxies *proxies, const struct request *request, struct source_key *ret)
{
	const char *name = proxies->header == WEB_FORWARDED ? "Forwarded" : "X-Forwarded-For";
	const char *real = proxies->header == WEB_FORWARDED ? NULL : request_header(request, "X-Real-IP");
	bool is_given = false;

	for (int i = request->header_count - 1; i >= 0; i--) {
		enum names names = NAMES_PROXY;

		if (strcasecmp(request->headers[i].name, name) == 0) {
			names = judge_list(proxies, request->headers[i].value, ret);
			is_given = true;
		}
		if (names != NAMES_PROXY)
			return named_by(names);
	}
	if (!real ||
		is_given) /* a client in a trusted network could write X-Real-IP, and choose whom it is charged to */
		return WEB_CLIENT_UNNAMED;
	return source_key_of_text(real, ret) ? WEB_CLIENT_NAMED : WEB_CLIENT_MALFORMED;
}

/* ---- which machines reach an address ---- */

static enum page_reach reach4(const struct sockaddr_in *address)
{
	enum { LOOPBACK_NET = 127 };
	uint32_t bits = ntohl(address->sin_addr.s_addr);

	if (bits >> 24 == LOOPBACK_NET)
		return PAGE_HERE;
	return bits == INADDR_ANY || http_address_is_public((const struct sockaddr *)address) ? PAGE_OPEN : PAGE_NEAR;
}

static enum page_reach reach6(const struct sockaddr_in6 *address)
{
	if (IN6_IS_ADDR_LOOPBACK(&address->sin6_addr))
		return PAGE_HERE;
	return IN6_IS_ADDR_UNSPECIFIED(&address->sin6_addr) || IN6_IS_ADDR_V4MAPPED(&address->sin6_addr) ||
			http_address_is_public((const struct sockaddr *)address)
		? PAGE_OPEN
		: PAGE_NEAR;
}

enum page_reach page_reach_of(const char *host)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
		return reach4(&v4);
	return inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 ? reach6(&v6) : PAGE_UNCLEAR;
}

void turned_away_tell(struct turned_away *noted, uint64_t count, struct metrics_sink *told)
{
	if (count > noted->count)
		noted->last_us = clock_wall_us(noted->clock);
	noted->count = count;
	metrics_add(told, "turned_away", count);
	metrics_add(told, "turned_away_us", (uint64_t)noted->last_us);
}

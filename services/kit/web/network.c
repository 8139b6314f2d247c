/* network.c: from which network a request comes */
#include "services/kit/web/network.h"
#include "bus/base/text.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* true: *ret_is_ipv4 says which it was. */
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
	ret->bits = (int)bits + (is_ipv4 ? 96 : 0);
	return end != slash && !*end && *slash >= '0' && *slash <= '9' && bits >= 0 && ret->bits <= 128;
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

/* The last of a list's words, which is cut off it. */
static char *take_last(char *list)
{
	char *comma = strrchr(list, ','), *word = comma ? comma + 1 : list;
	size_t len;

	word += strspn(word, " \t[");
	len = strcspn(word, " \t]");
	if (comma)
		*comma = '\0';
	word[len] = '\0';
	return word;
}

/* Of one header, from its end; 1: found; 0: all of it are proxies; -1: it is not a list of addresses. */
static int last_stranger(const struct web_proxies *proxies, const char *value, struct source_key *ret)
{
	char list[1024];
	size_t len = strlen(value);
	bool more = true;

	text_copy(list, sizeof(list), value + (len < sizeof(list) ? 0 : len - sizeof(list) + 1));
	while (more) {
		uint8_t address[16];
		bool is_ipv4;

		more = strchr(list, ',') != NULL;
		char *word = take_last(list);
		if (!read_address(word, address, &is_ipv4))
			return -1;
		if (!trust(proxies, address))
			return source_key_of_text(word, ret) ? 1 : -1;
	}
	return 0;
}

bool web_proxies_client(const struct web_proxies *proxies, const struct request *request, struct source_key *ret)
{
	const char *real = request_header(request, "X-Real-IP");

	for (int i = request->header_count - 1; i >= 0; i--) {
		int found = 0;

		if (strcasecmp(request->headers[i].name, "X-Forwarded-For") == 0)
			found = last_stranger(proxies, request->headers[i].value, ret);
		if (found != 0)
			return found > 0;
	}
	return real && source_key_of_text(real, ret);
}

/*
 * url.c: reads the host of a URL strictly, and checks whether a URL may stand in a mail
 *
 * Promises:  libcurl and browsers read an accepted URL alike: a name has only letters, digits, dots, hyphens,
 *            underscores and characters that are not ASCII.
 * Read next: shop/shop.c (which URLs belong to a shop), guard.c (which addresses a request may reach)
 */
#include "services/kit/http/url.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unicode/utf8.h>

enum { PORT_MAX = 65535, PORT_DIGITS_MAX = 5 };

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char *behind_scheme(const char *url)
{
	static const char *const schemes[] = { "https://", "http://" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return url + strlen(schemes[i]);
	return NULL;
}

static size_t name_len(const char *authority)
{
	size_t len = 0;

	while (authority[len] &&
		((unsigned char)authority[len] >= 0x80 || strchr(DIGITS LETTERS ".-_", authority[len])))
		len++;
	return authority[0] == '.' ? 0 : len;
}

/* The length of an IPv6 address in brackets, such as "[::1]"; 0: there is none. */
static size_t ipv6_len(const char *authority)
{
	size_t inside = strspn(authority + 1, DIGITS "abcdefABCDEF:.");

	return inside > 0 && authority[1 + inside] == ']' ? inside + 2 : 0;
}

/* An empty port is the default port of the scheme. */
static bool is_port_or_end(const char *rest)
{
	size_t digits = *rest == ':' ? strspn(rest + 1, DIGITS) : 0;

	if (digits > PORT_DIGITS_MAX || (digits > 0 && strtol(rest + 1, NULL, 10) > PORT_MAX))
		return false;
	rest += *rest == ':' ? 1 + digits : 0;
	return *rest == '\0' || strchr("/?#", *rest);
}

static void in_small_letters(char *host)
{
	for (char *at = host; *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
}

bool url_host(const char *url, char ret[URL_HOST_ROOM])
{
	const char *authority = behind_scheme(url);
	size_t len = !authority ? 0 : *authority == '[' ? ipv6_len(authority) : name_len(authority);

	ret[0] = '\0';
	if (len == 0 || len >= URL_HOST_ROOM || !is_port_or_end(authority + len))
		return false;
	memcpy(ret, authority, len);
	ret[len - (ret[len - 1] == '.')] = '\0';
	in_small_letters(ret);
	return true;
}

bool url_is_clean(const char *url)
{
	if (!text_starts(url, "https://") || strlen(url) == strlen("https://"))
		return false;
	int32_t length = (int32_t)strlen(url), at = 0;
	while (at < length) {
		UChar32 c;
		U8_NEXT(url, at, length, c);
		if (c <= ' ' || text_is_control(c) || text_is_direction_mark(c) || (c < 0x80 && strchr("\"'<>\\`", c)))
			return false;
	}
	return true;
}

/* page_address.c: addresses by who reaches them */
#include "services/kit/web/page_address.h"
#include "services/kit/http/guard.h"
#include <arpa/inet.h>
#include <netinet/in.h>

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

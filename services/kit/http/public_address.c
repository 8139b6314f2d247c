/*
 * public_address.c: is an address one of the public internet?
 *
 * Promises:  the address is judged by its bits, so an odd spelling, or an IPv6 form of a private IPv4 address, changes nothing.
 * Read next: guard.c (which addresses a request may reach), services/kit/web/network.c (who may see a page)
 */
#include "services/kit/http/public_address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct net4 {
	uint32_t net;
	int bits;
};

struct net6 {
	uint8_t net[4];
	int bits;
};

#define NET4(a, b, c, d, bits)                                                                                         \
	{                                                                                                              \
		(uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d), (bits)                                               \
	}

/* The IANA registry of special purpose IPv4 addresses, and multicast. */
static const struct net4 not_public4[] = {
	NET4(0, 0, 0, 0, 8),       /* this network */
	NET4(10, 0, 0, 0, 8),      /* private */
	NET4(100, 64, 0, 0, 10),   /* shared by carriers */
	NET4(127, 0, 0, 0, 8),     /* this machine */
	NET4(169, 254, 0, 0, 16),  /* link-local; metadata services */
	NET4(172, 16, 0, 0, 12),   /* private */
	NET4(192, 0, 0, 0, 24),    /* protocol assignments */
	NET4(192, 0, 2, 0, 24),    /* documentation */
	NET4(192, 88, 99, 0, 24),  /* 6to4 relays */
	NET4(192, 168, 0, 0, 16),  /* private */
	NET4(198, 18, 0, 0, 15),   /* benchmarks */
	NET4(198, 51, 100, 0, 24), /* documentation */
	NET4(203, 0, 113, 0, 24),  /* documentation */
	NET4(224, 0, 0, 0, 4),     /* multicast */
	NET4(240, 0, 0, 0, 4),     /* reserved, broadcast */
};

/*
 * The parts of 2000::/3 that are not public. No other part of IPv6 is given out, so an address outside of it
 * never is public (::1, mapped, 64:ff9b::, fec0::, ...).
 */
static const struct net6 not_public6[] = {
	{ { 0x20, 0x01, 0x00, 0x00 }, 23 }, /* protocol assignments: Teredo, benchmarks, ORCHID */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
	{ { 0x20, 0x02, 0x00, 0x00 }, 16 }, /* 6to4: holds an IPv4 address */
	{ { 0x3f, 0xff, 0x00, 0x00 }, 20 }, /* documentation */
};

static bool is_in(uint32_t address, uint32_t net, int bits)
{
	return ((address ^ net) >> (32 - bits)) == 0;
}

static bool is_public4(uint32_t address)
{
	for (size_t i = 0; i < sizeof(not_public4) / sizeof(not_public4[0]); i++)
		if (is_in(address, not_public4[i].net, not_public4[i].bits))
			return false;
	return true;
}

static bool is_public6(const struct in6_addr *address)
{
	uint32_t first, net;
	memcpy(&first, address->s6_addr, sizeof(first));
	first = ntohl(first);
	if (!is_in(first, UINT32_C(0x20000000), 3))
		return false;
	for (size_t i = 0; i < sizeof(not_public6) / sizeof(not_public6[0]); i++) {
		memcpy(&net, not_public6[i].net, sizeof(net));
		if (is_in(first, ntohl(net), not_public6[i].bits))
			return false;
	}
	return true;
}

bool http_address_is_public(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return is_public4(ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
	if (address->sa_family == AF_INET6)
		return is_public6(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return false;
}

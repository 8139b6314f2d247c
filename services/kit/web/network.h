/* network.h: the network that a request comes from, also through our own proxies */
#ifndef KIT_WEB_NETWORK_H
#define KIT_WEB_NETWORK_H

#include "bus/actor/process.h"
#include "bus/base/sources.h"
#include "services/kit/web/request.h"

/* ---- proxies ---- */

enum { WEB_PROXIES_MOST = 16 };

/*
 * The one header that the proxies set. A client's own text in the other header passes through them, so that
 * header is never read. The order is that of [gateway] proxy-header.
 */
enum web_proxy_header {
	WEB_X_FORWARDED_FOR, /* and X-Real-IP if there is none */
	WEB_FORWARDED        /* RFC 7239 */
};

struct web_proxies {
	struct web_proxy {
		uint8_t address[16]; /* IPv4 as it is mapped into IPv6 */
		int bits;
	} list[WEB_PROXIES_MOST];
	int count;
	enum web_proxy_header header; /* web_proxies_parse sets the first one */
};

/*
 * "127.0.0.1 ::1 10.0.0.0/8": addresses and networks with blanks or commas between. false: an entry is
 * invalid, or there are too many.
 */
bool web_proxies_parse(const char *text, struct web_proxies *ret);
bool web_proxies_trust(const struct web_proxies *proxies, const struct sockaddr *peer);
enum web_named {
	WEB_CLIENT_NAMED,
	/* the proxy names no client, or tells that it hides the client (RFC 7239 section 6.2 and 6.3) */
	WEB_CLIENT_UNNAMED,
	WEB_CLIENT_MALFORMED /* the proxy's text is malformed */
};

/*
 * Reads from which client a trusted proxy says the request comes: the last address in the header that is no
 * trusted proxy itself. Addresses before it may be forged and are not read. An address may be followed by a
 * port.
 */
enum web_named web_proxies_client(
	const struct web_proxies *proxies, const struct request *request, struct source_key *ret);

/* ---- which machines reach an address, for pages without a password ---- */

enum page_reach {
	PAGE_HERE,   /* this machine alone */
	PAGE_NEAR,   /* a private net */
	PAGE_OPEN,   /* the internet, or all nets of the machine: 0.0.0.0 and :: */
	PAGE_UNCLEAR /* no IP address */
};
enum page_reach page_reach_of(const char *host);

/* ---- refused clients ---- */

/*
 * Reports to the monitor that a process turned strangers away, in the counts that go to the broker
 *
 * `turned_away` counts since the start; `turned_away_us` is the wall time when the count last grew. An alarm
 * lasts for ten minutes from then on (services/platform/monitor/check.c).
 */

struct turned_away {
	const struct clock *clock; /* borrowed */
	uint64_t count;
	int64_t last_us; /* 0: never */
};

void turned_away_tell(struct turned_away *noted, uint64_t count, struct metrics_sink *told);

#endif

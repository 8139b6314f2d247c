/*
 * network.h: from which network a request comes, also where a proxy of ours stands between
 */
#ifndef KIT_WEB_NETWORK_H
#define KIT_WEB_NETWORK_H

#include "bus/base/sources.h"
#include "services/kit/web/request.h"

enum { WEB_PROXIES_MOST = 16 };

struct web_proxies {
	struct web_proxy {
		uint8_t address[16]; /* IPv4 as it is mapped into IPv6 */
		int bits;
	} list[WEB_PROXIES_MOST];
	int count;
};

/* "127.0.0.1 ::1 10.0.0.0/8": addresses and networks with blanks or commas between. false: one is none, or they are too many. */
bool web_proxies_parse(const char *text, struct web_proxies *ret);
bool web_proxies_trust(const struct web_proxies *proxies, const struct sockaddr *peer);
/*
 * Of whom a trusted proxy says that the request is: the last of X-Forwarded-For that is no trusted proxy itself, else X-Real-IP.
 * What stands before it may be anybody's words. false: it does not say.
 */
bool web_proxies_client(const struct web_proxies *proxies, const struct request *request, struct source_key *ret);

#endif

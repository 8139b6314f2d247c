/*
 * host.h: which host a request asks for, and whether that is one of ours
 *
 * The owner of another site can let its name lead to an address of ours (DNS rebinding). A browser then takes what it gets here for a page of
 * that site, but its Host still has the site's name.
 */
#ifndef KIT_WEB_HOST_H
#define KIT_WEB_HOST_H

#include "services/kit/web/request.h"

enum { HOST_ROOM = 256, HOST_PORT_NONE = 0, HOST_PORT_MALFORMED = -1 };

struct host {
	char name[HOST_ROOM]; /* in small letters, without brackets and port; its other characters are not judged */
	bool is_bracketed;    /* as addresses of IPv6 have to be */
	int port;             /* 1 to 65535, or one of HOST_PORT_ */
};

/* Reads "name", "name:port" or "[address]:port". false: the name is empty, or has no room. */
bool host_read(const char *text, struct host *ret);

/*
 * The host that a request asks for: that of its Host header. An absolute target (http://host/path) has to name the same one. Returns 0, or
 * the status to answer with and the reason in *ret_why: 400 if it names none, or two. X-Forwarded-Host is not read.
 */
unsigned request_host(const struct request *request, struct host *ret, const char **ret_why);
/* The path of the target, also of an absolute one, where it may be "/"; borrowed. "*" is itself. */
const char *request_local_path(const struct request *request);

struct host_rule {
	const char *name;   /* in small letters, IPv6 without brackets */
	int port;           /* 0: any, also a malformed one */
	bool may_omit_port; /* `port` is the usual one of the scheme */
};

/* Does one of the rules have this host? Its name may have one dot at its end. */
bool host_allowed(const struct host *host, const struct host_rule *rules, size_t count);

#endif

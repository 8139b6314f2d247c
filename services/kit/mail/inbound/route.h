/*
 * route.h: routes for mails that come to our addresses
 *
 * A system registers a table of routes with the process mailin (services/systems.cmake, face mail_routes) and
 * the topics that its routes say (face mail_route_topics). mailin asks the routes for each recipient, in the
 * order in which they are registered: first those without `takes_rest`, then those with it. A recipient that
 * none takes is refused.
 *
 * A route does not read the mail, because strangers write it. It says one message that names the mail, and a
 * service that hears the message reads the mail. The mail server gets its 250 when the message is confirmed;
 * a mail that is delivered twice is one message and one blob.
 */
#ifndef KIT_MAIL_INBOUND_ROUTE_H
#define KIT_MAIL_INBOUND_ROUTE_H

#include "bus/actor/state.h"
#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include "services/kit/blobs/blob_uses.h"
#include "services/kit/mail/address.h"

enum { MAIL_ROUTE_KEY_MAX = 200, MAIL_ROUTE_SHOP_MAX = 63 };

/* All of it is borrowed for the call. */
struct inbound_mail {
	const char *shop;
	/* of the envelope, unverified text in UTF-8; "": none, as in a bounce, or unknown */
	const char *sender;
	const char (*recipients)[ADDRESS_MAX + 1]; /* of the envelope, normalised; all are of this route and shop */
	int recipient_count;
	/* of the first recipient: the text between + and @, without the shop's name; may be "" */
	const char *detail;
	const char *blob;   /* the name of the blob that holds the mail; "": `bytes` holds it */
	struct bytes bytes; /* lines end with CR LF */
	uint64_t size;      /* bytes */
	int64_t heard_us;   /* wall time */
};

struct mail_route {
	const char *name; /* letters a to z and '-'; NULL ends a table */
	/*
	 * Takes LOCAL@DOMAIN and LOCAL+DETAIL@DOMAIN, where DOMAIN is that of a shop's bounce address
	 * (`bounce` in shop.conf). If several shops have this domain, DETAIL begins with the shop's name and
	 * a '.'. It must be in lower case.
	 */
	const char *local;
	/* Instead of `local`: true if the route takes the recipient; ret_shop names the shop. */
	bool (*judge)(const struct state *state, const char *recipient, char ret_shop[MAIL_ROUTE_SHOP_MAX + 1]);
	bool takes_rest;   /* asked when no other route takes the recipient */
	size_t bytes_most; /* of a mail; one in memory has 1 MiB at most */
	/*
	 * The mail becomes a blob of this use, which has the same limit and a time to keep it. NULL: the mail
	 * stays in memory.
	 */
	const struct blob_use *use;
	/* the topic of the message; NULL: mailin reads the mail as a report of a bounce or a complaint */
	const struct topic *topic;
	/*
	 * Fills the message (of topic->size, zeroed) and its key. Returns NULL: the message is said.
	 * Otherwise the reason why the mail is refused for good, for the mail server. It is called again for
	 * a repeated mail, and must then fill in the same.
	 */
	const char *(*write)(const struct inbound_mail *mail, void *ret_message, char ret_key[MAIL_ROUTE_KEY_MAX + 1]);
};

/* Made by services/systems.cmake. NULL ends a list. */
extern const struct mail_route *const registered_mail_routes[];
extern const struct topic *const *const registered_mail_route_topics[];

#endif

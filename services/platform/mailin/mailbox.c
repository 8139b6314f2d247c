/*
 * mailbox.c: finds the route that takes a recipient
 *
 * Promises:  if several shops have one domain, a mail goes to the shop that its address names, or to none.
 * Read next: match.c (the domains of shops), routed.c (delivers the mail)
 */
#include "services/platform/mailin/mailbox.h"
#include "bus/base/text.h"
#include "services/platform/mailin/match.h"
#include "services/platform/mailin/report.h"
#include <stdio.h>
#include <strings.h>

/* ---- one route ---- */

/* Reads "demo.contact" from "forms+demo.contact@..." for "forms". false: it has another local part. */
static bool read_detail(const char *local, const char *recipient, char ret[ADDRESS_MAX + 1])
{
	size_t len = strlen(local), local_len = strcspn(recipient, "@");

	if (local_len < len || strncasecmp(recipient, local, len) != 0 || (local_len > len && recipient[len] != '+'))
		return false;
	return text_copy_bytes(
		ret, ADDRESS_MAX + 1, local_len > len ? BYTES(recipient + len + 1, local_len - len - 1) : BYTES("", 0));
}

static bool names_shop(const struct state *state, const char *domain, struct mailbox *mailbox)
{
	size_t len = strcspn(mailbox->detail, ".");
	char named[MAIL_ROUTE_SHOP_MAX + 1];

	if (!text_copy_bytes(named, sizeof(named), BYTES(mailbox->detail, len)) ||
		!match_shop_has(state, named, domain))
		return false;
	TEXT_COPY(mailbox->shop, named);
	memmove(mailbox->detail, mailbox->detail + len + (mailbox->detail[len] == '.'),
		strlen(mailbox->detail + len) + 1 - (mailbox->detail[len] == '.'));
	return true;
}

static bool takes_by_local(
	const struct mail_route *route, const struct state *state, const char *recipient, struct mailbox *ret)
{
	const char *domain = address_domain(recipient);

	if (!read_detail(route->local, recipient, ret->detail))
		return false;
	if (match_shops_at(state, domain, ret->shop) == 1)
		return true;
	return names_shop(state, domain, ret);
}

static bool takes(const struct mail_route *route, const struct state *state, const char *recipient, struct mailbox *ret)
{
	*ret = (struct mailbox){ .route = route };
	if (route->local)
		return takes_by_local(route, state, recipient, ret);
	return route->judge(state, recipient, ret->shop);
}

/* ---- all of them ---- */

static bool find(const struct mail_route *const *tables, bool rest, const struct state *state, const char *recipient,
	struct mailbox *ret)
{
	for (; *tables; tables++)
		for (const struct mail_route *route = *tables; route->name; route++)
			if (route->takes_rest == rest && takes(route, state, recipient, ret))
				return true;
	return false;
}

/* An address with a route's local part that names no shop has no route: mails to it are no reports. */
static bool has_local_of_a_route(const struct mail_route *const *tables, const char *recipient)
{
	char detail[ADDRESS_MAX + 1];

	for (; *tables; tables++)
		for (const struct mail_route *route = *tables; route->name; route++)
			if (route->local && read_detail(route->local, recipient, detail))
				return true;
	return false;
}

bool mailbox_find(
	const struct mail_route *const *tables, const struct state *state, const char *recipient, struct mailbox *ret)
{
	return find(tables, false, state, recipient, ret) ||
		(!has_local_of_a_route(tables, recipient) && find(tables, true, state, recipient, ret));
}

bool mailbox_is_same(const struct mailbox *one, const struct mailbox *other)
{
	if (!one->route->topic && !other->route->topic)
		return true; /* the report itself tells whose it is */
	return one->route == other->route && strcmp(one->shop, other->shop) == 0;
}

size_t mailbox_bytes_most(const struct mail_route *route)
{
	return route->use || route->bytes_most < REPORT_BYTES_MOST ? route->bytes_most : REPORT_BYTES_MOST;
}

size_t mailbox_size_most(const struct mail_route *const *tables)
{
	size_t most = 0;

	for (; *tables; tables++)
		for (const struct mail_route *route = *tables; route->name; route++)
			if (mailbox_bytes_most(route) > most)
				most = mailbox_bytes_most(route);
	return most;
}

/* ---- checking the routes of systems ---- */

static bool clash(const struct mail_route *one, const struct mail_route *other)
{
	return strcmp(one->name, other->name) == 0 ||
		(one->local && other->local && strcasecmp(one->local, other->local) == 0);
}

static const struct mail_route *find_clash(const struct mail_route *const *tables, const struct mail_route *one)
{
	for (; *tables; tables++)
		for (const struct mail_route *other = *tables; other->name; other++)
			if (other != one && clash(one, other))
				return other;
	return NULL;
}

static bool is_kept_for_ever(const struct topic *topic)
{
	return topic->retention == RETAIN_KEEP || topic->retention == RETAIN_CLAIM;
}

static const char *trouble_of(const struct mail_route *route)
{
	if (!route->local == !route->judge)
		return "it has a local part or a judge, and not both";
	if (route->bytes_most == 0)
		return "it has no bound";
	if (!route->topic != !route->write)
		return "a topic and a function that writes its message belong together";
	if (route->use && (!route->topic || route->use->blob_bytes < route->bytes_most))
		return "its use of blobs has a smaller bound, or no message names the blob";
	if (route->use && !route->topic->blobs)
		return "its topic does not declare which field names the blob";
	if (route->use && (route->use->kept_us == 0) != is_kept_for_ever(route->topic))
		return "of its message and its blob one is kept for ever, and the other is not";
	return NULL;
}

bool mailbox_trouble(const struct mail_route *const *tables, char ret_words[200])
{
	for (const struct mail_route *const *table = tables; *table; table++)
		for (const struct mail_route *route = *table; route->name; route++) {
			const struct mail_route *other = find_clash(tables, route);
			const char *why = other ? "another route has its name or its local part" : trouble_of(route);

			if (why) {
				snprintf(ret_words, 200, "the mail route \"%s\": %s", route->name, why);
				return true;
			}
		}
	return false;
}

/* ---- a maildir ---- */

static bool read_header(struct bytes line, const char *name, char ret[ADDRESS_MAX + 1])
{
	char value[ADDRESS_MAX + 1];
	size_t len = strlen(name);
	const char *text = line.data, *end = text + line.len;

	if (line.len <= len || strncasecmp(text, name, len) != 0)
		return false;
	for (text += len; text < end && strchr(" \t<", *text); text++)
		;
	while (end > text && strchr(" \t\r\n>", end[-1]))
		end--;
	return text_copy_bytes(value, sizeof(value), BYTES(text, (size_t)(end - text))) &&
		address_normalise(value, ret) == 0;
}

bool mailbox_recipient(struct bytes head, char ret[ADDRESS_MAX + 1])
{
	const char *at = head.data, *end = at + head.len, *feed;

	for (; at < end && (feed = memchr(at, '\n', (size_t)(end - at))); at = feed + 1) {
		struct bytes line = BYTES(at, (size_t)(feed - at));
		if (line.len == 0 || (line.len == 1 && *at == '\r'))
			return false; /* the head has ended */
		if (read_header(line, "X-Original-To:", ret) || read_header(line, "Delivered-To:", ret))
			return true;
	}
	return false;
}

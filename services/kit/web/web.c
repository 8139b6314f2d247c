/*
 * web.c: an HTTP/1.1 server in a process's loop: its connections, and which of them must go
 *
 * Owns:      the listening socket, the connections, an epoll set, a spare descriptor, the budgets of all
 *            networks.
 * Promises:  no client waits for another client's large body; a refused request is answered. In one turn the
 *            server accepts a bounded number of connections and continues a few large bodies, so the rest of
 *            the loop has its turn.
 * Fails by:  408, 503 with words; closing without an answer when no request has come.
 * Read next: head.c, library.c, feed.c
 */
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/kit/web/web_inside.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	EVENTS_AT_ONCE = 128,
	ACCEPTS_AT_ONCE = 128,
	SLOW_AT_ONCE = 4,
	CUTS_AT_ONCE = 64,
	PROVEN_SKIPPED_MOST = 32, /* proven ones that are spared before one of them makes room */
	CONNECTION_COST_US = 20,  /* to accept, watch and close it */
	REQUEST_COST_US = 30,     /* measured: to answer a request */
	COST_US_PER_KIB = 3       /* measured: to read, copy and hash a body */
};
static const int64_t busy_us = 5 * US_PER_S, lingering_us = 2 * US_PER_S;
static const int64_t rest_again_us = 50 * US_PER_MS;

/* ---- watching ---- */

void web_watch(struct web_connection *connection, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = connection };
	int how = connection->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (events == connection->watched)
		return;
	connection->watched = events;
	if (epoll_ctl(connection->web->epoll, events ? how : EPOLL_CTL_DEL, connection->fd, &event) < 0)
		die("a connection cannot be watched: %s", strerror(errno));
}

void web_time(struct web_connection *connection, struct list *list)
{
	list_remove(&connection->timed);
	connection->since_us = web_now_us(connection->web);
	list_append(list, &connection->timed);
}

void web_queue(struct web_connection *connection)
{
	list_remove(&connection->waiting);
	list_append(&connection->web->queue, &connection->waiting);
}

/* ---- bytes ---- */

/* The memory that grows with what a client sends: its head, the library's pool, and the room of its body. */
static size_t held(const struct web_connection *connection)
{
	size_t parts = (size_t)(connection->asked.request.parts + connection->asked.request.header_count);

	if (connection->phase == PHASE_HEAD)
		return connection->seen;
	if (connection->phase == PHASE_LINGERING)
		return 0;
	return connection->head_len + parts * PART_COST + library_bytes(connection) + connection->body.room;
}

void web_spend(struct web_connection *connection, size_t len)
{
	int64_t cost_us = (int64_t)len * COST_US_PER_KIB / 1024;

	connection->spent_us += cost_us;
	source_spend(connection->web->sources, connection->client, cost_us, web_now_us(connection->web));
}

/* Gives the cost of a proven request back; charges the network of any other request for the answer too. */
void web_settle(struct web_connection *connection)
{
	struct sources *sources = connection->web->sources;
	int64_t now_us = web_now_us(connection->web);

	if (connection->asked.answer.proven)
		source_prove(sources, connection->client, connection->spent_us, now_us);
	else
		source_spend(sources, connection->client, REQUEST_COST_US, now_us);
	connection->spent_us = 0;
}

void web_dress(struct web_connection *connection)
{
	const struct web_owner *owner = &connection->web->owner;

	if (connection->begun && owner->dress)
		owner->dress(owner->context, &connection->asked);
}

void web_end_request(struct web_connection *connection)
{
	const struct web_owner *owner = &connection->web->owner;

	if (connection->begun && owner->end)
		owner->end(owner->context, &connection->asked);
	connection->begun = false;
	web_end_stream(connection);
	feed_close(connection);
}

void web_forget_body(struct web_connection *connection)
{
	buffer_free(&connection->body);
	connection->body = (struct buffer){ 0 };
	list_remove(&connection->receiving);
}

static bool may_go(
	const struct web_connection *candidate, const struct web_connection *newcomer, enum source_verdict why)
{
	if (candidate == newcomer || candidate->counted == 0 || candidate->refused)
		return false;
	if (candidate->phase != PHASE_HEAD && candidate->phase != PHASE_BODY)
		return false;
	return why != SOURCE_CROWDED || candidate->client == newcomer->client;
}

/* The oldest connection of a list that may go; one of a proven source only if no other is found soon. */
static struct web_connection *oldest(
	struct list *list, size_t hook_offset, const struct web_connection *newcomer, enum source_verdict why)
{
	struct web_connection *proven = NULL;
	int64_t now_us = web_now_us(newcomer->web);
	int skipped = 0;

	LIST_EACH (hook, list) {
		struct web_connection *candidate = (struct web_connection *)(void *)((char *)hook - hook_offset);

		if (!may_go(candidate, newcomer, why))
			continue;
		if (!candidate->client || !source_is_proven(candidate->client, now_us))
			return candidate;
		proven = proven ? proven : candidate;
		if (++skipped == PROVEN_SKIPPED_MOST)
			break;
	}
	return proven;
}

/*
 * The connection whose bytes make room: one with a large body, then a small one, then a head. NULL: the
 * newcomer itself must go.
 */
static struct web_connection *who_makes_room(struct web_connection *newcomer, enum source_verdict why)
{
	struct web *web = newcomer->web;
	size_t receiving = offsetof(struct web_connection, receiving);
	struct web_connection *found = oldest(&web->large, receiving, newcomer, why);

	if (!found && newcomer->large)
		return NULL;
	if (!found)
		found = oldest(&web->small, receiving, newcomer, why);
	return found ? found : oldest(&web->busy, offsetof(struct web_connection, timed), newcomer, why);
}

static void give_back(struct web_connection *connection)
{
	source_give_bytes(connection->web->sources, connection->client, connection->counted);
	connection->counted = 0;
}

static void drop(struct web_connection *connection)
{
	connection->web->counters.turned_away++;
	web_refuse(connection, 503, "more was being received at once than there is room for");
}

bool web_count_bytes(struct web_connection *connection)
{
	struct web *web = connection->web;
	size_t now = held(connection), before = connection->counted;
	enum source_verdict why;

	if (now <= before) {
		source_give_bytes(web->sources, connection->client, before - now);
		connection->counted = now;
		return true;
	}
	while (!source_take_bytes(web->sources, connection->client, now - before, &why)) {
		struct web_connection *other = who_makes_room(connection, why);

		drop(other ? other : connection);
		if (!other)
			return false;
	}
	connection->counted = now;
	return true;
}

/* ---- connections ---- */

static void name_proxied_client(struct web_connection *connection)
{
	struct web *web = connection->web;
	struct source_key key;
	enum web_named named = web_proxies_client(web->proxies, &connection->asked.request, &key);

	web->counters.misnamed += named == WEB_CLIENT_MALFORMED;
	if (named != WEB_CLIENT_NAMED)
		return;
	give_back(connection);
	connection->client = source_attach(web->sources, &key, web_now_us(web));
}

void web_name_client(struct web_connection *connection)
{
	if (!connection->peer && connection->behind_proxy)
		name_proxied_client(connection);
	connection->asked.client = connection->client ? source_key(connection->client) : NULL;
}

/* Gives back everything that is counted for the connection, and takes it out of all lists. */
static void release(struct web_connection *connection)
{
	struct web *web = connection->web;
	int64_t now_us = web_now_us(web);

	give_back(connection);
	if (connection->client != connection->peer)
		source_detach(web->sources, connection->client, now_us);
	source_leave(web->sources, connection->peer, now_us);
	connection->client = connection->peer = NULL;
	list_remove(&connection->timed);
	list_remove(&connection->receiving);
	list_remove(&connection->waiting);
}

void web_end(struct web_connection *connection)
{
	if (!connection->ended) {
		web_end_request(connection);
		release(connection);
	}
	connection->ended = true;
	if (connection->library) {
		library_let_go(connection);
		return;
	}
	web_watch(connection, 0); /* close() takes it out of the set only if no child has it too */
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	list_append(&connection->web->dead, &connection->timed); /* events of this turn may point to it */
}

static void bury(struct web *web)
{
	LIST_EACH_SAFE (hook, &web->dead) {
		struct web_connection *connection = LIST_ENTRY(hook, struct web_connection, timed);

		list_remove(&connection->timed);
		buffer_free(&connection->body);
		buffer_free(&connection->asked.answer.body);
		free(connection->head);
		free(connection);
	}
}

static bool has_asked(const struct web_connection *connection)
{
	return connection->phase == PHASE_BODY || (connection->phase == PHASE_HEAD && connection->seen > 0);
}

/* Answers if the client has sent a part of a request; otherwise ends the connection. */
static void cut(struct web_connection *connection, unsigned status, const char *words)
{
	if (has_asked(connection))
		web_refuse(connection, status, words);
	else
		web_end(connection);
}

/*
 * The connection that is in the list for the longest time, of all networks or of the network `only`; one of a
 * proven source only if no other is found soon.
 */
static struct web_connection *longest_of(struct list *list, const struct source *only)
{
	struct web_connection *first = NULL;
	int skipped = 0;

	LIST_EACH (hook, list) {
		struct web_connection *connection = LIST_ENTRY(hook, struct web_connection, timed);

		if (only && connection->peer != only)
			continue;
		first = first ? first : connection;
		if (!connection->client || !source_is_proven(connection->client, web_now_us(connection->web)))
			return connection;
		if (++skipped == PROVEN_SKIPPED_MOST)
			break;
	}
	return first;
}

static const char no_room[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 60\r\n"
			      "Content-Length: 0\r\n\r\n";

static void tell_no_room(int fd)
{
	(void)!send(fd, no_room, sizeof(no_room) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* If the owner knows the request, it dresses the answer. */
static void tell_connection_no_room(struct web_connection *connection)
{
	if (!connection->begun) {
		tell_no_room(connection->fd);
		return;
	}
	buffer_free(&connection->asked.answer.body);
	connection->asked.answer = (struct answer){ .status = 503 };
	head_send_answer(connection);
}

/*
 * Ends the oldest connection, of all networks or of the network `only`: from the lingering ones first, then
 * the busy, then the streaming ones, and the feeds last. false: the owner is deciding on all that are left.
 */
static bool make_room(struct web *web, const struct source *only)
{
	struct web_connection *lingering = longest_of(&web->lingering, only);
	struct web_connection *who = lingering ? lingering : longest_of(&web->busy, only);

	if (!who)
		who = longest_of(&web->streaming, only);
	if (!who)
		who = longest_of(&web->feeding, only);
	if (!who)
		return false;
	web->counters.crowded_out += who != lingering;
	if (has_asked(who))
		tell_connection_no_room(who);
	web_end(who);
	return true;
}

static void turn_away(struct web *web, int fd)
{
	web->counters.turned_away++;
	tell_no_room(fd);
	close(fd);
}

/*
 * Lets a new connection in. If its network has too many connections, an older one of that network goes; if
 * the server has too many, an older one of any network.
 */
static enum source_verdict enter(struct web *web, const struct source_key *key, struct source **ret)
{
	int64_t now_us = web_now_us(web);
	enum source_verdict verdict = source_enter(web->sources, key, now_us, ret);
	const struct source *own = verdict == SOURCE_CROWDED ? source_find(web->sources, key) : NULL;

	if ((verdict == SOURCE_CROWDED || verdict == SOURCE_FULL) && make_room(web, own))
		return source_enter(web->sources, key, now_us, ret);
	return verdict;
}

static void let_in(struct web *web, int fd, const struct sockaddr *address)
{
	struct web_connection *connection;
	struct source *peer;
	struct source_key key;
	int64_t now_us = web_now_us(web);
	int yes = 1;
	bool is_proxy = web_proxies_trust(web->proxies, address);
	bool is_known = !is_proxy && source_key_of_address(address, &key);
	enum source_verdict verdict;

	verdict = enter(web, is_known ? &key : NULL, &peer);
	if (verdict != SOURCE_WELCOME) {
		turn_away(web, fd);
		return;
	}
	source_spend(web->sources, peer, CONNECTION_COST_US, now_us);
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &yes,
		sizeof(yes)); /* head.c and the library must read the same bytes, urgent or not */
	connection = memory_new(sizeof(*connection));
	connection->web = web;
	connection->fd = fd;
	connection->peer = connection->client = peer;
	connection->behind_proxy = is_proxy;
	list_init(&connection->timed);
	list_init(&connection->receiving);
	list_init(&connection->waiting);
	web_time(connection, &web->busy);
	head_look(connection, false);
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/*
 * No descriptor is left: turns the first waiting client away with the spare one, and ends a connection to
 * make room.
 */
static bool without_descriptors(struct web *web)
{
	int fd;

	if (web->spare < 0)
		return false;
	close(web->spare);
	fd = accept4(web->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		turn_away(web, fd);
	make_room(web, NULL);
	web->spare = open_spare();
	return fd >= 0;
}

static void accept_some(struct web *web, int most)
{
	for (int i = 0; i < most && web->listening >= 0; i++) {
		struct sockaddr_storage address;
		socklen_t len = sizeof(address);
		int fd = accept4(web->listening, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			let_in(web, fd, (const struct sockaddr *)&address);
		else if ((errno == EMFILE || errno == ENFILE) ? !without_descriptors(web) : errno != ECONNABORTED)
			return;
	}
}

/* ---- turns ---- */

static void serve(struct web_connection *connection, uint32_t events)
{
	if (connection->watched == 0)
		return; /* an earlier event of this turn ended it, or gave it to the library */
	if (connection->phase == PHASE_LINGERING)
		head_discard(connection);
	else if (connection->phase == PHASE_FEEDING)
		web_end(connection); /* its client has gone away */
	else
		head_look(connection, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
}

/*
 * The network has spent its budget and not proven itself: the connection waits, and is looked at again later.
 */
static void rest(struct web_connection *connection)
{
	connection->rest_until_us = web_now_us(connection->web) + rest_again_us;
	list_remove(&connection->waiting);
	list_append(&connection->web->resting, &connection->waiting);
}

static void go_on(struct web_connection *connection)
{
	bool has_come = connection->received == connection->length; /* only the decision is left */

	list_remove(&connection->waiting);
	if (!has_come && source_rest_us(connection->web->sources, connection->client, web_now_us(connection->web)) > 0)
		rest(connection);
	else if (connection->library)
		library_go_on(connection);
	else
		library_take(connection);
}

/* Continues the connections with large bodies. After each piece a connection goes to the end of the queue. */
static void serve_queue(struct web *web)
{
	web->served_large = false;
	for (int i = 0; i < SLOW_AT_ONCE && !list_empty(&web->queue); i++)
		go_on(LIST_ENTRY(web->queue.next, struct web_connection, waiting));
}

static void wake_rested(struct web *web)
{
	int64_t now_us = web_now_us(web);

	LIST_EACH_SAFE (hook, &web->resting) {
		struct web_connection *connection = LIST_ENTRY(hook, struct web_connection, waiting);

		if (connection->rest_until_us > now_us)
			break;
		web_queue(connection);
	}
}

/*
 * Cuts the late connections of a list. Returns the microseconds until the next one is late; -1: none is left.
 */
static int64_t cut_late(struct web *web, struct list *list, int64_t most_us, const char *words)
{
	for (int i = 0; !list_empty(list); i++) {
		struct web_connection *connection = LIST_ENTRY(list->next, struct web_connection, timed);
		int64_t left_us = connection->since_us + most_us - web_now_us(web);

		if (left_us > 0)
			return left_us;
		if (i == CUTS_AT_ONCE)
			return 0;
		web->counters.cut_off += list != &web->lingering;
		if (connection->phase == PHASE_BODY && !list_empty(&connection->waiting))
			cut(connection, 503, "large requests have to wait now, and this one waited for too long");
		else
			cut(connection, 408, words);
	}
	return -1;
}

static int64_t next_us(struct web *web)
{
	int64_t wait_us = cut_late(web, &web->busy, busy_us, "the request did not come within 5 seconds");

	wait_us = sooner_us(wait_us, cut_late(web, &web->streaming, busy_us, "no part of the body came for 5 seconds"));
	wait_us = sooner_us(wait_us, cut_late(web, &web->lingering, lingering_us, ""));
	wait_us = sooner_us(wait_us, feeds_look(web));
	if (!list_empty(&web->resting)) {
		int64_t due_us =
			LIST_ENTRY(web->resting.next, struct web_connection, waiting)->rest_until_us - web_now_us(web);

		wait_us = sooner_us(wait_us, due_us > 0 ? due_us : 0);
	}
	return wait_us;
}

int64_t web_work(struct web *web)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int64_t wait_us;
	int count;
	bool newcomers = false;

	if (web->spare < 0)
		web->spare = open_spare();
	wake_rested(web);
	serve_queue(web);
	count = epoll_wait(web->epoll, events, EVENTS_AT_ONCE, 0);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &web->libraries)
			web->library_due = true;
		else if (events[i].data.ptr == &web->listening)
			newcomers = true;
		else
			serve(events[i].data.ptr, events[i].events);
	}
	if (newcomers)
		accept_some(web, ACCEPTS_AT_ONCE);
	wait_us = next_us(web); /* may end connections: the library must learn of it at once */
	if (web->library_due)
		library_run(web);
	bury(web);
	return list_empty(&web->queue) && !web->library_due ? wait_us : 0;
}

/* ---- from beginning to end ---- */

static bool watch_special(struct web *web, int fd, void *mark)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = mark };

	return epoll_ctl(web->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

struct web *web_new(int listening, const struct web_limits *limits, const struct web_owner *owner,
	const struct web_proxies *proxies, const struct clock *clock)
{
	struct web *web = memory_new(sizeof(*web));

	*web = (struct web){ .listening = listening,
		.limits = *limits,
		.owner = *owner,
		.proxies = proxies,
		.clock = clock,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.spare = open_spare(),
		.sources = sources_new(&limits->sources),
		.streams = limits->streams.connections_all > 0 ? sources_new(&limits->streams) : NULL,
		.feeds = feed_places(limits) };
	list_init(&web->busy);
	list_init(&web->streaming);
	list_init(&web->deciding);
	list_init(&web->feeding);
	list_init(&web->lingering);
	list_init(&web->small);
	list_init(&web->large);
	list_init(&web->queue);
	list_init(&web->resting);
	list_init(&web->dead);
	if (web->epoll >= 0 && library_start(web) &&
		watch_special(web, library_descriptor(web, LIBRARY_PLAIN), &web->libraries) &&
		watch_special(web, library_descriptor(web, LIBRARY_ROOMY), &web->libraries) &&
		watch_special(web, listening, &web->listening))
		return web;
	close(web->listening); /* nobody who is let in could be served */
	web->listening = -1;
	web_free(web);
	return NULL;
}

static void end_all(struct list *list)
{
	while (!list_empty(list))
		web_end(LIST_ENTRY(list->next, struct web_connection, timed));
}

void web_leave(struct web *web)
{
	if (web->listening < 0)
		return;
	accept_some(web, INT32_MAX); /* clients that the kernel let in are served */
	close(web->listening);       /* a supervisor's socket stays open with the supervisor */
	web->listening = -1;
}

void web_free(struct web *web)
{
	if (!web)
		return;
	web_leave(web);
	end_all(&web->busy);
	end_all(&web->streaming);
	end_all(&web->deciding);
	end_all(&web->feeding);
	end_all(&web->lingering);
	library_stop(web);
	bury(web);
	sources_free(web->sources);
	if (web->streams)
		sources_free(web->streams);
	if (web->feeds)
		sources_free(web->feeds);
	if (web->spare >= 0)
		close(web->spare);
	if (web->epoll >= 0)
		close(web->epoll);
	free(web);
}

int web_descriptor(const struct web *web)
{
	return web->epoll;
}

unsigned web_connections(const struct web *web)
{
	struct source_figures figures;

	sources_figures(web->sources, &figures);
	return figures.connections;
}

const struct web_counters *web_counters(const struct web *web)
{
	return &web->counters;
}

const struct sources *web_sources(const struct web *web)
{
	return web->sources;
}

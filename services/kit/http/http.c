/*
 * http.c: many HTTP requests at once over libcurl, in the process's own loop
 *
 * Owns:      libcurl's multi handle, its connections, and the running calls.
 * Promises:  never blocks; calls held() and done() of a caller only from http_client_work; a call that is cut
 *            while it holds has not sent its last byte.
 * Fails by:  http_answer per call; die() at start if libcurl or epoll does not start.
 * Read next: call.c (one call), guard.c (which addresses it may reach), breaker.c
 */
#include "services/kit/http/http.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/http_inside.h"
#include "services/kit/keys/secrets.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 64, KEPT_CONNECTIONS = 32, STOREFRONT_FAILURES = 5, STATUS_TOO_MANY = 429 };
#define STOREFRONT_PAUSE_US US_PER_MINUTE

/* ---- requests and answers ---- */

static const char TOKEN[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

int http_request_init(struct http_request *request, const char *method, const char *url_format, ...)
{
	va_list args;
	*request = (struct http_request){ 0 };
	if (method[strspn(method, TOKEN)] || !TEXT_COPY(request->method, method)) {
		request->method[0] = 0;
		return -EINVAL;
	}
	va_start(args, url_format);
	int len = vsnprintf(request->url, sizeof(request->url), url_format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(request->url))
		return 0;
	request->url[0] = 0;
	return -EINVAL;
}

int http_request_header(struct http_request *request, const char *name, const char *value)
{
	if (!*name || name[strspn(name, TOKEN)] || text_has_control(value))
		return -EINVAL;
	buffer_printf(&request->headers, "%s: %s", name, value);
	buffer_add(&request->headers, "", 1);
	return 0;
}

void http_request_clear(struct http_request *request)
{
	buffer_free(&request->headers);
	buffer_free(&request->body);
}

const char *http_answer_header(const struct http_answer *answer, const char *name)
{
	for (size_t i = 0; i < HTTP_WANTED_MAX; i++)
		if (answer->headers[i].name && strcasecmp(answer->headers[i].name, name) == 0)
			return answer->headers[i].value;
	return NULL;
}

int64_t http_answer_retry_us(const struct http_answer *answer, int64_t otherwise_us, int64_t most_us)
{
	const char *value = http_answer_header(answer, "Retry-After");
	char *end;
	if (!value || *value < '0' || *value > '9')
		return otherwise_us;
	double seconds = strtod(value, &end); /* RFC 9110: whole seconds; Shopify sends "2.0" */
	if (*end || !(seconds >= 0))
		return otherwise_us;
	return seconds > (double)(most_us / US_PER_S) ? most_us : (int64_t)(seconds * (double)US_PER_S);
}

struct http_settings http_settings_of(const struct config *config, const struct clock *clock)
{
	return (struct http_settings){ .clock = clock, .secrets = secrets_folder(config) };
}

/*
 * shop.conf names the API of a storefront; [storefront] private in cartbus.conf allows one that is not on the
 * public internet.
 */
struct http_settings http_settings_of_storefronts(const struct config *config, const struct clock *clock)
{
	struct http_settings settings = http_settings_of(config, clock);
	const char *ca = config_get(config, "storefront", NULL, "ca");
	settings.private_too = config_yes(config, "storefront", NULL, "private");
	settings.ca = ca && *ca ? ca : NULL;
	settings.peer = "storefront";
	settings.failures = STOREFRONT_FAILURES;
	settings.pause_us = STOREFRONT_PAUSE_US;
	return settings;
}

/* ---- libcurl's side ---- */

static struct http_call *call_of(CURL *easy)
{
	char *call = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
	return (struct http_call *)(void *)call;
}

/* While libcurl tries two addresses it has two sockets; it reports the one that it keeps last. */
static void note_socket(struct http_call *call, curl_socket_t fd, int what)
{
	if (call && what != CURL_POLL_REMOVE)
		call->fd = fd;
	else if (call && call->fd == fd)
		call->fd = CURL_SOCKET_BAD;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	const struct http_client *client = context;
	struct epoll_event event = { .data.fd = fd };
	(void)known;
	note_socket(call_of(easy), fd, what);
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(client->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	if (epoll_ctl(client->epoll, EPOLL_CTL_MOD, fd, &event) == 0)
		return 0;
	return errno == ENOENT ? epoll_ctl(client->epoll, EPOLL_CTL_ADD, fd, &event) : -1;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct http_client *client = context;
	(void)multi;
	client->timer_us = timeout_ms < 0 ? -1 : clock_boot_us(client->clock) + timeout_ms * US_PER_MS;
	return 0;
}

struct http_client *http_client_new(const struct http_settings *settings)
{
	struct http_client *client = memory_new(sizeof(*client));
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		die("libcurl does not start");
	client->clock = settings->clock;
	client->timer_us = -1;
	list_init(&client->calls);
	TEXT_COPY(client->secrets, settings->secrets ? settings->secrets : "");
	TEXT_COPY(client->ca, settings->ca ? settings->ca : "");
	client->private_too = settings->private_too;
	client->peer = settings->peer;
	client->epoll = epoll_create1(EPOLL_CLOEXEC);
	client->multi = curl_multi_init();
	if (client->epoll < 0 || !client->multi)
		die("no descriptor for HTTP: %s", strerror(errno));
	curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
	curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
	curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)KEPT_CONNECTIONS);
	return client;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	while (!list_empty(&client->calls))
		http_call_free(LIST_ENTRY(client->calls.next, struct http_call, hook));
	curl_multi_cleanup(client->multi);
	close(client->epoll);
	free(client);
}

int http_client_fd(const struct http_client *client)
{
	return client->epoll;
}

/* The boot time when a call has news, or must look for an acknowledgement, without an event; -1: never. */
static int64_t next_news_us(const struct http_client *client)
{
	int64_t first_us = -1;
	LIST_EACH (hook, &client->calls) {
		const struct http_call *call = LIST_ENTRY(hook, struct http_call, hook);
		int64_t at_us = call->has_ended ? 0 : call->must_tell ? call->look_us : -1;
		if (at_us >= 0 && (first_us < 0 || at_us < first_us))
			first_us = at_us;
	}
	return first_us;
}

int64_t http_client_wait_us(const struct http_client *client)
{
	int64_t now_us = clock_boot_us(client->clock), at_us = next_news_us(client);
	if (at_us < 0 || (client->timer_us >= 0 && client->timer_us < at_us))
		at_us = client->timer_us;
	if (at_us < 0)
		return -1;
	return at_us > now_us ? at_us - now_us : 0;
}

static void note_out(struct http_client *client)
{
	LIST_EACH (hook, &client->calls)
		http_call_note_out(LIST_ENTRY(hook, struct http_call, hook));
}

static void note_ends(struct http_client *client)
{
	const CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(client->multi, &left))) {
		struct http_call *call = call_of(message->easy_handle);
		if (message->msg != CURLMSG_DONE || !call)
			continue;
		call->code = message->data.result;
		call->has_ended = true;
	}
}

static void act(struct http_client *client, curl_socket_t fd, uint32_t events)
{
	int running,
		mask = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		(events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
	curl_multi_socket_action(client->multi, fd, mask, &running);
	note_out(client);
	note_ends(client);
}

static void hear_events(struct http_client *client)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(client->epoll, events, EVENTS_AT_ONCE, 0);
	for (int i = 0; i < n; i++)
		act(client, events[i].data.fd, events[i].events);
	if (client->timer_us >= 0 && client->timer_us <= clock_boot_us(client->clock)) {
		client->timer_us = -1;
		act(client, CURL_SOCKET_TIMEOUT, 0);
	}
}

/* ---- calling back ---- */

static struct http_call *first_news(struct http_client *client)
{
	LIST_EACH (hook, &client->calls) {
		struct http_call *call = LIST_ENTRY(hook, struct http_call, hook);
		if (http_call_has_news(call))
			return call;
	}
	return NULL;
}

static void finish(const struct http_client *client, struct http_call *call)
{
	const struct http_caller *caller = call->caller;
	void *context = call->context;
	struct http_answer answer;
	http_call_fill(call, &answer);
	if (client->peer && answer.end == HTTP_ANSWERED && answer.status == STATUS_TOO_MANY)
		metrics_throttled_by(client->peer);
	list_remove(&call->hook); /* done() may start other calls */
	caller->done(context, &answer);
	http_call_free(call);
}

/* Searches the list again after each call, because held() and done() may end other calls. */
static bool tell_news(struct http_client *client)
{
	struct http_call *call;
	bool any = false;
	for (; (call = first_news(client)); any = true) {
		call->must_tell = false;
		if (call->has_ended)
			finish(client, call);
		else
			call->caller->held(call->context, call);
	}
	return any;
}

void http_client_work(struct http_client *client)
{
	do
		hear_events(client);
	while (tell_news(client));
}

/* ---- calls ---- */

struct http_call *http_call_new(
	struct http_client *client, const struct http_request *request, const struct http_caller *caller, void *context)
{
	struct http_call *call = http_call_prepare(client, request);
	call->caller = caller;
	call->context = context;
	list_append(&client->calls, &call->hook);
	if (!call->has_ended && curl_multi_add_handle(client->multi, call->easy) != CURLM_OK)
		die("libcurl does not take a request");
	return call;
}

/*
 * Has the server hung up? A last byte that is sent after that could only make the fate of the request
 * unknown.
 */
static bool has_hung_up(const struct http_call *call)
{
	struct pollfd poller = { .fd = call->fd, .events = POLLRDHUP };
	return call->fd == CURL_SOCKET_BAD || poll(&poller, 1, 0) > 0;
}

void http_call_proceed(struct http_call *call, bool go)
{
	if (call->has_ended || call->gate != HTTP_GATE_HELD)
		return;
	call->gate = go ? HTTP_GATE_OPEN : HTTP_GATE_DROPPED;
	if (go && has_hung_up(call)) {
		call->gate = HTTP_GATE_DROPPED;
		TEXT_COPY(call->why, "the server hung up before the last byte");
	} else if (go && !last_byte_is_next(call->fd)) {
		call->gate = HTTP_GATE_DROPPED;
		TEXT_COPY(call->why, "the server takes nothing more");
	}
	curl_easy_pause(call->easy, CURLPAUSE_CONT);
	act(call->client, CURL_SOCKET_TIMEOUT, 0);
}

void http_call_stop(struct http_call *call)
{
	http_call_free(call);
}

/*
 * transport_smtp.c: many mails at once over a few kept connections, in the process's own loop
 *
 * Owns:      a libcurl multi behind one epoll descriptor, and the transfers in it.
 * Promises:  never blocks, not even for a goodbye that the server does not answer; never more connections than configured; a
 *            transfer leaves the multi only at its own end, because libcurl sends the end of data of a paused one that is taken out.
 * Fails by:  mail_result per mail; die() at start on settings that cannot work.
 * Read next: transport_smtp_transfer.c (one mail, its gate and its fate)
 */
#include "services/kit/transport_smtp.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	EVENTS_AT_ONCE = 64,
	CLOSE_ROUNDS = 20, /* of at most CLOSE_ROUND_MS each: what a goodbye to the mail server may take */
	CLOSE_ROUND_MS = 50
};

struct unfit_mail {
	struct list hook;
	struct effect *effect;
};

struct smtp {
	struct effect_driver driver;
	struct smtp_settings settings;
	CURLM *multi;
	int epoll;
	int64_t timer_us; /* boot time of libcurl's next deadline; -1: none */
	int running;
	curl_socket_t *open; /* its connections, also the idle ones */
	size_t open_count;
	struct list waiting; /* for a free place */
	struct list active;
	struct list unfit; /* not fit to be sent; told so in work() */
};

static int64_t now_us(const struct smtp *smtp)
{
	return clock_boot_us(smtp->settings.clock);
}

/* ---- libcurl's side ---- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	struct smtp *smtp = context;
	struct epoll_event event = { .data.fd = fd };
	struct smtp_transfer *transfer = NULL;
	if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer) == CURLE_OK && transfer)
		transfer->fd = fd; /* also of a paused one, for which libcurl wants no events */
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(smtp->epoll, EPOLL_CTL_DEL, fd, NULL);
		curl_multi_assign(smtp->multi, fd, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	if (epoll_ctl(smtp->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
		return errno == EEXIST && epoll_ctl(smtp->epoll, EPOLL_CTL_MOD, fd, &event) == 0 ? 0 : -1;
	curl_multi_assign(smtp->multi, fd, smtp);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct smtp *smtp = context;
	(void)multi;
	smtp->timer_us = timeout_ms < 0 ? -1 : now_us(smtp) + timeout_ms * US_PER_MS;
	return 0;
}

static void turn_multi(struct smtp *smtp, int wait_ms)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(smtp->epoll, events, EVENTS_AT_ONCE, wait_ms);
	for (int i = 0; i < count; i++) {
		int mask = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
			(events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			(events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
		curl_multi_socket_action(smtp->multi, events[i].data.fd, mask, &smtp->running);
	}
	if (smtp->timer_us < 0 || smtp->timer_us > now_us(smtp))
		return;
	smtp->timer_us = -1;
	curl_multi_socket_action(smtp->multi, CURL_SOCKET_TIMEOUT, 0, &smtp->running);
}

static int on_opened(void *context, curl_socket_t fd, curlsocktype purpose)
{
	struct smtp *smtp = context;
	(void)purpose;
	smtp->open = memory_resize(smtp->open, (smtp->open_count + 1) * sizeof(*smtp->open));
	smtp->open[smtp->open_count++] = fd;
	return CURL_SOCKOPT_OK;
}

static int on_closing(void *context, curl_socket_t fd)
{
	struct smtp *smtp = context;
	for (size_t i = 0; i < smtp->open_count; i++)
		if (smtp->open[i] == fd)
			smtp->open[i--] = smtp->open[--smtp->open_count];
	return close(fd);
}

static void watch_sockets(struct smtp *smtp, CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_opened);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, smtp);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_closing);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, smtp);
}

/* ---- transfers ---- */

static size_t count(const struct list *list)
{
	size_t n = 0;
	LIST_EACH (hook, list)
		n++;
	return n;
}

static struct smtp_transfer *find_in(struct list *list, const struct effect *effect)
{
	LIST_EACH (hook, list) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		if (transfer->effect == effect)
			return transfer;
	}
	return NULL;
}

static void start_waiting(struct smtp *smtp)
{
	while (!list_empty(&smtp->waiting) && count(&smtp->active) < (size_t)smtp->settings.connections) {
		struct smtp_transfer *transfer = LIST_ENTRY(smtp->waiting.next, struct smtp_transfer, hook);
		list_remove(&transfer->hook);
		list_append(&smtp->active, &transfer->hook);
		smtp_transfer_prepare(transfer, &smtp->settings);
		watch_sockets(smtp, transfer->easy);
		if (curl_multi_add_handle(smtp->multi, transfer->easy) != CURLM_OK)
			die("libcurl does not take another transfer");
	}
}

static void report(struct smtp_transfer *transfer, struct mail_result result)
{
	struct effect *effect = transfer->effect;
	smtp_transfer_free(transfer);
	if (effect)
		effect_done(effect, &result);
}

static void finish_one(struct smtp *smtp, CURL *easy, CURLcode code)
{
	struct smtp_transfer *transfer = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
	struct mail_result result = smtp_transfer_result(transfer, code);
	curl_multi_remove_handle(smtp->multi, easy); /* it is at its end */
	report(transfer, result);
}

static bool finish_ended(struct smtp *smtp)
{
	int left;
	bool any = false;
	for (CURLMsg *message; (message = curl_multi_info_read(smtp->multi, &left)); any = true)
		if (message->msg == CURLMSG_DONE)
			finish_one(smtp, message->easy_handle, message->data.result);
	return any;
}

/* Outside of libcurl, because the answer may come within the call. Found anew each time: the call may change the list. */
static bool ask_claims(struct smtp *smtp)
{
	bool any = false;
	for (struct list *hook = smtp->active.next; hook != &smtp->active;) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		hook = hook->next;
		if (!transfer->must_ask)
			continue;
		transfer->must_ask = false;
		if (transfer->effect) {
			effect_claim(transfer->effect);
			hook = smtp->active.next;
		}
		any = true;
	}
	return any;
}

static void tell_unfit(struct smtp *smtp)
{
	while (!list_empty(&smtp->unfit)) {
		struct unfit_mail *job = LIST_ENTRY(smtp->unfit.next, struct unfit_mail, hook);
		struct effect *effect = job->effect;
		struct mail_result result = mail_result_of(
			MAIL_REFUSED, "smtp", "the mail or its envelope is not what SMTP may carry; nothing was sent");
		list_remove(&job->hook);
		free(job);
		effect_done(effect, &result);
	}
}

/* ---- the driver ---- */

static void smtp_start(void *self, struct effect *effect, const void *request)
{
	struct smtp *smtp = self;
	struct smtp_transfer *transfer;
	if (smtp_transfer_new(effect, request, &transfer) == 0) {
		list_append(&smtp->waiting, &transfer->hook);
		return;
	}
	struct unfit_mail *job = memory_new(sizeof(*job));
	job->effect = effect;
	list_append(&smtp->unfit, &job->hook);
}

static void smtp_proceed(void *self, struct effect *effect, bool go)
{
	struct smtp_transfer *transfer = find_in(&((struct smtp *)self)->active, effect);
	if (transfer)
		smtp_transfer_proceed(transfer, go);
}

static void drop_unfit(struct smtp *smtp, const struct effect *effect)
{
	LIST_EACH_SAFE (hook, &smtp->unfit) {
		struct unfit_mail *job = LIST_ENTRY(hook, struct unfit_mail, hook);
		if (effect && job->effect != effect)
			continue;
		list_remove(&job->hook);
		free(job);
	}
}

static void smtp_stop(void *self, struct effect *effect)
{
	struct smtp *smtp = self;
	struct smtp_transfer *transfer = find_in(&smtp->waiting, effect);
	if (transfer) {
		smtp_transfer_free(transfer);
		return;
	}
	drop_unfit(smtp, effect);
	transfer = find_in(&smtp->active, effect);
	if (!transfer)
		return;
	transfer->effect = NULL;
	transfer->must_ask = false;
	if (!transfer->handed_over)
		smtp_transfer_proceed(transfer, false);
}

static int smtp_fd(void *self)
{
	return ((struct smtp *)self)->epoll;
}

static int64_t smtp_wait(void *self)
{
	const struct smtp *smtp = self;
	bool room = count(&smtp->active) < (size_t)smtp->settings.connections;
	if (!list_empty(&smtp->unfit) || (!list_empty(&smtp->waiting) && room))
		return 0;
	if (smtp->timer_us < 0)
		return -1;
	return smtp->timer_us > now_us(smtp) ? smtp->timer_us - now_us(smtp) : 0;
}

static void smtp_work(void *self)
{
	struct smtp *smtp = self;
	bool moved;
	tell_unfit(smtp);
	do {
		start_waiting(smtp);
		turn_multi(smtp, 0);
		moved = finish_ended(smtp);
		moved = ask_claims(smtp) || moved;
	} while (moved);
}

/* What is not at its end yet is dropped by its callback; should the server not let it, its socket is cut first. */
static void drop_active(struct smtp *smtp)
{
	LIST_EACH (hook, &smtp->active) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		transfer->effect = NULL;
		if (!transfer->handed_over)
			smtp_transfer_proceed(transfer, false);
	}
	for (int i = 0; i < CLOSE_ROUNDS && !list_empty(&smtp->active); i++) {
		turn_multi(smtp, CLOSE_ROUND_MS);
		finish_ended(smtp);
	}
	while (!list_empty(&smtp->active)) {
		struct smtp_transfer *transfer = LIST_ENTRY(smtp->active.next, struct smtp_transfer, hook);
		if (transfer->fd != CURL_SOCKET_BAD)
			shutdown(transfer->fd, SHUT_RDWR);
		curl_multi_remove_handle(smtp->multi, transfer->easy);
		smtp_transfer_free(transfer);
	}
}

/* libcurl says QUIT on each idle connection and waits two minutes for an answer. What we no longer listen to has none to wait for. */
static void close_multi(struct smtp *smtp)
{
	for (size_t i = 0; i < smtp->open_count; i++)
		shutdown(smtp->open[i], SHUT_RD);
	curl_multi_cleanup(smtp->multi);
	free(smtp->open);
}

static void smtp_close(void *self)
{
	struct smtp *smtp = self;
	while (!list_empty(&smtp->waiting))
		smtp_transfer_free(LIST_ENTRY(smtp->waiting.next, struct smtp_transfer, hook));
	drop_unfit(smtp, NULL);
	drop_active(smtp);
	close_multi(smtp);
	close(smtp->epoll);
	free((char *)smtp->settings.host);
	free((char *)smtp->settings.ca);
	free((char *)smtp->settings.user);
	free((char *)smtp->settings.password);
	free(smtp);
}

static const char *copy(const char *text)
{
	return text ? memory_copy_text(text) : NULL;
}

static void open_multi(struct smtp *smtp)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(smtp->multi = curl_multi_init()))
		die("libcurl does not start");
	smtp->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (smtp->epoll < 0)
		die("epoll: %s", strerror(errno));
	curl_multi_setopt(smtp->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(smtp->multi, CURLMOPT_SOCKETDATA, smtp);
	curl_multi_setopt(smtp->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(smtp->multi, CURLMOPT_TIMERDATA, smtp);
	curl_multi_setopt(smtp->multi, CURLMOPT_MAXCONNECTS, (long)smtp->settings.connections);
}

struct effect_driver *transport_smtp_new(const struct smtp_settings *settings)
{
	struct smtp *smtp = memory_new(sizeof(*smtp));
	smtp->settings = *settings;
	smtp->settings.host = copy(settings->host);
	smtp->settings.ca = copy(settings->ca);
	smtp->settings.user = copy(settings->user);
	smtp->settings.password = copy(settings->password);
	smtp->timer_us = -1;
	list_init(&smtp->waiting);
	list_init(&smtp->active);
	list_init(&smtp->unfit);
	open_multi(smtp);
	smtp->driver = (struct effect_driver){ .name = "mail",
		.self = smtp,
		.start = smtp_start,
		.proceed = smtp_proceed,
		.stop = smtp_stop,
		.fd = smtp_fd,
		.wait_us = smtp_wait,
		.work = smtp_work,
		.close = smtp_close };
	return &smtp->driver;
}

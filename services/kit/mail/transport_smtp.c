/*
 * transport_smtp.c: sends many mails at once over a few kept SMTP connections, in the process's own loop
 *
 * Owns:      the connections behind one epoll descriptor, and the mails that go over them or wait for one.
 * Promises:  never blocks, neither for the answer to a mail nor for the one to QUIT; never has more
 *            connections than configured. If the server cannot be reached, one mail at a time tries, and all
 *            others wait in their order (the breaker).
 * Fails by:  mail_result per mail; die() at start on settings that cannot work.
 * Read next: transport_smtp_transfer.c (one mail, its gate and its fate), transport_smtp_connection.c
 */
#include "services/kit/mail/transport_smtp.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/kit/effect/circuit.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 64 };

/*
 * How long a mail waits here for a server that cannot be reached, before it is given back to the sender;
 * shorter than the sender's own deadline.
 */
#define HELD_MOST_US (9 * US_PER_MINUTE)

/* If no connection opens: one try at growing intervals, for all mails together, until a connection opens. */
static const struct circuit closed = { .failures = 1, .first_us = US_PER_S, .most_us = US_PER_MINUTE };

struct unfit_mail {
	struct list hook;
	struct effect *effect;
};

struct smtp {
	struct effect_driver driver;
	struct smtp_settings settings;
	int epoll;
	struct list waiting; /* mails without a place */
	struct list active;  /* mails with a place; each has a connection */
	struct list idle;    /* connections without a mail */
	struct list unfit;   /* mails that SMTP may not carry; work() reports them */
	struct circuit circuit;
	uint64_t begun; /* mails */
};

static int64_t now_us(const struct smtp *smtp)
{
	return clock_boot_us(smtp->settings.clock);
}

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

/* ---- places ---- */

/* An idle connection that is not in use; frees those that the server has left meanwhile. */
static struct smtp_connection *take_idle(struct smtp *smtp)
{
	while (!list_empty(&smtp->idle)) {
		struct smtp_connection *connection = LIST_ENTRY(smtp->idle.next, struct smtp_connection, hook);
		list_remove(&connection->hook);
		if (smtp_connection_is_quiet(connection))
			return connection;
		smtp_connection_free(connection);
	}
	return NULL;
}

/* `idle`: an open connection; NULL: one has to be opened. */
static void give_place(struct smtp *smtp, struct smtp_transfer *transfer, struct smtp_connection *idle)
{
	list_remove(&transfer->hook);
	list_append(&smtp->active, &transfer->hook);
	transfer->connection = idle;
	if (idle) {
		smtp_transfer_begin(transfer);
		return;
	}
	circuit_tried(&smtp->circuit, now_us(smtp));
	transfer->connection = smtp_connection_new(&smtp->settings, smtp->epoll);
}

static int count_opening(const struct smtp *smtp)
{
	int n = 0;
	LIST_EACH (hook, &smtp->active) {
		const struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		n += !transfer->has_ended && !transfer->connection->is_open;
	}
	return n;
}

/* A connection is kept only after a mail that was sent: after any other end its state is not known. */
static bool keeps_connection(const struct smtp_transfer *transfer)
{
	return smtp_transfer_result(transfer).end == MAIL_SENT && !transfer->trouble[0];
}

static bool any_open(const struct smtp *smtp)
{
	LIST_EACH (hook, &smtp->active) {
		const struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		if (transfer->connection && transfer->connection->is_open &&
			(!transfer->has_ended || keeps_connection(transfer)))
			return true;
	}
	return !list_empty(&smtp->idle);
}

/* While the server cannot be reached only one mail tries at a time, for as long as that takes. */
static bool may_connect(const struct smtp *smtp, int opening)
{
	return !circuit_is_open(&smtp->circuit) || (opening == 0 && circuit_may_try(&smtp->circuit, now_us(smtp)));
}

/*
 * Further connections are opened only beside an open one: one mail finds out whether the server answers at
 * all.
 */
static bool may_open_another(const struct smtp *smtp)
{
	int opening = count_opening(smtp);
	return (opening == 0 || any_open(smtp)) && may_connect(smtp, opening);
}

static bool is_full(const struct smtp *smtp)
{
	return count(&smtp->active) >= (size_t)smtp->settings.connections;
}

/* A mail takes an idle connection at any time, also while the server accepts no further ones. */
static bool has_place(const struct smtp *smtp)
{
	return !is_full(smtp) && (!list_empty(&smtp->idle) || may_open_another(smtp));
}

static void start_waiting(struct smtp *smtp)
{
	while (!list_empty(&smtp->waiting) && has_place(smtp)) {
		struct smtp_connection *idle = take_idle(smtp);
		if (!idle && !may_open_another(smtp))
			return;
		give_place(smtp, LIST_ENTRY(smtp->waiting.next, struct smtp_transfer, hook), idle);
	}
}

/* Puts a mail back to its old place: before all mails that were started after it. */
static void wait_again(struct smtp *smtp, struct smtp_transfer *transfer)
{
	struct list *before = &smtp->waiting;
	list_remove(&transfer->hook);
	smtp_connection_free(transfer->connection);
	transfer->connection = NULL;
	LIST_EACH (hook, &smtp->waiting) {
		if (LIST_ENTRY(hook, struct smtp_transfer, hook)->number < transfer->number)
			continue;
		before = hook;
		break;
	}
	list_append(before, &transfer->hook); /* in front of `before` */
}

/*
 * Gives one mail back to the sender, so that the outage becomes known: the first mail of an outage, and later
 * each mail that has waited for too long. All others wait here. While another connection is open there is no
 * outage, the server only admits no more of them: the mail waits for one that is open.
 */
static void no_connection(struct smtp *smtp, struct smtp_transfer *transfer, const char *why)
{
	bool known = circuit_is_open(&smtp->circuit), is_served = any_open(smtp);
	circuit_failed(&smtp->circuit, now_us(smtp));
	if (!known)
		log_event(LOG_WARNING,
			"no %sconnection to the mail server %s:%d: %s: mails wait%s, and it is tried again",
			is_served ? "further " : "", smtp->settings.host, smtp->settings.port, why,
			is_served ? " for those that are open" : "");
	if (is_served || (known && now_us(smtp) - transfer->begun_us < HELD_MOST_US)) {
		wait_again(smtp, transfer);
		return;
	}
	transfer->no_server = true;
	smtp_transfer_fail(transfer, why);
}

/*
 * Gives back the mails that have waited for too long. The sender asks for them again, and then it knows of
 * the outage.
 */
static void give_back_held(struct smtp *smtp)
{
	LIST_EACH_SAFE (hook, &smtp->waiting) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		if (!circuit_is_open(&smtp->circuit) || any_open(smtp) ||
			now_us(smtp) - transfer->begun_us < HELD_MOST_US)
			continue;
		list_remove(&transfer->hook);
		list_append(&smtp->active, &transfer->hook);
		transfer->no_server = true;
		smtp_transfer_fail(transfer, "no connection to the mail server for minutes");
	}
}

/* ---- events ---- */

static void open_further(struct smtp *smtp, struct smtp_transfer *transfer, int fd, uint32_t events)
{
	char why[256];
	int r = smtp_connection_opening(transfer->connection, fd, events, why);
	if (r < 0) {
		no_connection(smtp, transfer, why);
	} else if (r > 0) {
		if (circuit_is_open(&smtp->circuit))
			log_event(LOG_NOTICE, "the mail server %s:%d is there again", smtp->settings.host,
				smtp->settings.port);
		circuit_worked(&smtp->circuit);
		smtp_transfer_begin(transfer);
	}
}

/*
 * While a connection opens, libcurl may use two sockets that only it knows: so every such connection gets the
 * event.
 */
static void on_event(struct smtp *smtp, int fd, uint32_t events)
{
	LIST_EACH_SAFE (hook, &smtp->idle) {
		struct smtp_connection *connection = LIST_ENTRY(hook, struct smtp_connection, hook);
		if (connection->fd == fd && !smtp_connection_is_quiet(connection))
			smtp_connection_free(connection);
	}
	LIST_EACH_SAFE (hook, &smtp->active) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		if (transfer->has_ended)
			continue;
		if (!transfer->connection->is_open)
			open_further(smtp, transfer, fd, events);
		else if (transfer->connection->fd == fd)
			smtp_transfer_work(transfer);
	}
}

static void on_time(struct smtp *smtp)
{
	LIST_EACH_SAFE (hook, &smtp->active) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		if (transfer->has_ended)
			continue;
		if (!transfer->connection->is_open)
			open_further(smtp, transfer, CURL_SOCKET_BAD, 0);
		else if (transfer->deadline_us >= 0 && transfer->deadline_us <= now_us(smtp))
			smtp_transfer_fail(transfer, "the server did not answer in time");
		else if (transfer->look_ms > 0 && transfer->look_us <= now_us(smtp))
			smtp_transfer_work(transfer);
	}
}

static void hear_events(struct smtp *smtp)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(smtp->epoll, events, EVENTS_AT_ONCE, 0);
	for (int i = 0; i < n; i++)
		on_event(smtp, events[i].data.fd, events[i].events);
	on_time(smtp);
}

/* ---- ends ---- */

/*
 * A connection is kept only after a mail that was sent. After any other end it is closed, so that its state
 * does not matter.
 */
static void finish(struct smtp *smtp, struct smtp_transfer *transfer)
{
	struct effect *effect = transfer->effect;
	struct mail_result result = smtp_transfer_result(transfer);
	if (mail_is_throttled(transfer->answer.code, transfer->answer.text))
		metrics_throttled_by("mail");
	if (keeps_connection(transfer)) {
		list_append(&smtp->idle, &transfer->connection->hook);
		smtp_connection_wait(transfer->connection, EPOLLIN | EPOLLRDHUP);
		transfer->connection = NULL;
	} else if (transfer->connection && transfer->connection->is_open) {
		/* its place at the server is free: a connection may be tried at once */
		smtp->circuit.next_us = now_us(smtp);
	}
	smtp_transfer_free(transfer);
	effect_done(effect, &result);
}

static struct smtp_transfer *first_ended(struct smtp *smtp)
{
	LIST_EACH (hook, &smtp->active) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		if (transfer->has_ended)
			return transfer;
	}
	return NULL;
}

/* Searches the list again after each mail, because effect_done may end others. */
static bool finish_ended(struct smtp *smtp)
{
	struct smtp_transfer *transfer;
	bool any = false;
	for (; (transfer = first_ended(smtp)); any = true)
		finish(smtp, transfer);
	return any;
}

/* The answer may come within effect_claim and change the list, so the loop begins again after each call. */
static bool ask_claims(struct smtp *smtp)
{
	bool any = false;
	for (struct list *hook = smtp->active.next; hook != &smtp->active;) {
		struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		hook = hook->next;
		if (!transfer->must_ask)
			continue;
		transfer->must_ask = false;
		effect_claim(transfer->effect);
		hook = smtp->active.next;
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
		transfer->number = smtp->begun++;
		transfer->begun_us = now_us(smtp);
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

/* Cuts the mail's connection; a last byte that has not left yet never leaves. */
static void smtp_stop(void *self, struct effect *effect)
{
	struct smtp *smtp = self;
	struct smtp_transfer *transfer = find_in(&smtp->waiting, effect);
	if (!transfer)
		transfer = find_in(&smtp->active, effect);
	smtp_transfer_free(transfer);
	drop_unfit(smtp, effect);
}

static int smtp_fd(void *self)
{
	return ((struct smtp *)self)->epoll;
}

static int64_t next_us(const struct smtp_transfer *transfer)
{
	return transfer->connection->is_open ? smtp_transfer_next_us(transfer) : transfer->connection->timer_us;
}

static int64_t smtp_wait(void *self)
{
	const struct smtp *smtp = self;
	int64_t first_us = -1;
	if (!list_empty(&smtp->unfit))
		return 0;
	if (!list_empty(&smtp->waiting) && has_place(smtp))
		return 0;
	if (!list_empty(&smtp->waiting) && !is_full(smtp) && circuit_is_open(&smtp->circuit) &&
		count_opening(smtp) == 0)
		first_us = smtp->circuit.next_us;
	LIST_EACH (hook, &smtp->active) {
		const struct smtp_transfer *transfer = LIST_ENTRY(hook, struct smtp_transfer, hook);
		int64_t at_us = transfer->has_ended ? 0 : next_us(transfer);
		if (at_us >= 0 && (first_us < 0 || at_us < first_us))
			first_us = at_us;
	}
	if (first_us < 0)
		return -1;
	return first_us > now_us(smtp) ? first_us - now_us(smtp) : 0;
}

static void smtp_work(void *self)
{
	struct smtp *smtp = self;
	bool moved;
	tell_unfit(smtp);
	do {
		give_back_held(smtp);
		start_waiting(smtp);
		hear_events(smtp);
		moved = finish_ended(smtp);
		moved = ask_claims(smtp) || moved;
	} while (moved);
}

static void smtp_close(void *self)
{
	struct smtp *smtp = self;
	while (!list_empty(&smtp->waiting))
		smtp_transfer_free(LIST_ENTRY(smtp->waiting.next, struct smtp_transfer, hook));
	while (!list_empty(&smtp->active))
		smtp_transfer_free(LIST_ENTRY(smtp->active.next, struct smtp_transfer, hook));
	while (!list_empty(&smtp->idle))
		smtp_connection_leave(LIST_ENTRY(smtp->idle.next, struct smtp_connection, hook));
	drop_unfit(smtp, NULL);
	close(smtp->epoll);
	free((char *)smtp->settings.host);
	free((char *)smtp->settings.ca);
	free((char *)smtp->settings.user);
	free((char *)smtp->settings.password_file);
	free(smtp);
}

static const char *copy(const char *text)
{
	return text ? memory_copy_text(text) : NULL;
}

struct effect_driver *transport_smtp_new(const struct smtp_settings *settings)
{
	struct smtp *smtp = memory_new(sizeof(*smtp));
	smtp->settings = *settings;
	smtp->settings.host = copy(settings->host);
	smtp->settings.ca = copy(settings->ca);
	smtp->settings.user = copy(settings->user);
	smtp->settings.password_file = copy(settings->password_file);
	smtp->circuit = closed;
	list_init(&smtp->waiting);
	list_init(&smtp->active);
	list_init(&smtp->idle);
	list_init(&smtp->unfit);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		die("libcurl does not start");
	smtp->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (smtp->epoll < 0)
		die("epoll: %s", strerror(errno));
	smtp->driver = (struct effect_driver){ .name = "mail",
		.self = smtp,
		.noted = true,
		.start = smtp_start,
		.proceed = smtp_proceed,
		.stop = smtp_stop,
		.fd = smtp_fd,
		.wait_us = smtp_wait,
		.work = smtp_work,
		.close = smtp_close };
	return &smtp->driver;
}

/* visit.c: one connection and how long it may take */
#include "services/gateway/visit.h"
#include "bus/base/memory.h"
#include <linux/tcp.h> /* glibc's tcp_info is older than tcpi_bytes_received */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { CUTS_AT_ONCE = 32 };                     /* each costs a system call here and a few in the library */
static const int64_t request_us = 5 * US_PER_S; /* one time for all: so the list is sorted by appending */

struct visit {
	struct list link;
	struct visits *visits;
	int fd;
	int64_t deadline_us; /* boot time */
	bool between; /* an answer was taken, and of the next request nothing had come when it was looked at last */
	uint64_t bytes_then;
};

static int64_t now_us(const struct visits *visits)
{
	return clock_boot_us(visits->clock);
}

static void give_time(struct visit *visit)
{
	visit->deadline_us = now_us(visit->visits) + request_us;
	list_remove(&visit->link);
	list_append(&visit->visits->list, &visit->link);
}

/* The library does not tell when the first byte of a request arrives; the kernel does. */
static uint64_t bytes_received(const struct visit *visit)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(visit->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 ? info.tcpi_bytes_received : 0;
}

/* A proxy that keeps its connection for later is not slow: its time begins when it begins to send. */
static bool may_stay(struct visit *visit)
{
	if (!visit->between)
		return false;
	visit->between = bytes_received(visit) == visit->bytes_then;
	give_time(visit);
	return true;
}

void visits_init(struct visits *visits, const struct clock *clock)
{
	list_init(&visits->list);
	visits->clock = clock;
	visits->count = 0;
}

static void cut(struct visit *visit, uint64_t *counter)
{
	list_remove(&visit->link);
	shutdown(visit->fd, SHUT_RDWR);
	(*counter)++;
}

int64_t visits_cut(struct visits *visits, uint64_t *counter)
{
	int looked_at = 0;

	LIST_EACH_SAFE (hook, &visits->list) {
		struct visit *visit = LIST_ENTRY(hook, struct visit, link);
		int64_t left_us = visit->deadline_us - now_us(visits);

		if (left_us > 0)
			return left_us;
		if (++looked_at > CUTS_AT_ONCE)
			return 0;
		if (!may_stay(visit))
			cut(visit, counter);
	}
	return list_empty(&visits->list) ? -1 : request_us;
}

void visits_leave(struct visits *visits)
{
	LIST_EACH_SAFE (hook, &visits->list) {
		struct visit *visit = LIST_ENTRY(hook, struct visit, link);

		if (visit->between && bytes_received(visit) == visit->bytes_then)
			shutdown(visit->fd, SHUT_RDWR);
	}
}

void visits_make_room(struct visits *visits, unsigned most, uint64_t *counter)
{
	if (visits->count > most && !list_empty(&visits->list))
		cut(LIST_ENTRY(visits->list.next, struct visit, link), counter);
}

struct visit *visit_begin(struct visits *visits, int fd)
{
	struct visit *visit = memory_new(sizeof(*visit));

	list_init(&visit->link);
	visit->visits = visits;
	visit->fd = fd;
	visits->count++;
	give_time(visit);
	return visit;
}

void visit_end(struct visit *visit)
{
	if (!visit)
		return;
	list_remove(&visit->link);
	visit->visits->count--;
	free(visit);
}

void visit_head_came(struct visit *visit)
{
	visit->between = false;
}

void visit_hold(struct visit *visit)
{
	list_remove(&visit->link);
}

void visit_answering(struct visit *visit)
{
	give_time(visit);
}

void visit_answered(struct visit *visit)
{
	visit->between = true;
	visit->bytes_then = bytes_received(visit);
	give_time(visit);
}

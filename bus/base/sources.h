/*
 * sources.h: limits the cost of clients that have not proven themselves, per source and for all sources
 * together
 *
 * A process that listens to strangers has costs before it knows them: a descriptor, the bytes they have sent,
 * the CPU time to find out that they are nobody. Each cost has a budget per source and one for all sources
 * together. A source is an IPv4 address, an IPv6 /64 (the network of one customer), or a user of this machine
 * (`source_key_of_user`). There are three kinds of cost:
 *
 * - connections, which are entered and left;
 * - bytes held, which are taken and given back;
 * - work, in microseconds, which is spent and paid back by time: a bucket that refills at so many percent of one CPU. A penalty
 *   is work that was never done: it keeps its source out for a while.
 *
 * When a request turns out to be proven, its work is given back (`source_prove`), and the source is
 * remembered as proven. A source of NULL is unknown (a client of a proxy that does not name its clients):
 * only the budgets of all sources apply to it.
 *
 * It uses no clock and no sockets. `now_us` is boot time and never goes back. Memory is bounded by
 * `sources_most` sources. Sources that hold nothing are forgotten first: those whose proof is too old, then
 * those that never proved themselves, and of these the longest unseen. It is not for two threads at a time:
 * the broker's sockets have a lock around it (bus/broker/accept.c).
 *
 * The gateway and the metrics page (services/kit/web/web.c), LMTP (services/platform/mailin/lmtp_server.c)
 * and the broker use it.
 */
#ifndef BASE_SOURCES_H
#define BASE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct sources;
struct source;

struct source_limits {
	unsigned connections_each, connections_all;
	size_t bytes_each, bytes_all;
	int work_percent_each, work_percent_all; /* of one CPU; 1 or more */
	/* how much work a source may cause at once before it has to rest */
	int64_t work_burst_us;
	unsigned sources_most; /* the most remembered sources; more than connections_all */
};

struct source_key {
	uint8_t bytes[17]; /* a kind and 16 bytes; a shorter address is filled with zeros */
};

enum source_verdict {
	SOURCE_WELCOME,
	SOURCE_CROWDED, /* this source has used up its own budget */
	SOURCE_FULL,    /* all sources together have used up their budget */
	/* it, or all sources together, must rest; only the owner gives this verdict, by source_rest_us */
	SOURCE_RESTING,
	SOURCE_WITHOUT_DESCRIPTOR /* the process has no descriptor left; only the owner gives this verdict */
};

/* A source that was refused, for a line in the log. */
struct source_turned_away {
	char who[64];            /* source_key_text; "" for an unknown source */
	enum source_verdict why; /* of the last refusal */
	uint64_t count;          /* refusals since it was last taken */
};

/* Refusals since the start, by verdict, and what the sources hold now. */
struct source_figures {
	uint64_t crowded, full, resting, without_descriptor;
	uint64_t turned_away; /* all of these */
	unsigned connections, remembered;
	size_t bytes, bytes_peak;
};

/* The whole address of IPv4, also where it is mapped into IPv6; the first 64 bits of IPv6. false: another family. */
bool source_key_of_address(const struct sockaddr *address, struct source_key *ret);
bool source_key_of_text(const char *address, struct source_key *ret); /* a numeric address without port or brackets */
struct source_key source_key_of_user(uint32_t uid);
void source_key_text(const struct source_key *key, char ret[64]); /* "192.0.2.1", "2001:db8::/64", "uid:1000" */
const char *source_verdict_text(enum source_verdict verdict);     /* the reason of a refusal, in words for the log */

struct sources *sources_new(const struct source_limits *limits);
void sources_free(struct sources *sources); /* takes NULL; every source must have given back what it held */
void sources_set_limits(
	struct sources *sources, const struct source_limits *limits); /* sources keep what they hold already */

/*
 * Asks for one more connection. SOURCE_WELCOME: it is counted until source_leave, and *ret is borrowed until then. Every other verdict:
 * the refusal is counted, and *ret is NULL. `key` NULL: the source is unknown, and *ret is NULL; source_leave is still due.
 */
enum source_verdict source_enter(
	struct sources *sources, const struct source_key *key, int64_t now_us, struct source **ret);
/* The verdict that source_enter would give; counts nothing. For an owner that can make room first. */
enum source_verdict source_may_enter(const struct sources *sources, const struct source_key *key);
/* The source with this key; NULL: it is not remembered. */
const struct source *source_find(const struct sources *sources, const struct source_key *key);
void source_leave(struct sources *sources, struct source *source, int64_t now_us);
/* The same for a client behind a proxy, whose connection is counted already: never refused. NULL: no room to remember it. */
struct source *source_attach(struct sources *sources, const struct source_key *key, int64_t now_us);
void source_detach(struct sources *sources, struct source *source, int64_t now_us);

/* Takes bytes from the budgets, to be given back with the same source. false: took nothing, and *ret_verdict names the exhausted budget. */
bool source_take_bytes(struct sources *sources, struct source *source, size_t bytes, enum source_verdict *ret_verdict);
void source_give_bytes(struct sources *sources, struct source *source, size_t bytes);
size_t source_bytes(
	const struct sources *sources, const struct source *source); /* that the source holds; NULL: that all hold */

/* Charges work that was done for the source, or a penalty. A debt keeps a source out for at most 10 s. */
void source_spend(struct sources *sources, struct source *source, int64_t work_us, int64_t now_us);
/* The request that the work was for is proven: gives the work back. */
void source_prove(struct sources *sources, struct source *source, int64_t work_us, int64_t now_us);
/* How many microseconds to wait before more work for it; 0: none. A source that proved itself within the last hour does not wait for others. */
int64_t source_rest_us(const struct sources *sources, const struct source *source, int64_t now_us);
bool source_is_proven(const struct source *source, int64_t now_us);
const struct source_key *source_key(const struct source *source); /* of a source of NULL: NULL */
/* Counts a refusal by the owner. `key` NULL: the source is unknown. source_enter counts its own refusals. */
void source_turn_away(struct sources *sources, const struct source_key *key, enum source_verdict why);
void sources_turned_away(struct sources *sources, enum source_verdict why); /* the same for an unknown source */
/* Takes the next refused source to log; false: none. It keeps at most 64 between two calls; the figures count all. */
bool sources_take_turned_away(struct sources *sources, struct source_turned_away *ret);

void sources_figures(const struct sources *sources, struct source_figures *ret);

#endif

/*
 * desk.h: a broker on the desk: in-memory or RocksDB store, virtual clock, peers played by hand
 *
 * What the broker pushes to a mailbox is taken apart and lies on the peer's tray, in order, until the test takes it.
 */
#ifndef TESTS_UNIT_BROKER_DESK_H
#define TESTS_UNIT_BROKER_DESK_H

#include "bus/broker/broker.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include <jansson.h>

enum { TRAY_MAX = 8192, DESK_PEERS_MAX = 64 };

struct item {
	Down down;
	Envelope envelope; /* of the body, when it has one */
	struct buffer body;
};

struct peer {
	struct desk *desk;
	char routing[64], who[72];
	char service[32], instance[64];
	uint64_t epoch, number, requests, pings;
	UpCredit credit;
	bool mailbox_open, deaf; /* deaf: its mailbox takes nothing */
	uint64_t down_number;
	struct item *tray[TRAY_MAX];
	int count, taken;
	bool welcomed, standby, rebuild, refused, refused_final, lost;
	uint64_t head, opening;
	char reason[256];
	struct buffer answer;
	bool answered, answer_ok;
};

struct desk {
	char path[64]; /* empty: in memory */
	struct clock clock;
	struct topology topology;
	struct broker_settings settings;
	struct broker *broker;
	struct store *store; /* the broker's: for tests that break it */
	struct peer *peers[DESK_PEERS_MAX];
	int peer_count;
	int commit_result;
	uint64_t tapped;
	char why[512];
};

/* A queue of two topics, an exclusive service, a gateway, an operator: enough for every rule. */
extern const char desk_topology[];

struct desk *desk_open(void);
struct desk *desk_open_disk(void);
int desk_start(struct desk *desk, const char *topology); /* opens (again); -EUCLEAN: desk->why */
void desk_crash(struct desk *desk);                      /* closes it as it is; sessions and mailboxes are gone */
void desk_close(struct desk *desk);
json_t *desk_verified(struct desk *desk);      /* the report of a verification of its log (verify.h); the caller's */
void desk_work(struct desk *desk);             /* commit and tick until nothing is left to do now */
void desk_pass(struct desk *desk, int64_t us); /* time, with every peer's heartbeat on the way */
void desk_pass_silent(struct desk *desk, int64_t us); /* ... without */

struct peer *peer_new(struct desk *desk, const char *service, const char *instance);
void peer_hello(struct peer *peer, const char *run, uint64_t cursor); /* and works; credit is ample after it */
void peer_say_hello(struct peer *peer, const Hello *hello);
void peer_credit(struct peer *peer, uint64_t deliveries, uint64_t projections); /* more of it */
void peer_heartbeat(struct peer *peer, uint64_t spooled);
void peer_goodbye(struct peer *peer);
void peer_control(struct peer *peer, const Control *said);
void peer_push(struct peer *peer, struct frame_writer *writer);

/* NULL: shop "s", key "k", no idempotency key, text "text" */
struct words {
	const char *topic, *shop, *key, *idem, *text;
	uint64_t version;
	bool tombstone, claim;
};
void words_write(const struct words *words, struct buffer *ret);
uint64_t peer_publish(struct peer *peer, const struct words *words); /* its request */
#define PUBLISH(peer, ...) peer_publish((peer), &(struct words){ __VA_ARGS__ })

/* Publishes, works, and returns the confirm. */
Confirm peer_said(struct peer *peer, const struct words *words);
#define SAID(peer, ...) peer_said((peer), &(struct words){ __VA_ARGS__ })

struct verdict_words {
	VerdictKind kind;
	bool failed;
	int64_t delay_us;
	const char *reason;
	const struct words *facts;
	uint32_t fact_count;
};
uint64_t peer_turn(struct peer *peer, const Receipt *receipt, const struct verdict_words *how);
Confirm peer_turned(struct peer *peer, const Receipt *receipt, const struct verdict_words *how);
#define TURN(peer, receipt, ...) peer_turned((peer), (receipt), &(struct verdict_words){ __VA_ARGS__ })

/* The next of its kind on the tray, taken; NULL: there is none. */
struct item *peer_delivery(struct peer *peer);
struct item *peer_projection(struct peer *peer);
const Progress *peer_progress(struct peer *peer); /* the last one */
bool peer_confirm(struct peer *peer, uint64_t request, Confirm *ret);
int peer_count(const struct peer *peer, pb_size_t kind); /* of those not taken yet */

json_t *peer_ask(struct peer *peer, const char *verb, const char *argument); /* NULL: refused, peer->answer says why */
uint64_t status_refused(struct desk *desk, const char *what);

#endif

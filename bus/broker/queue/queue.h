/*
 * queue.h: competing consumers of declared topics
 *
 * A queue is a set of acknowledged numbers (bitmaps) over the log, a row for each message that failed and
 * waits for its retry, and a bounded window of pending items in memory. Messages of one (shop, key) form a
 * chain: only its first item can be ready, leased or delayed.
 */
#ifndef BROKER_QUEUE_QUEUE_H
#define BROKER_QUEUE_QUEUE_H

#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/broker/core.h"
#include "bus/broker/queue/breaker.h"
#include <stdint.h>

/*
 * The chains: for each key its items in order
 *
 * A chain is found by the hash of shop and key. It exists as long as it has queue items.
 */

struct key_chain;

struct chain {
	struct chain *next; /* the next chain of the same bucket */
	uint64_t key_hash;
	struct list items; /* struct queue_item, in_chain */
};

struct key_chain *key_chain_new(void);
void key_chain_free(struct key_chain *key_chains);                            /* takes NULL; items are not touched */
struct chain *key_chain_get(struct key_chain *key_chains, uint64_t key_hash); /* a new one if there is none */
void key_chain_drop(struct key_chain *key_chains, struct chain *chain);       /* removes an empty chain */

enum {
	WINDOW_READY = 4096,   /* ready or leased items in memory */
	WINDOW_ITEMS = 262144, /* all items in memory, including those that wait behind others */
	ACKS_PER_ROW = 4096,
};

enum queue_item_state { ITEM_BEHIND, ITEM_READY, ITEM_LEASED, ITEM_DELAYED };

struct redrive;
struct ack_bitmap;

struct queue_item {
	struct list in_queue; /* in the order in which they were found */
	struct list in_chain;
	struct list in_state; /* ready: the queue's; leased: the session's */
	uint64_t seq;
	uint64_t key_hash;
	struct chain *chain;
	int topic;
	enum queue_item_state state;
	uint32_t attempt;
	Trouble *retry;         /* NULL: it never failed */
	int64_t lease_until_us; /* boot time */
	struct session *holder;
	bool suspect;               /* the session that held it died or hung: the item is handed out alone next time */
	bool alone;                 /* it is handed out alone now */
	uint32_t uncounted_crashes; /* crashes while it was handed out alone that did not count as failures */
	/* id of the last crash of a session that had it together with others; 0: none */
	uint64_t shared_crash_id;
	/*
	 * log time of that crash, which counts as a failure if the item then fails alone; 0: it does not
	 * count
	 */
	int64_t suspected_at_us;
	bool redriven;
	bool died; /* it was a dead letter, whose row stays */
};

/* The crash of a session of the queue's service. */
struct death {
	int64_t boot_us;
	uint64_t id;  /* from 1; 0: none yet */
	uint64_t seq; /* the item that it had alone; 0: it had several, or none */
};
enum { DEATHS_REMEMBERED = 16 };

struct queue {
	const struct topology_peer *peer;
	int index;        /* index of the peer */
	uint64_t floor;   /* everything up to here is settled */
	uint64_t scanned; /* the window has read the log up to here */
	uint64_t floor_written;
	uint64_t *since_topic; /* by the topic's index: the queue hears the topic from this number on */
	struct list items;     /* struct queue_item, in order of seq, without redriven ones */
	struct list redriven;
	struct list ready;
	struct u64map *by_seq;
	struct key_chain *key_chains;
	struct pool spare;                  /* items */
	struct sorted_map *due;             /* be64 due, be64 seq -> item */
	struct map *retries;                /* seq -> Trouble of items that are not in the window yet */
	struct map *ack_bitmaps;            /* row number -> struct ack_bitmap */
	struct ack_bitmap *ack_bitmap_last; /* NULL: none */
	/* seq of dropped dead letters whose deletion is not committed yet */
	struct map *dropped;
	uint64_t ready_count, leased_count, delayed_count, redriven_count, dead_count, failures;
	struct redrive *redrive;  /* redrive.c; NULL: there was none since the start */
	uint64_t served_order;    /* the order of the session that was served last */
	struct session *draining; /* gets nothing until it has no items, because a suspect waits for it */
	struct death deaths[DEATHS_REMEMBERED];
	uint64_t deaths_counted;
	struct breaker breaker;
	char pause_reason[256]; /* of the last failure while it is paused */
};

int queue_open(struct broker *broker, int peer, struct queue **ret);
void queue_free(struct queue *queue); /* takes NULL */
/* Fills the window with limited work. true: more would have to be read from disk. */
bool queue_refill(struct broker *broker, struct queue *queue);
struct queue_item *queue_find(const struct queue *queue, uint64_t seq);
struct queue_item *queue_add(struct queue *queue, uint64_t seq, uint64_t key_hash, int topic, bool redriven);

/*
 * Ends the item: it is acknowledged (on disk with the next commit), and the next item of its chain becomes
 * ready. Frees the item.
 */
void queue_settle(struct broker *broker, struct queue *queue, struct queue_item *item);
/* Moves a waiting item to the beginning of its chain, unless an item of the chain is leased. */
void queue_bring_forward(struct queue *queue, struct queue_item *item);
/* Ends the lease. queue_unlease makes the item ready; queue_delay makes it ready at `due_us` (log time). */
void queue_unlease(struct queue *queue, struct queue_item *item);
void queue_delay(struct broker *broker, struct queue *queue, struct queue_item *item, int64_t due_us);
void queue_wake(struct queue *queue, int64_t wall_us); /* makes due items ready */
int64_t queue_next_due_us(const struct queue *queue);  /* INT64_MAX: nothing is delayed */
/* writes all changes into the batch */
void queue_write(struct broker *broker, struct queue *queue);
/* log time of its oldest item; 0: none */
int64_t queue_oldest_us(struct broker *broker, const struct queue *queue);

/* ack_bitmap.c */
bool ack_bitmap_has(struct queue *queue, uint64_t seq);
void ack_bitmap_set(struct queue *queue, uint64_t seq);
int ack_bitmap_open(struct broker *broker, struct queue *queue);
void ack_bitmap_write(struct broker *broker, struct queue *queue);
void ack_bitmap_free(struct queue *queue);
void queue_row_key(const struct queue *queue, char kind, uint64_t number, struct buffer *ret);

/* breaker.c. A failure: is the queue paused because of it, or already? Then it is not the item's failure. */
bool queue_pause_failed(struct broker *broker, struct queue *queue, const struct queue_item *item, const char *reason);
void queue_pause_worked(struct broker *broker, struct queue *queue);
/* ends the pause for the operator; true: the queue was paused */
bool queue_pause_end(struct broker *broker, struct queue *queue);
int queue_pause_open(struct broker *broker, struct queue *queue);

/* dead.c */
void dead_letter(
	struct broker *broker, struct queue *queue, struct queue_item *item, const char *reason, const char *by);
int dead_read(
	struct broker *broker, const struct queue *queue, uint64_t seq, Trouble *ret_retry, struct buffer *ret_message);
bool dead_redrive(struct broker *broker, struct queue *queue, uint64_t seq);
/* Puts a settled message back into the queue. false: it is not settled, or it is a dead letter. */
bool dead_replay(struct broker *broker, struct queue *queue, const struct logged *logged);
bool dead_drop(struct broker *broker, struct queue *queue, uint64_t seq, const char *why);
/* Deletes the dead letter without logging its key. false: it is not among the dead letters. */
bool dead_erase(struct broker *broker, struct queue *queue, uint64_t seq);
void dead_key(const struct queue *queue, uint64_t seq, struct buffer *ret); /* the key of the item's row */
/* to be called when a redriven item was handled */
void dead_settled(struct broker *broker, struct queue *queue, uint64_t seq);
void dead_committed(struct broker *broker); /* to be called when the deletion of dropped items is committed */
int dead_open(struct broker *broker);       /* puts redriven items back into their queues */

/* retry.c: one more failure. At the limit the item is dead; else it waits its backoff (or `delay_us`, if given). */
void retry_failed(struct broker *broker, struct queue *queue, struct queue_item *item, int64_t delay_us,
	const char *reason, const char *by);
/* Refused for good: dead at once. */
void retry_refused(
	struct broker *broker, struct queue *queue, struct queue_item *item, const char *reason, const char *by);
/* Counts one more failure, of an earlier time, without moving the item. */
void retry_counted(struct queue *queue, struct queue_item *item, int64_t at_us, const char *reason, const char *by);
void retry_waits(struct broker *broker, struct queue *queue, struct queue_item *item, int64_t delay_us);
void retry_forget(struct broker *broker, struct queue *queue, struct queue_item *item);
int retries_open(struct broker *broker, struct queue *queue);
void retry_write(struct broker *broker, struct queue *queue, const struct queue_item *item);
bool retry_decode(struct bytes bytes, Trouble *ret);
void retry_encode(const Trouble *retry, struct buffer *ret);

/*
 * lease.c. A crash makes all items of the session suspects. It counts as a failure of an item only if the
 * item was handed out alone, and if no session of the service crashed shortly before without having it. Then
 * the earlier crash that it shared with others counts as well.
 */
void lease_grant(struct broker *broker, struct queue *queue, struct queue_item *item, struct session *session);
void lease_end(struct queue *queue, struct queue_item *item);
struct queue_item *lease_find(
	struct broker *broker, struct session *session, const Receipt *receipt, struct queue **ret_queue);
void lease_renew(struct broker *broker, struct session *session, const UpRenew *renew);
void leases_expire(struct broker *broker, struct queue *queue);
void lease_adopt(struct broker *broker, struct session *session, const HeldLease *held);
enum parting { PARTING_GOODBYE, PARTING_AGAIN, PARTING_CRASH };
void leases_free(struct broker *broker, struct session *session, enum parting how);

#endif

/*
 * verify.h: checks a whole log offline, without changing it
 *
 * Read next: verify.c (the log, message by message), verify_rows.c (the rows derived from it), verify_queue.c
 * (promise 6)
 */
#ifndef BROKER_VERIFY_VERIFY_H
#define BROKER_VERIFY_VERIFY_H

#include "bus/broker/broker.h"
#include "bus/broker/log/block.h"
#include "bus/wire/message.h"
#include <jansson.h>

struct verify_queue;

struct verify_name {
	char name[32];
	int topic; /* index into the topology; negative: it is not declared any more */
};

struct verify_counts {
	uint64_t messages, erased, dropped, commits, frames, idem, latest;
	uint64_t idem_met, latest_met; /* rows whose message exists and agrees with them */
};

struct verify {
	struct store *store;
	const struct topology *topology;
	/* the window of idempotency keys, except those of claims */
	int64_t idem_window_us;
	int64_t now_us;                               /* the latest log time that is valid */
	void (*progress)(uint64_t done, uint64_t of); /* called from time to time; NULL: not called */
	/* the results */
	char id[40], format[16];
	uint64_t head, boots, folded, kept_from[RETENTION_CLASSES];
	uint64_t rows_before;      /* compacted rows that ended before it are forgotten */
	int64_t time_us;           /* of the last commit */
	uint64_t sidelog_to;       /* the last message that the side log must have; 0: none */
	struct verify_name *names; /* by the number that the log gave the topic */
	size_t name_count;
	struct verify_counts counts;
	struct verify_queue **queues; /* by the peer's index; NULL: the peer hears nothing */
	json_t *problems;             /* array of {"what", "where"}; the first ones */
	uint64_t problem_count;
};

/* One message of the log with its column entry; without bytes and envelope if its frame was dropped. */
struct verify_message {
	uint64_t seq;
	int64_t time_us;
	const struct block_entry *entry;
	struct bytes message;
	Envelope envelope;
};

/*
 * 0: the log was read to its end, with or without problems; otherwise the store's errno. The caller sets the
 * first five fields of `verify`.
 */
int verify_log(struct verify *verify);
json_t *verify_report(const struct verify *verify); /* the result of verify_log; a new reference */
void verify_free(struct verify *verify);

void verify_problem(struct verify *verify, uint64_t seq, const char *format, ...)
	__attribute__((format(printf, 3, 4))); /* seq 0: the problem belongs to no message */
/* Index into the topology of the topic that this log calls `id`; negative: it is not declared any more. */
int verify_topic(const struct verify *verify, uint16_t id);

/*
 * verify_rows.c: verify_derived checks that the rows of a message exist; verify_rows then checks that each
 * row has its message.
 */
void verify_derived(struct verify *verify, const struct verify_message *message);
int verify_rows(struct verify *verify);

/*
 * verify_rows.c, after verify_log: does the side log in this folder belong to the log, and does it have all
 * messages that it must? ret_words tells what is wrong and what to do; "": nothing. false: it is damaged, or
 * the broker refuses it. A missing or short side log is reported but gives true: the first start of a release
 * with side logs writes it, and a broker that is killed between the two writes leaves it behind the log.
 */
void verify_sidelog_note(struct verify *verify, const struct verify_message *message);
bool verify_sidelog(const struct verify *verify, const char *folder, char ret_words[512]);

/*
 * verify_queue.c: promise 6. Each message is exactly one of done, dead, redriven or pending in every queue
 * that hears it.
 */
int verify_queues_open(struct verify *verify);
void verify_heard(struct verify *verify, const struct verify_message *message);
int verify_queues_end(struct verify *verify); /* reports rows that belong to no message */
json_t *verify_queues_report(const struct verify *verify);
void verify_queues_free(struct verify *verify);

/* The command cartbus-broker --verify. */
/* Checks the log in this folder and prints the results. Returns the exit code. */
int verify_command(const char *folder, bool json, const struct topology *topology,
	const struct broker_settings *settings, int64_t now_us);

#endif

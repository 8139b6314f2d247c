/*
 * commit.c: makes one commit of the frames that were heard, and then sends the answers that it covers
 *
 * A commit is sealed, written, and over. While another thread writes it (committer.c), the broker may hear
 * frames: publishes become part of the next commit; frames that settle items wait (ingress.c). So everything
 * that leaves rests on data on the disk.
 *
 * Promises:  nothing leaves (confirm, delivery, projection, welcome, tap) before the sync that covers
 *            everything it refers to. A message that forbids a mail is also written to the side log, and that
 *            is synced as well.
 * Fails by:  -EIO or -ENOSPC after a failed sync and -EUCLEAN when the log cannot be trusted; the process
 *            then says broker_why and exits. Whether that last batch is on the disk is unknown: the senders
 *            repeat it.
 * Read next: committer.c, log.c, sidelog.c
 */
#include "bus/broker/commit.h"
#include "bus/base/log.h"
#include "bus/broker/log/idem.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/queue/claim.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/session/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Handing a commit over wakes two threads. For so few messages and verdicts the broker's thread writes it
 * itself, which is sooner.
 */
enum { WORTH_ANOTHER_THREAD = 16 };

/*
 * While a commit takes longer than this, no peer is heard for longer than a session may be silent: peers that
 * waited for an answer have given the broker up, and an answer sent now is too old. The sessions begin anew,
 * and repeat what was not confirmed.
 */
static const int64_t HUNG_US = 5 * US_PER_S;

/* Verdicts wait this long for more frames: at a thousand messages a second the next one has come by then. */
static const int64_t COMPANY_US = 1 * US_PER_MS;

struct commit *commit_new(void)
{
	struct commit *commit = memory_new(sizeof(*commit));

	list_init(&commit->answers);
	list_init(&commit->sealed_answers);
	return commit;
}

void commit_free(struct commit *commit)
{
	list_move_all(&commit->answers, &commit->sealed_answers);
	LIST_EACH_SAFE (hook, &commit->answers)
		answer_free(LIST_ENTRY(hook, struct answer, hook));
	free(commit);
}

static void show_taps(struct broker *broker, uint64_t from)
{
	struct logged logged;

	if (broker->out.is_tapped && !broker->out.is_tapped(broker->out.context))
		return;
	for (uint64_t at = from; log_find(broker->log, at, &broker->every, &logged) == 0; at = logged.seq + 1)
		tap(broker, &logged);
}

/*
 * Notes for every peer the last message that its projections must have passed before a decision; and sends to
 * the taps.
 */
static void notice_committed(struct broker *broker, uint64_t from)
{
	struct logged logged;

	for (int i = 0; i < broker->topology.peer_count; i++) {
		const struct topology_peer *peer = &broker->topology.peers[i];

		for (uint64_t at = from; log_find(broker->log, at, &peer->remembers, &logged) == 0; at = logged.seq + 1)
			broker->remembered_last[i] = logged.seq;
	}
	if (broker->out.tap)
		show_taps(broker, from);
	broker->commit->messages += log_head(broker->log) + 1 - from;
}

int commit_failed(struct broker *broker, int error)
{
	snprintf(broker->why, sizeof(broker->why), "a commit failed: %.240s. Nothing of it was confirmed; %s",
		store_why(broker->store),
		error == -ENOSPC            ? "make room in the file system of [paths] state, then start again."
			: error == -EUCLEAN ? BROKER_REMEDY
					    : "check the disk, then start again.");
	return broker->broken = error;
}

/*
 * A claim's answer leaves only while no gateway can hold a stop that the broker has not seen; else it is
 * held.
 */
static void let_out_answers(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->commit->sealed_answers) {
		struct answer *answer = LIST_ENTRY(hook, struct answer, hook);
		struct session *session = session_by_epoch(broker, answer->epoch);

		if (answer->claim) {
			claim_hold(broker, answer);
			continue;
		}
		if (session)
			answer_send(broker, session, answer);
		answer_free(answer);
	}
	claims_release(broker);
}

static void say_unreadable(struct broker *broker)
{
	const char *why = store_why(broker->store);

	snprintf(broker->why, sizeof(broker->why),
		"the log or what lies beside it could not be read back as it was written: %.200s. " BROKER_REMEDY,
		why && why[0] ? why : "a checksum is wrong");
}

int check_unbroken(struct broker *broker)
{
	if (broker->broken < 0 && broker->why[0] == '\0')
		say_unreadable(broker);
	return broker->broken;
}

int broker_seal(struct broker *broker)
{
	struct store_batch *batch = broker->batch;
	int r;

	hear_put_off(broker);
	r = check_unbroken(broker);
	if (r == 0) {
		claims_retry(broker);
		r = check_unbroken(broker);
	}
	if (r < 0)
		return r;
	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i])
			queue_write(broker, broker->queues[i]);
	if (log_staged(broker->log) > 0 || store_batch_count(batch) > 0)
		latest_write_cursor(broker, batch);
	log_seal(broker->log, batch, broker_wall_us(broker));
	broker->batch = broker->sealed_batch;
	broker->sealed_batch = batch;
	list_move_all(&broker->commit->sealed_answers, &broker->commit->answers);
	broker->commit->sealed_count = broker->commit->answer_count;
	broker->commit->answer_count = 0;
	broker->commit->verdict_count = 0;
	broker->commit->is_committing = true;
	broker->commit->sealed_boot_us = broker_boot_us(broker);
	return 0;
}

/* True if the commit holds only verdicts without facts. */
static bool only_verdicts(const struct broker *broker)
{
	return broker->commit->verdict_count > 0 && broker->commit->verdict_count == broker->commit->answer_count &&
		log_staged(broker->log) == 0 && store_batch_count(broker->batch) == 0 &&
		list_empty(&broker->sessions->control) && !broker->needs_dispatch;
}

int64_t broker_may_wait_us(struct broker *broker)
{
	int64_t left_us = broker->commit->let_out_boot_us + COMPANY_US - broker_boot_us(broker);

	hear_put_off(broker);
	return broker->commit->is_streaming && left_us > 0 && only_verdicts(broker) ? left_us : 0;
}

bool broker_may_hear_on(const struct broker *broker)
{
	return broker->commit->sealed_count >= WORTH_ANOTHER_THREAD && store_batch_count(broker->sealed_batch) > 0;
}

int broker_write(struct broker *broker)
{
	if (store_batch_count(broker->sealed_batch) == 0)
		return 0;
	return store_commit(broker->store, broker->sealed_batch, true);
}

static void end_sessions_if_hung(struct broker *broker)
{
	int64_t took_us = broker_boot_us(broker) - broker->commit->sealed_boot_us;

	if (took_us < HUNG_US || list_empty(&broker->sessions->all))
		return;
	log_event(LOG_ERROR, "a commit took %lld s: all sessions begin anew. Is the disk of [paths] state well?",
		(long long)(took_us / US_PER_S));
	LIST_EACH_SAFE (hook, &broker->sessions->all)
		session_end(broker, LIST_ENTRY(hook, struct session, hook), PARTING_AGAIN);
}

int broker_let_out(struct broker *broker, int written)
{
	uint64_t from = log_head(broker->log) + 1;
	int r = written < 0 ? commit_failed(broker, written) : check_unbroken(broker);

	if (r < 0)
		return r;
	broker->commit->is_committing = false;
	broker->commit->over++;
	log_committed(broker->log);
	r = sidelog_follow(broker, from);
	if (r < 0)
		return r;
	broker->commit->is_streaming = log_head(broker->log) >= from;
	broker->commit->let_out_boot_us = broker_boot_us(broker);
	idem_committed(broker);
	dead_committed(broker);
	notice_committed(broker, from);
	broker->needs_dispatch = false;
	end_sessions_if_hung(broker);
	let_out_answers(broker);
	control_flush(broker);
	sessions_flush_sayers(broker);
	project_all(broker);
	deliver_all(broker);
	sessions_flush(broker);
	return check_unbroken(broker);
}

int broker_commit(struct broker *broker)
{
	int r = broker_seal(broker);

	return r < 0 ? r : broker_let_out(broker, broker_write(broker));
}

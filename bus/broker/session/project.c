/*
 * project.c: shows each session every message of the topics that it remembers, in log order
 *
 * Promises:  in order, from the session's own cursor, within its credit; *progress* tells the position when
 *            there was nothing to see. A newcomer gets of compacted topics only the rows that still stand,
 *            then the log.
 * Read next: backfill.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/session/session.h"
#include <errno.h>

enum { BACKFILL_AT_ONCE = 256, LOADS_AT_ONCE = 64 }; /* messages, blocks read from the disk */

static bool has_credit(const struct session *session)
{
	return session->projected_messages < session->credit.projection_messages &&
		session->projected_bytes < session->credit.projection_bytes && !session->failing;
}

static void add_topics_not_compacted(
	const struct broker *broker, const struct topology_peer *peer, struct topic_set *ret)
{
	for (TOPIC_SET_EACH(i, &peer->remembers))
		if (broker->topology.topics[i].group[0] == '\0')
			topic_set_add(ret, i);
}

/*
 * Finds the next message once, and keeps it while rows go before it: a newcomer must not read the whole log
 * for every row.
 */
static int find_beside_rows(struct broker *broker, struct session *session)
{
	_cleanup_(topic_set_clear) struct topic_set topics = { 0 };
	struct logged found = { .seq = UINT64_MAX };
	int r;

	if (session->backfill_log > session->cursor)
		return 0;
	if (session->backfill_looked < session->cursor)
		session->backfill_looked = session->cursor;
	add_topics_not_compacted(broker, &broker->topology.peers[session->peer], &topics);
	r = log_find_soon(broker->log, session->backfill_looked + 1, &topics, &session->backfill_looked, &found);
	if (r < 0 && r != -ENOENT)
		return r;
	session->backfill_log = found.seq;
	return 0;
}

static int next_of_log(struct broker *broker, struct session *session, struct logged *ret)
{
	const struct topology_peer *peer = &broker->topology.peers[session->peer];
	int r = log_find_soon(broker->log, session->cursor + 1, &peer->remembers, &session->cursor, ret);

	if (r < 0)
		return r;
	return log_read(broker->log, ret->seq, ret);
}

static void end_backfill(struct session *session)
{
	backfill_free(session->backfill);
	session->backfill = NULL;
}

/* The next message of a newcomer: a row of `latest` or a message of the log; the lower number comes first. */
static int next_for_backfill(struct broker *broker, struct session *session, struct logged *ret)
{
	uint64_t limit = backfill_limit(session->backfill);
	int row, r = find_beside_rows(broker, session);

	if (r < 0)
		return r;
	row = backfill_next(broker, session->backfill, session->cursor + 1, ret);
	if (row < 0 && row != -ENOENT)
		return row;
	if (session->backfill_log <= limit && (row == -ENOENT || session->backfill_log < ret->seq))
		return log_read(broker->log, session->backfill_log, ret);
	if (row == 0)
		return 0;
	if (session->cursor < limit)
		session->cursor = limit;
	end_backfill(session);
	return next_of_log(broker, session, ret);
}

static void project_one(struct broker *broker, struct session *session, const struct logged *logged)
{
	Down down = { .which_what = Down_projection_tag };
	Projection *projection = &down.what.projection;

	projection->seq = logged->seq;
	projection->time_us = logged->time_us;
	TEXT_COPY(projection->said_by, logged->said_by);
	session->cursor = session->told = logged->seq;
	session->projected_messages++;
	session->projected_bytes += logged->message.len;
	session_put(broker, session, &down, logged->message);
}

static void say_progress(struct broker *broker, struct session *session)
{
	Down down = { .which_what = Down_progress_tag };

	down.what.progress.seq = session->told = session->cursor;
	session->told_boot_us = broker_boot_us(broker);
	session->wants_progress = false;
	session_put(broker, session, &down, BYTES(NULL, 0));
}

/*
 * A newcomer, or a session that was away for long, is served in small pieces: other peers wait for the same
 * thread.
 */
static bool has_had_its_share(const struct broker *broker, const struct session *session, int given, uint64_t loads)
{
	return (session->backfill && given >= BACKFILL_AT_ONCE) || log_loads(broker->log) - loads >= LOADS_AT_ONCE;
}

static void project(struct broker *broker, struct session *session)
{
	uint64_t loads = log_loads(broker->log);
	struct logged logged;
	int r = 0;

	if (!topic_set_any(&broker->topology.peers[session->peer].remembers) && !session->backfill)
		session->cursor = log_head(broker->log);
	for (int given = 0; r == 0 && session->cursor < log_head(broker->log) && has_credit(session); given++) {
		r = has_had_its_share(broker, session, given, loads) ? -EAGAIN
			: session->backfill                          ? next_for_backfill(broker, session, &logged)
								     : next_of_log(broker, session, &logged);
		if (r == 0 && !(logged.flags & FLAG_ERASED)) /* the message may have been found before it was erased */
			project_one(broker, session, &logged);
		else if (r == 0)
			session->cursor = logged.seq;
	}
	if (session->backfill && session->cursor >= backfill_limit(session->backfill))
		end_backfill(session);
	if (r == -EAGAIN)
		broker->needs_dispatch = true;
	else if (r < 0 && r != -ENOENT)
		broker->broken = r;
	if (session->wants_progress && session->cursor == log_head(broker->log))
		say_progress(broker, session);
}

void project_all(struct broker *broker)
{
	LIST_EACH (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session_may(session, RIGHT_FOLD))
			project(broker, session);
	}
}

void progress_due(struct broker *broker, struct session *session)
{
	if (session->told == session->cursor || session->cursor < log_head(broker->log) ||
		broker_boot_us(broker) - session->told_boot_us < broker->settings.heartbeat_us)
		return;
	session->wants_progress = true;
	broker->needs_dispatch = true;
}

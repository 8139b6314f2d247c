/*
 * redis.c: a Redis stream with a group, appendfsync always; through hiredis, pipelined
 */
#include "bus/base/log.h"
#include "tests/bench/bus/peer.h"
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>

static redisContext *open_context(const struct load *load)
{
	redisContext *context = redisConnect("127.0.0.1", atoi(load->address));
	redisReply *reply;

	if (!context || context->err)
		die("cannot connect to Redis on port %s", load->address);
	reply = redisCommand(context, "XGROUP CREATE bench workers $ MKSTREAM");
	if (!reply || (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "BUSYGROUP", 9) != 0))
		die("Redis makes no group: %s", reply ? reply->str : context->errstr);
	freeReplyObject(reply);
	return context;
}

static void *open_peer(const struct load *load)
{
	return open_context(load);
}

static void publish(void *producer, uint64_t nth, struct bytes body)
{
	const char *words[] = { "XADD", "bench", "*", "b", body.data };
	const size_t lengths[] = { 4, 5, 1, 1, body.len };

	(void)nth;
	redisAppendCommandArgv(producer, 5, words, lengths);
}

static void flush(redisContext *context)
{
	int done = 0;

	while (!done)
		if (redisBufferWrite(context, &done) != REDIS_OK)
			die("cannot write to Redis: %s", context->errstr);
}

/* The next reply if it is here; NULL: not yet. */
static redisReply *next_reply(redisContext *context)
{
	void *reply = NULL;

	if (redisGetReplyFromReader(context, &reply) != REDIS_OK)
		die("Redis: %s", context->errstr);
	if (reply && ((redisReply *)reply)->type == REDIS_REPLY_ERROR)
		die("Redis says %s", ((redisReply *)reply)->str);
	return reply;
}

static uint64_t confirmed(void *producer, int64_t wait_us)
{
	redisContext *context = producer;
	struct pollfd ready = { .fd = context->fd, .events = POLLIN };
	struct timespec wait = { .tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000 };
	uint64_t count = 0;
	redisReply *reply;

	flush(context);
	if (ppoll(&ready, 1, &wait, NULL) <= 0)
		return 0;
	if (redisBufferRead(context) != REDIS_OK)
		die("cannot read from Redis: %s", context->errstr);
	for (; (reply = next_reply(context)); count++)
		freeReplyObject(reply);
	return count;
}

static uint64_t acknowledge(redisContext *context, const redisReply *messages)
{
	for (size_t i = 0; i < messages->elements; i++)
		redisAppendCommand(context, "XACK bench workers %s", messages->element[i]->element[0]->str);
	for (size_t i = 0; i < messages->elements; i++) {
		void *reply;

		if (redisGetReply(context, &reply) != REDIS_OK)
			die("cannot read from Redis: %s", context->errstr);
		freeReplyObject(reply);
	}
	return messages->elements;
}

static uint64_t consumed(void *consumer, int64_t wait_us)
{
	uint64_t count = 0;
	redisReply *reply = redisCommand(consumer, "XREADGROUP GROUP workers one COUNT %d BLOCK %d STREAMS bench >",
		UNACKNOWLEDGED_MOST, (int)(wait_us / 1000) + 1);

	if (!reply || reply->type == REDIS_REPLY_ERROR)
		die("Redis gives no messages: %s", reply ? reply->str : ((redisContext *)consumer)->errstr);
	if (reply->type == REDIS_REPLY_ARRAY)
		count = acknowledge(consumer, reply->element[0]->element[1]);
	freeReplyObject(reply);
	return count;
}

const struct peer peer_redis = { "redis", open_peer, publish, confirmed, open_peer, consumed, NULL };

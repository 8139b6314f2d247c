/*
 * streams.c: limits the number of streamed bodies, and ends a slow one when another needs its place
 *
 * Promises:  a body that comes slowly keeps its place only while no other body needs it, and never longer
 *            than 5 minutes.
 * Fails by:  503 with words.
 * Read next: web.c, network.h (the limits of a network)
 */
#include "services/kit/web/web_inside.h"

enum { STREAM_SLOW_BYTES = 16 * 1024 }; /* per second; files come over faster lines */
static const int64_t streaming_us = 5 * US_PER_MINUTE, slow_after_us = 5 * US_PER_S;

/*
 * The first body that comes too slowly to keep its place, of all networks or of the network `only`. NULL:
 * there is none.
 */
static struct web_connection *slow_stream(const struct web *web, const struct source *only)
{
	LIST_EACH (hook, &web->streaming) {
		struct web_connection *slow = LIST_ENTRY(hook, struct web_connection, timed);
		int64_t age_us = web_now_us(web) - (slow->stream_until_us - streaming_us);

		if ((!only || slow->stream == only) && age_us >= slow_after_us &&
			(int64_t)slow->received < age_us / US_PER_S * STREAM_SLOW_BYTES)
			return slow;
	}
	return NULL;
}

static enum source_verdict enter_streams(struct web_connection *connection, const struct source_key *key, size_t bytes)
{
	struct web *web = connection->web;
	enum source_verdict verdict = source_enter(web->streams, key, web_now_us(web), &connection->stream);

	if (verdict == SOURCE_WELCOME && !source_take_bytes(web->streams, connection->stream, bytes, &verdict))
		source_leave(web->streams, connection->stream, web_now_us(web));
	return verdict;
}

bool web_begin_stream(struct web_connection *connection)
{
	struct web *web = connection->web;
	const struct source_key *key = connection->client ? source_key(connection->client) : NULL;
	size_t bytes = connection->chunked ? CHUNKED_MOST : (size_t)connection->length;
	int64_t now_us = web_now_us(web);
	enum source_verdict verdict;

	if (!web->streams)
		return false;
	while ((verdict = enter_streams(connection, key, bytes)) != SOURCE_WELCOME) {
		bool is_crowded = verdict == SOURCE_CROWDED;
		const struct source *own = is_crowded && key ? source_find(web->streams, key) : NULL;
		struct web_connection *slow = is_crowded && !own ? NULL : slow_stream(web, own);

		if (!slow)
			return false;
		web->counters.turned_away++;
		web_refuse(slow, 503, "the body came too slowly, and another one needed its place");
	}
	connection->streaming = true;
	connection->stream_bytes = bytes;
	connection->stream_until_us = now_us + streaming_us;
	web_time(connection, &web->streaming);
	return true;
}

bool web_keep_streaming(struct web_connection *connection)
{
	if (web_now_us(connection->web) > connection->stream_until_us)
		return false;
	web_time(connection, &connection->web->streaming);
	return true;
}

void web_end_stream(struct web_connection *connection)
{
	struct web *web = connection->web;

	if (!connection->streaming)
		return;
	source_give_bytes(web->streams, connection->stream, connection->stream_bytes);
	source_leave(web->streams, connection->stream, web_now_us(web));
	connection->streaming = false;
}

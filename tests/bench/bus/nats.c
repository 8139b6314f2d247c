/*
 * nats.c: a NATS JetStream work queue on files, at its default durability; a pipelined client on its text protocol
 */
#include "bus/base/log.h"
#include "tests/bench/bus/line_wire.h"
#include "tests/bench/bus/peer.h"
#include <stdio.h>
#include <unistd.h>

#define API_PATIENCE_US INT64_C(5000000)

/* The next message: its reply subject in `ret_reply`, its bytes as the result; NULL: none in time. */
static const char *read_message(struct line_wire *wire, int64_t wait_us, char ret_reply[256])
{
	const char *line;

	while ((line = line_wire_read(wire, wait_us))) {
		char subject[256], sid[32];
		size_t len;

		if (strcmp(line, "PING") == 0) {
			line_wire_add(wire, "PONG");
			line_wire_flush(wire);
		} else if (strncmp(line, "-ERR", 4) == 0) {
			die("NATS says %s", line);
		} else if (sscanf(line, "MSG %255s %31s %255s %zu", subject, sid, ret_reply, &len) == 4 ||
			sscanf(line, "MSG %255s %31s %zu", subject, sid, &len) == 3) {
			return line_wire_read_bytes(wire, len);
		}
	}
	return NULL;
}

static void request(struct line_wire *wire, const char *subject, const char *json)
{
	char reply[256];
	const char *answer;

	line_wire_add(wire, "PUB %s answers.%d %zu", subject, (int)getpid(), strlen(json));
	line_wire_add_bytes(wire, bytes_of(json));
	line_wire_flush(wire);
	answer = read_message(wire, API_PATIENCE_US, reply);
	if (!answer || strstr(answer, "\"error\""))
		die("NATS answers %s with %s", subject, answer ? answer : "nothing");
}

static struct line_wire *open_wire(const struct load *load)
{
	struct line_wire *wire = line_wire_open(load->address);

	line_wire_add(wire, "CONNECT {\"verbose\":false,\"pedantic\":false,\"name\":\"bench\"}");
	line_wire_add(wire, "SUB answers.%d 1", (int)getpid());
	request(wire, "$JS.API.STREAM.CREATE.bench",
		"{\"name\":\"bench\",\"subjects\":[\"bench.message\"],\"retention\":\"workqueue\",\"storage\":"
		"\"file\"}");
	return wire;
}

static void *open_producer(const struct load *load)
{
	return open_wire(load);
}

static void publish(void *producer, uint64_t nth, struct bytes body)
{
	(void)nth;
	line_wire_add(producer, "PUB bench.message answers.%d %zu", (int)getpid(), body.len);
	line_wire_add_bytes(producer, body);
}

static uint64_t confirmed(void *producer, int64_t wait_us)
{
	uint64_t count = 0;
	const char *answer;
	char reply[256];

	line_wire_flush(producer);
	for (; (answer = read_message(producer, count > 0 ? 0 : wait_us, reply)); count++)
		if (!strstr(answer, "\"seq\""))
			die("NATS answers a publish with %s", answer);
	return count;
}

static void *open_consumer(const struct load *load)
{
	struct line_wire *wire = open_wire(load);
	char json[512];

	snprintf(json, sizeof(json),
		"{\"stream_name\":\"bench\",\"config\":{\"durable_name\":\"worker\",\"deliver_subject\":\"work\","
		"\"ack_policy\":\"explicit\",\"max_ack_pending\":%d}}",
		UNACKNOWLEDGED_MOST);
	request(wire, "$JS.API.CONSUMER.DURABLE.CREATE.bench.worker", json);
	line_wire_add(wire, "SUB work 2");
	line_wire_flush(wire);
	return wire;
}

static uint64_t consumed(void *consumer, int64_t wait_us)
{
	uint64_t count = 0;
	char reply[256];

	while (count < UNACKNOWLEDGED_MOST && read_message(consumer, count > 0 ? 0 : wait_us, reply)) {
		line_wire_add(consumer, "PUB %s 4", reply);
		line_wire_add_bytes(consumer, bytes_of("+ACK"));
		count++;
	}
	line_wire_flush(consumer);
	return count;
}

const struct peer peer_nats = { "nats", open_producer, publish, confirmed, open_consumer, consumed, NULL };

/*
 * beanstalkd.c: beanstalkd -f0, which syncs its log after each job; a pipelined client of our own
 */
#include "bus/base/log.h"
#include "tests/bench/bus/line_wire.h"
#include "tests/bench/bus/peer.h"
#include <stdio.h>
#include <stdlib.h>

enum { RUN_S = 120 };

static void *open_producer(const struct load *load)
{
	return line_wire_open(load->address);
}

static void publish(void *producer, uint64_t nth, struct bytes body)
{
	(void)nth;
	line_wire_add(producer, "put 0 0 %d %zu", RUN_S, body.len);
	line_wire_add_bytes(producer, body);
}

static uint64_t confirmed(void *producer, int64_t wait_us)
{
	uint64_t count = 0;
	const char *line;

	line_wire_flush(producer);
	for (; (line = line_wire_read(producer, count > 0 ? 0 : wait_us)); count++)
		if (strncmp(line, "INSERTED", 8) != 0)
			die("beanstalkd answers a put with %s", line);
	return count;
}

static void *open_consumer(const struct load *load)
{
	struct line_wire *wire = line_wire_open(load->address);

	line_wire_add(wire, "reserve");
	line_wire_flush(wire);
	return wire;
}

/* Its commands are answered in turn and a reserve waits: what acknowledges goes before the next reserve. */
static uint64_t consumed(void *consumer, int64_t wait_us)
{
	uint64_t count = 0;
	const char *line;

	while ((line = line_wire_read(consumer, count > 0 ? 0 : wait_us))) {
		unsigned long long id;
		size_t len;

		if (strcmp(line, "DELETED") == 0) {
			count++;
			continue;
		}
		if (sscanf(line, "RESERVED %llu %zu", &id, &len) != 2)
			die("beanstalkd answers a reserve with %s", line);
		line_wire_read_bytes(consumer, len);
		line_wire_add(consumer, "delete %llu", id);
		line_wire_add(consumer, "reserve");
		line_wire_flush(consumer);
	}
	return count;
}

const struct peer peer_beanstalkd = { "beanstalkd", open_producer, publish, confirmed, open_consumer, consumed, NULL };

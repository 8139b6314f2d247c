/*
 * line_wire.h: a connection of lines and counted bytes, as NATS and beanstalkd speak it
 */
#ifndef TESTS_BENCH_BUS_LINE_WIRE_H
#define TESTS_BENCH_BUS_LINE_WIRE_H

#include "bus/base/bytes.h"

struct line_wire;

struct line_wire *line_wire_open(const char *port); /* on loopback */
/* Gathers; line_wire_flush sends. */
void line_wire_add(struct line_wire *wire, const char *format, ...) __attribute__((format(printf, 2, 3)));
void line_wire_add_bytes(struct line_wire *wire, struct bytes bytes);
void line_wire_flush(struct line_wire *wire);
/* One line without its end, borrowed until the next call; NULL: none within `wait_us`. */
const char *line_wire_read(struct line_wire *wire, int64_t wait_us);
/* The bytes that follow a line and their own line end, borrowed likewise and NUL-terminated. */
const char *line_wire_read_bytes(struct line_wire *wire, size_t len);

#endif

/*
 * bytes.h: borrowed bytes, and a buffer that grows
 *
 * `struct bytes` never owns. `struct buffer` does: {0} is an empty one, buffer_free gives its memory back. A
 * lack of memory ends the process (base/log.h: die), because a half-written frame is worse than a restart.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const void *data;
	size_t len;
};

#define BYTES(p, n) ((struct bytes){ .data = (p), .len = (n) })

static inline struct bytes bytes_of(const char *text)
{
	return BYTES(text, strlen(text));
}

int bytes_compare(struct bytes a, struct bytes b); /* as memcmp; a prefix sorts first */

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
	return a.len == b.len && memcmp(a.data ? a.data : "", b.data ? b.data : "", a.len) == 0;
}

struct buffer {
	uint8_t *data;
	size_t len;
	size_t room;
};

/* makes room for `more` bytes and returns where to write; the length is unchanged */
void *buffer_grow(struct buffer *buffer, size_t more);
void buffer_add(struct buffer *buffer, const void *data, size_t len);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_add_u16(struct buffer *buffer, uint16_t value); /* little endian */
void buffer_add_u32(struct buffer *buffer, uint32_t value);
void buffer_add_be64(struct buffer *buffer, uint64_t value); /* big endian: sorts as a number */
const char *buffer_text(struct buffer *buffer);              /* NUL-terminated view; the NUL is not counted */
void buffer_clear(struct buffer *buffer);                    /* length 0, memory kept */
void buffer_free(struct buffer *buffer);                     /* also usable as _cleanup_(buffer_free) */
void buffer_free_secret(struct buffer *buffer);              /* erases the bytes before it gives the memory back */

static inline struct bytes buffer_bytes(const struct buffer *buffer)
{
	return BYTES(buffer->data, buffer->len);
}

/* These are inline, because every message needs them. */
static inline uint16_t get_u16(const void *p) /* little endian */
{
	const uint8_t *in = p;
	return (uint16_t)(in[0] | in[1] << 8);
}

static inline uint32_t get_u32(const void *p)
{
	const uint8_t *in = p;
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static inline uint64_t get_be64(const void *p)
{
	uint64_t value;
	memcpy(&value, p, sizeof(value));
	return be64toh(value);
}

static inline void put_be64(void *p, uint64_t value)
{
	value = htobe64(value);
	memcpy(p, &value, sizeof(value));
}

#endif

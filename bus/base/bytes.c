#include "bus/base/bytes.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_FIRST_ROOM = 64 };

int bytes_compare(struct bytes a, struct bytes b)
{
	size_t shared = a.len < b.len ? a.len : b.len;
	int order = shared ? memcmp(a.data, b.data, shared) : 0;
	if (order)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

void *buffer_grow(struct buffer *buffer, size_t more)
{
	size_t needed;
	if (__builtin_add_overflow(buffer->len, more, &needed))
		needed = SIZE_MAX; /* there is no such memory: memory_resize reports it */
	if (needed > buffer->room || !buffer->data) {
		size_t room = buffer->room > SIZE_MAX / 2 ? SIZE_MAX : buffer->room * 2;
		if (room < BUFFER_FIRST_ROOM)
			room = BUFFER_FIRST_ROOM;
		if (room < needed)
			room = needed;
		buffer->data = memory_resize(buffer->data, room);
		buffer->room = room;
	}
	return buffer->data + buffer->len;
}

void buffer_add(struct buffer *buffer, const void *data, size_t len)
{
	if (!len)
		return;
	memcpy(buffer_grow(buffer, len), data, len);
	buffer->len += len;
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	va_list again;
	va_copy(again, args);
	char *at = buffer_grow(buffer, 1);
	size_t room = buffer->room - buffer->len;
	int len = vsnprintf(at, room, format, args);
	assert(len >= 0);
	if ((size_t)len >= room) /* seldom: the room doubles each time it grows */
		vsnprintf(buffer_grow(buffer, (size_t)len + 1), (size_t)len + 1, format, again);
	buffer->len += (size_t)len;
	va_end(again);
	va_end(args);
}

void buffer_add_u16(struct buffer *buffer, uint16_t value)
{
	uint8_t out[2] = { (uint8_t)value, (uint8_t)(value >> 8) };
	buffer_add(buffer, out, sizeof(out));
}

void buffer_add_u32(struct buffer *buffer, uint32_t value)
{
	buffer_add_u16(buffer, (uint16_t)value);
	buffer_add_u16(buffer, (uint16_t)(value >> 16));
}

void buffer_add_be64(struct buffer *buffer, uint64_t value)
{
	uint8_t out[8];
	put_be64(out, value);
	buffer_add(buffer, out, sizeof(out));
}

const char *buffer_text(struct buffer *buffer)
{
	char *end = buffer_grow(buffer, 1);
	*end = '\0';
	return (const char *)buffer->data;
}

void buffer_clear(struct buffer *buffer)
{
	buffer->len = 0;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

void buffer_free_secret(struct buffer *buffer)
{
	if (buffer->data)
		explicit_bzero(buffer->data, buffer->room);
	buffer_free(buffer);
}

/* traceparent.c: makes the traceparent of a request, or takes over the one that it brings */
#include "services/kit/endpoint/traceparent.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

enum {
	TRACE_BYTES = 16,
	PARENT_BYTES = 8,
	TRACES_AT_ONCE = 64,
	TRACE_AT = 3,
	PARENT_AT = TRACE_AT + 2 * TRACE_BYTES + 1,
	FLAGS_AT = PARENT_AT + 2 * PARENT_BYTES + 1,
	LEN = FLAGS_AT + 2,
	SAMPLED = 1,
	VERSION_NEVER = 0xff,
};

/* Random bytes are fetched for many traces at once: a trace has to be unique, but it is no secret. */
void traceparent_new(char ret[TRACEPARENT_ROOM])
{
	static uint8_t chance[TRACES_AT_ONCE][TRACE_BYTES];
	static int left;
	char hex[2 * TRACE_BYTES + 1];

	if (left == 0) {
		for (size_t got = 0; got < sizeof(chance);) {
			ssize_t more = getrandom((uint8_t *)chance + got, sizeof(chance) - got, 0);

			if (more < 0 && errno != EINTR)
				die("the kernel gives no random numbers (getrandom: %s)", strerror(errno));
			got += more > 0 ? (size_t)more : 0;
		}
		left = TRACES_AT_ONCE;
	}
	text_hex(chance[--left], TRACE_BYTES, hex);
	snprintf(ret, TRACEPARENT_ROOM, "00-%s-%.16s-01", hex, hex);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	while (len > 0 && bytes[len - 1] == 0)
		len--;
	return len == 0;
}

/* Decodes a part with text_unhex(), which takes lower case only, as the recommendation asks. */
static bool read_part(const char *text, size_t at, uint8_t *to, size_t len)
{
	char part[2 * TRACE_BYTES + 1];

	snprintf(part, 2 * len + 1, "%s", text + at);
	return text_unhex(part, to, len);
}

static bool read_parent(const char *text, uint8_t *ret_flags)
{
	uint8_t version, trace[TRACE_BYTES], parent[PARENT_BYTES];
	size_t len = strlen(text);

	if (len < LEN || text[TRACE_AT - 1] != '-' || text[PARENT_AT - 1] != '-' || text[FLAGS_AT - 1] != '-')
		return false;
	if (!read_part(text, 0, &version, 1) || !read_part(text, TRACE_AT, trace, TRACE_BYTES) ||
		!read_part(text, PARENT_AT, parent, PARENT_BYTES) || !read_part(text, FLAGS_AT, ret_flags, 1))
		return false;
	if (version == VERSION_NEVER || (len > LEN && (version == 0 || text[LEN] != '-')))
		return false;
	return !is_zero(trace, sizeof(trace)) && !is_zero(parent, sizeof(parent));
}

void traceparent_of(const struct request *request, char ret[TRACEPARENT_ROOM])
{
	const char *given = request_header(request, "traceparent");
	uint8_t flags;

	if (!given || request_header_repeated(request, "traceparent") || !read_parent(given, &flags)) {
		traceparent_new(ret);
		return;
	}
	snprintf(ret, TRACEPARENT_ROOM, "00-%.*s-%02x", FLAGS_AT - 1 - TRACE_AT, given + TRACE_AT, flags & SAMPLED);
}

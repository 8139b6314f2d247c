/*
 * fuzz_request.c: whatever comes as a request is read in one way or refused, and however much of its chunks has come
 *
 * The first byte says how much of them came first.
 */
#include "bus/base/memory.h"
#include "services/kit/web/network.h"
#include "services/kit/web/request.h"
#include "services/kit/web/web_inside.h"
#include "tests/fuzz/fuzz.h"

/* What has come decides nothing that more of it would decide otherwise. */
static void look_at_chunks(struct bytes data, size_t first)
{
	const char *why = NULL;
	long early = chunks_end(BYTES(data.data, first < data.len ? first : data.len), &why);
	long late = chunks_end(data, &why);

	MUST(late <= (long)data.len);
	MUST(early == 0 || early == late);
	MUST(late >= 0 || why);
	if (late > 0)
		MUST(late >= 5 && memcmp((const char *)data.data + late - 4, "\r\n\r\n", 4) == 0);
}

static void must_be_right(struct request *request)
{
	MUST(request->method && *request->method && request->path && *request->path);
	MUST(request->header_count <= HEADERS_MAX);
	for (int i = 0; i < request->header_count; i++)
		MUST(*request->headers[i].name && !strpbrk(request->headers[i].name, " \t\r\n:") &&
			!strpbrk(request->headers[i].value, "\r\n"));
	MUST(!request_header(request, "Transfer-Encoding") || !request_header(request, "Content-Length"));
	MUST(request->parts >= 0 && request->parts <= PARTS_MOST);
	MUST(!request_header_repeated(request, "Content-Length") && !request_header_repeated(request, "Host"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = BYTES(size > 0 ? data + 1 : data, size > 0 ? size - 1 : 0);
	const char *end = memmem(input.data, input.len, "\r\n\r\n", 4), *why = NULL;
	size_t head_len = end ? (size_t)(end + 4 - (const char *)input.data) : input.len;
	char *head = memory_copy(BYTES(input.data, head_len));
	struct web_proxies proxies;
	struct source_key key;
	struct request request;
	unsigned status = request_parse(head, head_len, &request, &why);

	MUST(status == 0 || (status >= 400 && why));
	if (status == 0) {
		struct bytes rest = BYTES((const char *)input.data + head_len, input.len - head_len);

		must_be_right(&request);
		look_at_chunks(rest, data[0]);
		web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies);
		web_proxies_client(&proxies, &request, &key);
		request_argument(&request, "to");
	}
	free(head);
	return 0;
}

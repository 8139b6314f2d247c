/*
 * fuzz_request.c: whatever comes as a request is read in one way or refused, and however much of its chunks has come
 *
 * The first byte says how much of them came first.
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/web/form.h"
#include "services/kit/web/host.h"
#include "services/kit/web/network.h"
#include "services/kit/web/request.h"
#include "services/kit/web/web_inside.h"
#include "tests/fuzz/fuzz.h"
#include <errno.h>

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

static void must_be_text(const char *text)
{
	MUST(text && text_is_utf8(bytes_of(text)));
}

static void look_at_form(struct bytes encoded)
{
	struct form form;
	int r = form_read(encoded, &form);

	MUST(r == 0 || r == -EBADMSG || r == -E2BIG);
	MUST(r == 0 || (form.count == 0 && !form.fields));
	for (int i = 0; i < form.count; i++) {
		must_be_text(form.fields[i].name);
		must_be_text(form.fields[i].value);
		must_be_text(form_value(&form, form.fields[i].name));
	}
	form_free(&form);
}

static void look_at_names(const struct request *request)
{
	struct bytes value;
	struct host host;
	const char *why = NULL;
	unsigned status = request_host(request, &host, &why);

	MUST(status == 0 || (status == 400 && why));
	MUST(status != 0 || (host.name[0] && host.port <= 65535));
	MUST(*request_local_path(request));
	MUST(request_cookie(request, "a", &value) == 0 || value.len == 0);
	if (request->query)
		look_at_form(bytes_of(request->query));
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
		look_at_form(rest);
		look_at_names(&request);
		web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies);
		web_proxies_client(&proxies, &request, &key);
		request_argument(&request, "to");
	}
	free(head);
	return 0;
}

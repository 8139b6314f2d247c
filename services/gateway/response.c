/*
 * response.c: an answer as libmicrohttpd sends it
 *
 * Promises:  nothing is cached, guessed at or told to where it leads; a page loads nothing and can be framed by nobody.
 * Fails by:  die() when the library refuses a header: they are ours.
 */
#include "services/gateway/response.h"
#include "bus/base/log.h"

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (MHD_add_response_header(response, name, value) != MHD_YES)
		die("libmicrohttpd refuses the header %s", name);
}

static void add_page_headers(struct MHD_Response *response)
{
	add_header(response, "Referrer-Policy", "no-referrer");
	add_header(response, "Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'");
}

struct MHD_Response *response_of(const struct answer *answer)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(answer->body.len, answer->body.data, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return NULL;
	add_header(response, "Content-Type", answer->content_type);
	add_header(response, "Cache-Control", "no-store");
	add_header(response, "X-Content-Type-Options", "nosniff");
	if (strncmp(answer->content_type, "text/html", strlen("text/html")) == 0)
		add_page_headers(response);
	if (answer->location)
		add_header(response, "Location", answer->location);
	if (answer->allow)
		add_header(response, "Allow", answer->allow);
	if (answer->status == 503)
		add_header(response, "Retry-After", "60");
	if (answer->close)
		add_header(response, "Connection", "close");
	return response;
}

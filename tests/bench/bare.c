/*
 * bare.c: the least a webhook's receiver can do, to hold the gateway against: checks the HMAC, parses the JSON, answers
 *
 *   bench_bare PORT SECRET      until SIGTERM; one thread and the settings of the gateway; nothing is kept
 */
#include "bus/base/bytes.h"
#include "bus/base/log.h"
#include <jansson.h>
#include <microhttpd.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGEST = 32, DIGEST_TEXT = 45, CONNECTION_MEMORY = 16 * 1024 };

static const char *secret;

static bool is_signed(const struct buffer *body, const char *claimed)
{
	unsigned char mac[DIGEST], text[DIGEST_TEXT];
	unsigned int len = sizeof(mac);

	HMAC(EVP_sha256(), secret, (int)strlen(secret), body->data, body->len, mac, &len);
	EVP_EncodeBlock(text, mac, DIGEST);
	return claimed && strcmp((const char *)text, claimed) == 0;
}

static unsigned judge(struct MHD_Connection *connection, const struct buffer *body)
{
	json_t *json;

	if (!is_signed(body, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Shopify-Hmac-Sha256")))
		return MHD_HTTP_UNAUTHORIZED;
	json = json_loadb((const char *)body->data, body->len, JSON_REJECT_DUPLICATES, NULL);
	if (!json)
		return MHD_HTTP_BAD_REQUEST;
	json_decref(json);
	return MHD_HTTP_OK;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *data, size_t *len, void **request)
{
	struct buffer *body = *request;
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)context, (void)url, (void)method, (void)version;
	if (!body) {
		*request = calloc(1, sizeof(*body));
		return MHD_YES;
	}
	if (*len > 0) {
		buffer_add(body, data, *len);
		*len = 0;
		return MHD_YES;
	}
	response = MHD_create_response_from_buffer(2, (void *)"ok", MHD_RESPMEM_PERSISTENT);
	result = MHD_queue_response(connection, judge(connection, body), response);
	MHD_destroy_response(response);
	return result;
}

static void forget(
	void *context, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode why)
{
	(void)context, (void)connection, (void)why;
	buffer_free(*request);
	free(*request);
	*request = NULL;
}

int main(int argc, char **argv)
{
	sigset_t ends;
	int signal;

	log_open("bare", LOG_WARNING);
	if (argc != 3)
		die("usage: bench_bare PORT SECRET");
	secret = argv[2];
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (!MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)atoi(argv[1]), NULL, NULL, handle, NULL,
		    MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_CONNECTION_LIMIT, 4000U,
		    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, 15U,
		    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END))
		die("cannot listen on port %s", argv[1]);
	sigwait(&ends, &signal);
	return 0;
}

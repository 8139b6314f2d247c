/*
 * post.c: one HTTP POST, over one connection that is closed after it (libcurl)
 */
#include "services/cartbus/core/post.h"

#include "bus/base/cleanup.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_S = 10, ANSWER_BYTES_MAX = 1 << 20, URL_ROOM = 600, HEADER_ROOM = 600 };

static size_t take_answer(char *data, size_t size, size_t count, void *answer)
{
	struct buffer *ret = answer;

	if (ret->len + size * count > ANSWER_BYTES_MAX)
		return CURL_WRITEFUNC_ERROR;
	buffer_add(ret, data, size * count);
	return size * count;
}

/* An empty value keeps curl from adding a header of its own. */
static struct curl_slist *headers_of(const char *lines)
{
	struct curl_slist *list = curl_slist_append(NULL, "Accept:");
	char header[HEADER_ROOM];

	list = curl_slist_append(list, "Expect:");
	list = curl_slist_append(list, "Connection: close");
	for (const char *end; (end = strstr(lines, "\r\n")); lines = end + 2) {
		snprintf(header, sizeof(header), "%.*s", (int)(end - lines), lines);
		list = curl_slist_append(list, header);
	}
	return list;
}

/* The negative errno for an exchange that curl could not finish. */
static int error_of(CURL *curl, CURLcode code)
{
	long os = 0;

	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EHOSTUNREACH;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os);
		return os ? -(int)os : -ECONNREFUSED;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_WRITE_ERROR:
		return -EMSGSIZE;
	default:
		return -EPROTO;
	}
}

static int perform(CURL *curl, const struct post *post, struct curl_slist *headers, struct buffer *ret)
{
	char url[URL_ROOM];
	CURLcode code;
	long status = 0;

	snprintf(url, sizeof(url), strchr(post->host, ':') ? "http://[%s]:%s%s" : "http://%s:%s%s", post->host,
		post->port, post->path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
	curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* not the environment's */
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)PATIENCE_S);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.len);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post->body.len ? post->body.data : "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, ret);
	code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		return error_of(curl, code);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return status ? (int)status : -EPROTO;
}

int post_send(const struct post *post, struct buffer *ret)
{
	struct curl_slist *headers = headers_of(post->headers);
	CURL *curl = curl_easy_init();
	int status = curl ? perform(curl, post, headers, ret) : -ENOMEM;

	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return status;
}

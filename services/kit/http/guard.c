/*
 * guard.c: decides which addresses a request may reach
 *
 * Promises:  judges the bits of the address that the socket is about to connect to. So a name that resolves
 *            to another address the next time, an odd spelling, or an IPv6 form of a private IPv4 address
 *            changes nothing.
 * Read next: call.c (calls these functions)
 */
#include "services/kit/http/guard.h"
#include "bus/base/cleanup.h"
#include "services/kit/http/public_address.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

bool http_address_allowed(enum http_reach reach, bool is_plain, const struct sockaddr *address)
{
	bool is_public = http_address_is_public(address);
	switch (reach) {
	case HTTP_REACH_PUBLIC:
		return is_public && !is_plain;
	case HTTP_REACH_ADMIN:
		return !is_plain || !is_public;
	}
	return false;
}

static bool is_printable(const char *url)
{
	for (const char *at = url; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return true;
}

static int judge_scheme(enum http_reach reach, const char *scheme, bool *ret_plain, char ret_why[160])
{
	*ret_plain = strcmp(scheme, "http") == 0;
	if (strcmp(scheme, "https") == 0 || (*ret_plain && reach == HTTP_REACH_ADMIN))
		return 0;
	snprintf(ret_why, 160, "its URL begins with %.20s:, expected https", scheme);
	return -EINVAL;
}

DEFINE_CLEANUP(CURLU *, curl_url_cleanup)
DEFINE_CLEANUP(char *, curl_free)

int http_url_allowed(enum http_reach reach, const char *url, bool *ret_plain, char ret_why[160])
{
	_cleanup_(curl_url_cleanupp) CURLU *parts = curl_url();
	_cleanup_(curl_freep) char *scheme = NULL;
	if (!is_printable(url)) {
		snprintf(ret_why, 160, "its URL has blanks, control characters or others that no URL has");
		return -EINVAL;
	}
	CURLUcode code = curl_url_set(parts, CURLUPART_URL, url, CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME);
	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
	if (code != CURLUE_OK) {
		snprintf(ret_why, 160, "its URL cannot be used: %.100s", curl_url_strerror(code));
		return -EINVAL;
	}
	return judge_scheme(reach, scheme, ret_plain, ret_why);
}

/*
 * config_kind.c: checks a value against the kind of its key, and converts it
 *
 * Promises:  it looks at the text alone: the result is the same on every machine and for every user.
 * Fails by:  false; config_kind_expected() names the values that are allowed.
 * Read next: config_read.c (the caller)
 */
#include "bus/base/config_kind.h"
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char DIGITS[] = "0123456789";

static const struct unit {
	const char *name;
	int64_t us;
} units[] = { { "ms", US_PER_MS }, { "s", US_PER_S }, { "min", US_PER_MINUTE }, { "h", US_PER_HOUR },
	{ "d", US_PER_DAY } };

enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* ---- numbers ---- */

static bool read_whole(const char *value, int64_t *ret)
{
	size_t sign = *value == '-', len = strspn(value + sign, DIGITS);

	errno = 0;
	*ret = strtoll(value, NULL, 10);
	return len > 0 && !value[sign + len] && errno == 0;
}

/* 0.25, 15: digits, and at most one point with digits around it; no other form that strtod takes. */
static bool read_real(const char *value, double *ret)
{
	size_t whole = strspn(value, DIGITS), fraction = 0;

	if (value[whole] == '.')
		fraction = strspn(value + whole + 1, DIGITS);
	if (whole == 0 || (value[whole] == '.' && fraction == 0) || value[whole + (fraction ? fraction + 1 : 0)])
		return false;
	*ret = strtod(value, NULL);
	return isfinite(*ret);
}

static bool read_span(const char *value, int64_t *ret_us)
{
	size_t len = strspn(value, DIGITS);
	const char *unit = value + len + strspn(value + len, " ");
	int64_t count;

	errno = 0;
	count = strtoll(value, NULL, 10);
	if (len == 0 || errno != 0)
		return false;
	for (int i = 0; i < UNITS; i++)
		if (strcmp(unit, units[i].name) == 0)
			return !__builtin_mul_overflow(count, units[i].us, ret_us);
	return false;
}

/* ---- words ---- */

/* The index of the value among the words; -1: it is not among them. */
static int64_t place_among(const char *words, const char *value, size_t value_len)
{
	size_t len;

	for (int64_t place = 0; (len = strcspn(words, " |")) > 0; place++) {
		if (len == value_len && memcmp(words, value, len) == 0)
			return place;
		words += len + strspn(words + len, " |");
	}
	return -1;
}

static void list_words(const char *words, char *ret, size_t room)
{
	size_t used = 0, len;

	*ret = '\0';
	while ((len = strcspn(words, " |")) > 0 && used < room) {
		const char *next = words[len] == ' ' ? words + len + 1 : "";
		bool is_last_but_one = *next && next[strcspn(next, " ")] != ' ';

		used += (size_t)snprintf(ret + used, room - used, "%.*s%s", (int)len, words,
			is_last_but_one ? " or "
				: *next ? ", "
					: "");
		words = next;
	}
}

/* ---- places ---- */

static bool is_ip(const char *value)
{
	uint8_t address[16];

	return inet_pton(AF_INET, value, address) == 1 || inet_pton(AF_INET6, value, address) == 1;
}

/*
 * A name is labels with dots between (RFC 1123 2.1); a text of digits and dots alone is a mistyped address.
 */
static bool is_host(const char *value)
{
	size_t len = strlen(value);

	if (is_ip(value))
		return true;
	if (!value[strspn(value, "0123456789.")] || strstr(value, "..") || strchr(".-", value[0]) ||
		value[len - 1] == '-')
		return false;
	return !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")];
}

static bool is_port_or_nothing(const char *text, size_t len)
{
	char digits[6];

	if (len == 0)
		return true;
	return *text == ':' && strspn(text + 1, DIGITS) >= len - 1 &&
		text_copy_bytes(digits, sizeof(digits), BYTES(text + 1, len - 1)) && atoi(digits) > 0 &&
		atoi(digits) <= 65535;
}

/* The text between :// and the path: a host and perhaps a port, and no user name. */
static bool is_authority(const char *text, size_t len)
{
	char host[256], address[64];
	size_t host_len = *text == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":/?#");

	if (host_len > len || !text_copy_bytes(host, sizeof(host), BYTES(text, host_len)) ||
		!is_port_or_nothing(text + host_len, len - host_len))
		return false;
	if (*host != '[')
		return is_host(host);
	return text_copy_bytes(address, sizeof(address), BYTES(host + 1, host_len - 2)) && strchr(address, ':') &&
		is_ip(address);
}

bool config_kind_has_login(const struct config_kind *kind, const char *value)
{
	return kind->form == CONFIG_FORM_URL && strchr(value, '@');
}

static bool is_url(const char *schemes, const char *value)
{
	size_t scheme = strcspn(value, ":");

	for (const char *at = value; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("\"<>\\^`{|}", *at))
			return false;
	if (strncmp(value + scheme, "://", 3) != 0 || place_among(schemes, value, scheme) < 0)
		return false;
	value += scheme + 3;
	return is_authority(value, strcspn(value, "/?#"));
}

static bool is_file_name(const char *value)
{
	return *value != '.' && !strchr(value, '/');
}

/* ---- all kinds ---- */

bool config_kind_is_number(const struct config_kind *kind)
{
	return kind->form == CONFIG_FORM_COUNT || kind->form == CONFIG_FORM_PORT || kind->form == CONFIG_FORM_SPAN;
}

static bool is_within(const struct config_kind *kind, int64_t number)
{
	return number >= kind->least && number <= kind->most;
}

static bool is_text_of_kind(const struct config_kind *kind, const char *value)
{
	switch (kind->form) {
	case CONFIG_FORM_TEXT:
		return true;
	case CONFIG_FORM_PATH:
		return *value == '/'; /* absolute: processes and persons work in different folders */
	case CONFIG_FORM_FILE:
		return is_file_name(value);
	case CONFIG_FORM_IP:
		return is_ip(value);
	case CONFIG_FORM_HOST:
		return is_host(value);
	case CONFIG_FORM_URL:
		return is_url(kind->words, value);
	case CONFIG_FORM_JUDGED:
		return kind->judge(value);
	case CONFIG_FORM_NONE:
	case CONFIG_FORM_COUNT:
	case CONFIG_FORM_PORT:
	case CONFIG_FORM_SPAN:
	case CONFIG_FORM_REAL:
	case CONFIG_FORM_YES:
	case CONFIG_FORM_WORD:
		break;
	}
	assert(false); /* a row without a kind, or a number: see below */
	return false;
}

bool config_kind_read(const struct config_kind *kind, const char *value, struct config_meaning *ret)
{
	*ret = (struct config_meaning){ 0 };
	if (text_has_control(value) || !text_is_utf8(bytes_of(value)))
		return false;
	switch (kind->form) {
	case CONFIG_FORM_COUNT:
	case CONFIG_FORM_PORT:
		return read_whole(value, &ret->number) && is_within(kind, ret->number);
	case CONFIG_FORM_SPAN:
		return read_span(value, &ret->number) && is_within(kind, ret->number);
	case CONFIG_FORM_REAL:
		return read_real(value, &ret->real) && ret->real >= kind->real_least && ret->real <= kind->real_most;
	case CONFIG_FORM_YES:
	case CONFIG_FORM_WORD:
		ret->number = place_among(kind->words, value, strlen(value));
		return ret->number >= 0;
	case CONFIG_FORM_NONE:
	case CONFIG_FORM_TEXT:
	case CONFIG_FORM_PATH:
	case CONFIG_FORM_FILE:
	case CONFIG_FORM_IP:
	case CONFIG_FORM_HOST:
	case CONFIG_FORM_URL:
	case CONFIG_FORM_JUDGED:
		break;
	}
	return is_within(kind, (int64_t)strlen(value)) && is_text_of_kind(kind, value);
}

/* ---- the allowed values, in words ---- */

static void print_span(int64_t us, char ret[32])
{
	int unit = UNITS - 1;

	while (unit > 0 && (us < units[unit].us || us % units[unit].us))
		unit--;
	snprintf(ret, 32, "%" PRId64 "%s", us / units[unit].us, units[unit].name);
}

static void expected_span(const struct config_kind *kind, char *ret, size_t room)
{
	char least[32], most[32];

	print_span(kind->least, least);
	print_span(kind->most, most);
	snprintf(ret, room, "a time like 250ms, 30s, 5min, 4h or 2d, from %s to %s", least, most);
}

static void expected_whole(const struct config_kind *kind, char *ret, size_t room)
{
	const char *unit = kind->words ? kind->words : "";
	int len = snprintf(ret, room, "a whole number%s%s", *unit ? " of " : "", unit);

	if (kind->most == INT64_MAX)
		snprintf(ret + len, room - (size_t)len, ", %" PRId64 " or more", kind->least);
	else
		snprintf(ret + len, room - (size_t)len, " from %" PRId64 " to %" PRId64, kind->least, kind->most);
}

void config_kind_expected(const struct config_kind *kind, char *ret, size_t room)
{
	char words[200];

	switch (kind->form) {
	case CONFIG_FORM_TEXT:
		snprintf(ret, room, "a text of at most %" PRId64 " bytes", kind->most);
		return;
	case CONFIG_FORM_PATH:
		snprintf(ret, room, "a path that begins with /, of at most %" PRId64 " bytes", kind->most);
		return;
	case CONFIG_FORM_FILE:
		snprintf(ret, room, "the name of a file, without a folder, of at most %" PRId64 " bytes", kind->most);
		return;
	case CONFIG_FORM_IP:
		snprintf(ret, room, "an IP address, as 127.0.0.1");
		return;
	case CONFIG_FORM_HOST:
		snprintf(ret, room, "the name of a host, or an IP address");
		return;
	case CONFIG_FORM_URL:
		list_words(kind->words, words, sizeof(words));
		snprintf(ret, room, "a URL of %s, of at most %" PRId64 " bytes", words, kind->most);
		return;
	case CONFIG_FORM_COUNT:
		expected_whole(kind, ret, room);
		return;
	case CONFIG_FORM_PORT:
		snprintf(ret, room, "a port from %" PRId64 " to %" PRId64, kind->least, kind->most);
		return;
	case CONFIG_FORM_SPAN:
		expected_span(kind, ret, room);
		return;
	case CONFIG_FORM_REAL:
		snprintf(ret, room, "a number from %.15g to %.15g, as 0.25", kind->real_least, kind->real_most);
		return;
	case CONFIG_FORM_YES:
		snprintf(ret, room, "yes or no");
		return;
	case CONFIG_FORM_WORD:
		list_words(kind->words, ret, room);
		return;
	case CONFIG_FORM_JUDGED:
		snprintf(ret, room, "%s", kind->words);
		return;
	case CONFIG_FORM_NONE:
		break;
	}
	assert(false);
}

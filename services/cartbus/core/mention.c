/* mention.c: see mention.h; what is a letter is meant as ASCII has it */
#include "services/cartbus/core/mention.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The next place from *at on where the name stands, alone or not; false: none. */
static bool next_place(struct bytes text, const char *name, size_t *at)
{
	const char *begin = text.data, *sign = strchr(name, '@');
	size_t len = strlen(name), before = sign ? (size_t)(sign - name) : 0;

	for (; *at + len <= text.len; ++*at) {
		const char *left = begin + *at,
			   *found = sign ? memchr(left + before, '@', text.len - *at - before)
					 : memmem(left, text.len - *at, name, len);

		if (!found)
			return false;
		*at = (size_t)(found - begin) - before;
		if (!sign || (*at + len <= text.len && strncasecmp(begin + *at, name, len) == 0))
			return *at + len <= text.len;
	}
	return false;
}

/* It would make the name a longer one. */
static bool is_of_a_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static bool is_open_before(struct bytes text, size_t at, bool address)
{
	char c = at > 0 ? ((const char *)text.data)[at - 1] : ' ';

	return is_of_a_name(c) || (address && (c == '.' || c == '+'));
}

/* A full stop behind an address may be its sentence's. */
static bool is_open_behind(struct bytes text, size_t end, bool address)
{
	const char *at = (const char *)text.data + end;
	size_t left = text.len - end;

	return left > 0 && (is_of_a_name(*at) || (address && *at == '.' && left > 1 && is_of_a_name(at[1])));
}

bool mention_in(struct bytes text, const char *name)
{
	bool address = strchr(name, '@');

	for (size_t at = 0; next_place(text, name, &at); at++) {
		if (!is_open_before(text, at, address) && !is_open_behind(text, at + strlen(name), address))
			return true;
	}
	return false;
}

bool mention_somewhere(struct bytes bytes, const char *name)
{
	size_t at = 0;

	return next_place(bytes, name, &at);
}

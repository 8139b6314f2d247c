/*
 * mask.c: makes the strings of a message unreadable, except those that are declared harmless
 *
 * Promises:  every string that is not listed is masked, also in a field that a newer sender has added; the
 *            rest stays as it was, so the message still decodes.
 * Fails by:  -EBADMSG; then nothing of the payload is shown.
 */
#include "bus/broker/admin/mask.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 4, TAG_MAX = 255, WORD_MAX = 32 };

struct cursor {
	uint8_t *at, *end;
};

static bool has(const uint32_t *paths, int count, uint32_t path)
{
	for (int i = 0; i < count; i++)
		if (paths[i] == path)
			return true;
	return false;
}

static int add(uint32_t *paths, int *count, uint32_t path)
{
	if (has(paths, *count, path))
		return 0;
	if (*count == MASK_PATHS_MAX)
		return -ENOSPC;
	paths[(*count)++] = path;
	return 0;
}

/* "1/12", or "1/" for a message whose fields are masked in turn. */
static int read_path(const char *word, size_t len, uint32_t *ret)
{
	const char *at = word, *end = word + len;
	uint32_t path = 0;
	int levels = 0;
	char *next;

	while (at < end) {
		unsigned long tag = strtoul(at, &next, 10);

		if (next == at || *at == '-' || tag < 1 || tag > TAG_MAX || ++levels > LEVELS_MAX)
			return -EINVAL;
		path = path << 8 | (uint32_t)tag;
		at = next;
		if (at < end && *at++ != '/')
			return -EINVAL;
	}
	*ret = path;
	return levels == 0 || (levels == LEVELS_MAX && end[-1] == '/') ? -EINVAL : 0;
}

static int add_path(struct mask *mask, const char *word, size_t len)
{
	uint32_t path;
	int r = read_path(word, len, &path);

	if (r < 0)
		return r;
	if (word[len - 1] == '/')
		return add(mask->inside, &mask->inside_count, path);
	return add(mask->shown, &mask->shown_count, path);
}

int mask_path(const char *word, uint32_t *ret)
{
	size_t len = strlen(word);

	return len > 0 && len < WORD_MAX && word[len - 1] != '/' ? read_path(word, len, ret) : -EINVAL;
}

int mask_add(struct mask *mask, const char *paths)
{
	size_t len;

	for (; (len = strcspn(paths += strspn(paths, " "), " ")) > 0; paths += len) {
		int r = len < WORD_MAX ? add_path(mask, paths, len) : -EINVAL;

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- a message --- */

static int read_varint(struct cursor *cursor, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		if (cursor->at == cursor->end)
			return -EBADMSG;
		*ret |= (uint64_t)(*cursor->at & 0x7f) << shift;
		if (!(*cursor->at++ & 0x80))
			return 0;
	}
	return -EBADMSG;
}

static int skip(struct cursor *cursor, uint64_t len)
{
	if (len > (uint64_t)(cursor->end - cursor->at))
		return -EBADMSG;
	cursor->at += len;
	return 0;
}

/*
 * Keeps the sign between name and host, which shows that the string is an address; the rest of it is masked.
 */
static void make_unreadable(uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] != '@')
			at[i] = '*';
}

static int mask_fields(const struct mask *mask, uint32_t above, struct cursor cursor);

static int mask_text(const struct mask *mask, uint32_t path, struct cursor *cursor)
{
	uint8_t *text;
	uint64_t len;
	int r = read_varint(cursor, &len);

	text = cursor->at;
	r = r < 0 ? r : skip(cursor, len);
	if (r < 0)
		return r;
	if (has(mask->inside, mask->inside_count, path))
		return mask_fields(mask, path, (struct cursor){ text, cursor->at });
	if (!has(mask->shown, mask->shown_count, path))
		make_unreadable(text, (size_t)len);
	return 0;
}

static int mask_fields(const struct mask *mask, uint32_t above, struct cursor cursor)
{
	uint64_t key, number;
	int r = 0;

	while (r == 0 && cursor.at < cursor.end) {
		r = read_varint(&cursor, &key);
		if (r < 0 || key >> 3 < 1 || key >> 3 > TAG_MAX)
			return -EBADMSG;
		switch (key & 7) {
		case 0:
			r = read_varint(&cursor, &number);
			break;
		case 1:
			r = skip(&cursor, 8);
			break;
		case 2:
			r = mask_text(mask, above << 8 | (uint32_t)(key >> 3), &cursor);
			break;
		case 5:
			r = skip(&cursor, 4);
			break;
		default:
			return -EBADMSG;
		}
	}
	return r;
}

int mask_payload(const struct mask *mask, void *payload, size_t len)
{
	return mask_fields(mask, 0, (struct cursor){ payload, (uint8_t *)payload + len });
}

/* --- one string of it --- */

/* Reads a length and the bytes that it counts. */
static int read_text(struct cursor *cursor, struct cursor *ret_text)
{
	uint64_t len;
	uint8_t *text;
	int r = read_varint(cursor, &len);

	text = cursor->at;
	r = r < 0 ? r : skip(cursor, len);
	*ret_text = (struct cursor){ text, cursor->at };
	return r;
}

static int next_field(struct cursor *cursor, uint64_t *ret_tag, struct cursor *ret_text)
{
	uint64_t key, number;
	int r = read_varint(cursor, &key);

	if (r < 0)
		return r;
	*ret_tag = key >> 3;
	*ret_text = (struct cursor){ NULL, NULL };
	switch (key & 7) {
	case 0:
		return read_varint(cursor, &number);
	case 1:
		return skip(cursor, 8);
	case 2:
		return read_text(cursor, ret_text);
	case 5:
		return skip(cursor, 4);
	default:
		return -EBADMSG;
	}
}

struct bytes mask_find(struct bytes payload, uint32_t path)
{
	struct cursor cursor = { (uint8_t *)payload.data, (uint8_t *)payload.data + payload.len }, text;
	int inner_bits = path >> 24 ? 24 : path >> 16 ? 16 : path >> 8 ? 8 : 0; /* of the levels below the first */
	uint32_t below = path & ((UINT32_C(1) << inner_bits) - 1);
	uint64_t tag;

	while (next_field(&cursor, &tag, &text) == 0) {
		if (tag != path >> inner_bits || !text.at)
			continue;
		payload = BYTES(text.at, (size_t)(text.end - text.at));
		return below ? mask_find(payload, below) : payload;
	}
	return BYTES(NULL, 0);
}

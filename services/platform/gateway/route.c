/*
 * route.c: finds the endpoint of a method and a path
 *
 * Promises:  the first row that fits takes the request. An unknown path has only the names that fit the row
 *            whose `cors` it gets.
 */
#include "services/platform/gateway/route.h"
#include "bus/base/text.h"
#include "services/kit/blobs/blob_uses.h"
#include "services/kit/shop/shop.h"
#include "services/kit/web/path.h"
#include <ctype.h>
#include <stdio.h>

static unsigned method_of(const char *method)
{
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return ENDPOINT_READS;
	return strcmp(method, "POST") == 0 ? ENDPOINT_POST : 0;
}

enum { OPTIONS = 4 }; /* besides the methods of rows, for a path with a `cors` */

static const char *allow_of(unsigned methods)
{
	static const char *const allow[] = { [ENDPOINT_READS] = "GET, HEAD",
		[ENDPOINT_POST] = "POST",
		[ENDPOINT_READS | ENDPOINT_POST] = "GET, HEAD, POST",
		[ENDPOINT_READS | OPTIONS] = "GET, HEAD, OPTIONS",
		[ENDPOINT_POST | OPTIONS] = "POST, OPTIONS",
		[ENDPOINT_READS | ENDPOINT_POST | OPTIONS] = "GET, HEAD, POST, OPTIONS" };

	return allow[methods];
}

/* ---- segments ---- */

static bool name_fits(struct bytes pattern, const char *name)
{
	if (bytes_equal(pattern, bytes_of("<shop>")))
		return shop_name_valid(name);
	return *name && !strchr(name, '%');
}

struct names {
	struct submission *of;
	int count;
	size_t used;
};

static bool take_name(struct bytes pattern, struct bytes segment, void *context)
{
	struct names *names = context;
	char *to = names->of->names_room + names->used;

	if (names->count == SUBMISSION_NAMES_MAX ||
		!text_copy_bytes(to, SUBMISSION_NAMES_ROOM - names->used, segment) || !name_fits(pattern, to))
		return false;
	names->of->names[names->count++] = to;
	names->used += segment.len + 1;
	return true;
}

static void forget_names(struct submission *submission)
{
	for (int i = 0; i < SUBMISSION_NAMES_MAX; i++)
		submission->names[i] = "";
}

static bool names_fit(const char *pattern, const char *path, struct submission *ret)
{
	struct names names = { .of = ret };

	forget_names(ret);
	return path_fits(pattern, path, take_name, &names);
}

/* ---- scripts of other origins ---- */

/* The length of the row's path up to its first name; 0: the request's path does not begin with it. */
static size_t common_beginning(const struct endpoint *row, const char *path)
{
	size_t len = strcspn(row->path, "<");

	return strncmp(path, row->path, len) == 0 ? len : 0;
}

/* Finds the row with a `cors` that has the longest common beginning with the path; NULL: none. */
static const struct endpoint *nearest_with_cors(const struct endpoint *const *tables, const char *path)
{
	const struct endpoint *nearest = NULL;
	size_t most = 1; /* a slash alone does not count */

	for (; *tables; tables++)
		for (const struct endpoint *row = *tables; row->path; row++) {
			size_t len = row->cors ? common_beginning(row, path) : 0;

			if (len <= most)
				continue;
			most = len;
			nearest = row;
		}
	return nearest;
}

/* No row takes the request. The names that fit decide which origins may read the refusal. */
static void find_cors(const struct endpoint *row, const char *path, struct submission *ret)
{
	forget_names(ret);
	ret->cors = row ? row->cors : NULL;
	if (row)
		names_fit(row->path, path, ret);
}

void route_find(const struct endpoint *const *tables, const char *method, const char *path, struct submission *ret)
{
	const struct endpoint *with_cors = NULL;
	unsigned wanted = method_of(method), understood = 0;

	ret->endpoint = NULL;
	for (const struct endpoint *const *table = tables; *table; table++)
		for (const struct endpoint *row = *table; row->path; row++) {
			if (!names_fit(row->path, path, ret))
				continue;
			understood |= row->methods | (row->cors ? OPTIONS : 0);
			with_cors = with_cors || !row->cors ? with_cors : row;
			if (!(row->methods & wanted))
				continue;
			ret->endpoint = row;
			ret->cors = row->cors;
			ret->allow = allow_of(understood);
			return;
		}
	ret->allow = allow_of(understood);
	find_cors(with_cors || understood ? with_cors : nearest_with_cors(tables, path), path, ret);
}

/* ---- the tables ---- */

/* NULL: the row is valid. */
static const char *check_file(const struct endpoint *row)
{
	const char *name = strchr(row->path, '<');

	if (row->body_most == 0 || row->body_most > FILE_MOST || row->body_most > row->file->use->blob_bytes)
		return "its body is a file, and has no bound or a too large one";
	if (!name || !text_starts(name, "<shop>"))
		return "its body is a file, and the first name of its path is not <shop>";
	if (!row->file->topic->blobs)
		return "its body is a file, and its topic does not declare which field names the blob";
	return NULL;
}

static const char *check_row(const struct endpoint *row)
{
	if (row->path[0] != '/')
		return "its path does not begin with a slash";
	if (!row->methods || (row->methods & ~(unsigned)(ENDPOINT_READS | ENDPOINT_POST)))
		return "it takes no method, or an unknown one";
	if (!row->read)
		return "it has no `read`";
	if ((row->methods & ENDPOINT_POST) && !row->answer)
		return "it takes POST and has no `answer`";
	if (row->cors && !row->cors->allows)
		return "its `cors` has no `allows`";
	return row->file ? check_file(row) : NULL;
}

/* Do both rows take the same request? Rows with different patterns may overlap; the first one wins. */
static bool is_same(const struct endpoint *one, const struct endpoint *other)
{
	return one != other && strcmp(one->path, other->path) == 0 && (one->methods & other->methods);
}

static bool differs_in_cors(const struct endpoint *one, const struct endpoint *other)
{
	return strcmp(one->path, other->path) == 0 && one->cors != other->cors;
}

static bool any_other(const struct endpoint *const *tables, const struct endpoint *row,
	bool (*fits)(const struct endpoint *one, const struct endpoint *other))
{
	for (; *tables; tables++)
		for (const struct endpoint *other = *tables; other->path; other++)
			if (fits(row, other))
				return true;
	return false;
}

const char *route_check(const struct endpoint *const *tables)
{
	static char words[300];

	for (const struct endpoint *const *table = tables; *table; table++)
		for (const struct endpoint *row = *table; row->path; row++) {
			const char *why = check_row(row);

			if (!why && any_other(tables, row, is_same))
				why = "another row takes the same method of it";
			if (!why && any_other(tables, row, differs_in_cors))
				why = "another row of it has another `cors`";
			if (!why)
				continue;
			snprintf(words, sizeof(words), "the endpoint %s: %s", row->path, why);
			return words;
		}
	return NULL;
}

bool route_any_file(const struct endpoint *const *tables)
{
	for (; *tables; tables++)
		for (const struct endpoint *row = *tables; row->path; row++)
			if (row->file)
				return true;
	return false;
}

/* "/hooks/<shop>/cart" becomes "/hooks/SHOP/cart". */
static void add_place(const char *path, struct buffer *ret)
{
	bool in_name = false;

	for (; *path; path++) {
		char c = in_name ? (char)toupper((unsigned char)*path) : *path;

		if (*path != '<' && *path != '>')
			buffer_add(ret, &c, 1);
		else
			in_name = *path == '<';
	}
}

void route_name_all(const struct endpoint *const *tables, struct buffer *ret)
{
	const struct endpoint *previous = NULL;
	bool begun = false;

	for (; *tables; tables++)
		for (const struct endpoint *row = *tables; row->path; row++) {
			if (!row->listed)
				continue;
			if (previous) {
				buffer_add_text(ret, begun ? ", " : "");
				add_place(previous->path, ret);
				begun = true;
			}
			previous = row;
		}
	if (!previous)
		return;
	buffer_add_text(ret, begun ? " or " : "");
	add_place(previous->path, ret);
}

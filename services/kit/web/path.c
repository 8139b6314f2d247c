/* path.c: fits the path of a request to a pattern */
#include "services/kit/web/path.h"

/* Takes the next segment of a path, without its slash. false: there is none. */
static bool take_segment(const char **path, struct bytes *ret)
{
	if (**path != '/')
		return false;
	*ret = BYTES(*path + 1, strcspn(*path + 1, "/"));
	*path += 1 + ret->len;
	return true;
}

static bool is_name(struct bytes pattern)
{
	return pattern.len > 2 && *(const char *)pattern.data == '<';
}

bool path_fits(const char *pattern, const char *path, path_take_fn *take, void *context)
{
	struct bytes expected, segment;

	while (take_segment(&pattern, &expected)) {
		if (!take_segment(&path, &segment))
			return false;
		if (is_name(expected) ? !take(expected, segment, context) : !bytes_equal(expected, segment))
			return false;
	}
	return !*pattern && !*path;
}

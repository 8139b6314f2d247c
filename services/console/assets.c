/*
 * assets.c: the places of the assets, by their content
 *
 * They lie in the program and not in files beside it, so an upgrade under a running console never mixes two versions.
 */
#include "services/console/assets.h"
#include "bus/base/text.h"
#include <openssl/evp.h>
#include <stdio.h>

enum { ASSETS_MAX = 16, DIGEST_BYTES = 6 };

static const char *type_of(const char *name)
{
	static const char *const types[][2] = { { ".css", "text/css; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" }, { ".svg", "image/svg+xml" } };
	const char *ending = strrchr(name, '.');

	for (size_t i = 0; ending && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(ending, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}

static void digest_into(const void *data, size_t len, char ret[2 * DIGEST_BYTES + 1])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };

	EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL);
	text_hex(digest, DIGEST_BYTES, ret);
}

/* Made at the first call. */
static const char *place_of(size_t which)
{
	static char places[ASSETS_MAX][ASSET_PLACE_MAX];
	char digest[2 * DIGEST_BYTES + 1];

	if (which >= ASSETS_MAX)
		return NULL;
	if (!places[which][0]) {
		digest_into(assets[which].content, assets[which].len, digest);
		snprintf(places[which], sizeof(places[which]), "/a/%s/%s", digest, assets[which].name);
	}
	return places[which];
}

const char *asset_place(const char *name)
{
	for (size_t i = 0; assets[i].name; i++)
		if (strcmp(assets[i].name, name) == 0)
			return place_of(i);
	return NULL;
}

const struct asset *asset_at(const char *path, const char **ret_type)
{
	for (size_t i = 0; assets[i].name; i++) {
		const char *place = place_of(i);

		if (!place || strcmp(place, path) != 0)
			continue;
		*ret_type = type_of(assets[i].name);
		return &assets[i];
	}
	return NULL;
}

const char *assets_build(void)
{
	static char build[2 * DIGEST_BYTES + 1];
	char all[ASSETS_MAX * ASSET_PLACE_MAX] = "";
	size_t len = 0;

	for (size_t i = 0; !build[0] && i < ASSETS_MAX && assets[i].name; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s", place_of(i));
	if (!build[0])
		digest_into(all, len, build);
	return build;
}

/*
 * assets.c: the places of the assets, by their content
 *
 * They lie in the program and not in files beside it, so an upgrade under a running console never mixes two versions.
 */
#include "services/console/assets.h"
#include "bus/base/text.h"
#include <assert.h>
#include <openssl/evp.h>
#include <stdio.h>

enum { DIGEST_BYTES = (ASSETS_BUILD_ROOM - 1) / 2 };

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

static void digest_of(struct bytes content, char ret[ASSETS_BUILD_ROOM])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };

	EVP_Digest(content.data, content.len, digest, NULL, EVP_sha256(), NULL);
	text_hex(digest, DIGEST_BYTES, ret);
}

void assets_find_places(struct asset_places *ret)
{
	char digest[ASSETS_BUILD_ROOM];

	*ret = (struct asset_places){ 0 };
	for (size_t i = 0; assets[i].name; i++) {
		assert(i < ASSETS_MAX);
		digest_of(BYTES(assets[i].content, assets[i].len), digest);
		snprintf(ret->each[i], ASSET_PLACE_ROOM, "/a/%s/%s", digest, assets[i].name);
	}
	digest_of(BYTES(ret->each, sizeof(ret->each)), ret->build);
}

const char *asset_place(const struct asset_places *places, const char *name)
{
	for (size_t i = 0; assets[i].name; i++)
		if (strcmp(assets[i].name, name) == 0)
			return places->each[i];
	return NULL;
}

const struct asset *asset_at(const struct asset_places *places, const char *path, const char **ret_type)
{
	for (size_t i = 0; assets[i].name; i++)
		if (strcmp(places->each[i], path) == 0) {
			*ret_type = type_of(assets[i].name);
			return &assets[i];
		}
	return NULL;
}

/* assets.h: the style sheet, the script and the icons, which are part of the program */
#ifndef CONSOLE_ASSETS_H
#define CONSOLE_ASSETS_H

#include "bus/base/bytes.h"

enum { ASSETS_MAX = 16, ASSET_PLACE_ROOM = 96, ASSETS_BUILD_ROOM = 13 };

/* Made by CMake of services/console/assets; ends with a row without a name. */
struct asset {
	const char *name;
	const unsigned char *content;
	size_t len;
};
extern const struct asset assets[];

/*
 * Where browsers find them: "/a/<twelve digits of its SHA-256>/<name>". A changed file has another place, so a browser may keep it for ever.
 */
struct asset_places {
	char each[ASSETS_MAX][ASSET_PLACE_ROOM]; /* in the order of assets[] */
	char build[ASSETS_BUILD_ROOM];           /* differs between two builds whose assets differ */
};

void assets_find_places(struct asset_places *ret);
/* The place of an asset; NULL: there is no such asset. Borrowed from `places`. */
const char *asset_place(const struct asset_places *places, const char *name);
/* The asset at this path; NULL: there is none, or it was another version's. ret_type: its content type. */
const struct asset *asset_at(const struct asset_places *places, const char *path, const char **ret_type);

#endif

/* assets.h: the style sheet, the script and the icons, which are part of the program */
#ifndef CONSOLE_ASSETS_H
#define CONSOLE_ASSETS_H

#include "bus/base/bytes.h"

enum { ASSET_PLACE_MAX = 96 };

/* Made by CMake of services/console/assets; ends with a row without a name. */
struct asset {
	const char *name;
	const unsigned char *content;
	size_t len;
};
extern const struct asset assets[];

/*
 * "/a/<twelve digits of its SHA-256>/<name>". A changed file has another place, so a browser may keep it for ever. NULL: there is no such
 * asset. Static.
 */
const char *asset_place(const char *name);
/* The asset at this path; NULL: there is none, or it was another version's. ret_type: its content type. */
const struct asset *asset_at(const char *path, const char **ret_type);
/* Differs between two builds of the console whose assets differ. */
const char *assets_build(void);

#endif

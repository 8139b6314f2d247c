/* shop_face.h: how a shop shows itself on a page */
#ifndef PLATFORM_GATEWAY_SHOP_FACE_H
#define PLATFORM_GATEWAY_SHOP_FACE_H

#include "services/kit/shop/accent.h"

struct shop_face {
	char title[100];
	char locale[24];
	char accent[ACCENT_ROOM]; /* "": the plain one */
	char zone[40];            /* "": unknown */
};

/* From its shop.conf; its plain name, and nothing else, while that cannot be read. */
void shop_face_read(const char *shops_folder, const char *shop, struct shop_face *ret);

#endif

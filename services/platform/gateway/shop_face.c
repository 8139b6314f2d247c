/* shop_face.c: how a shop shows itself on a page */
#include "services/platform/gateway/shop_face.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/shop/shop.h"
#include <stdio.h>

enum { SHOP_CONF_MOST = 64 * 1024 };

void shop_face_read(const char *shops_folder, const char *shop, struct shop_face *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	static struct shop parsed; /* large */
	char path[512];

	*ret = (struct shop_face){ 0 };
	TEXT_COPY(ret->title, shop);
	snprintf(path, sizeof(path), "%s/%s/shop.conf", shops_folder, shop);
	if (!shop_name_valid(shop) || file_read(path, SHOP_CONF_MOST, &text) < 0 ||
		shop_parse(buffer_text(&text), shop, path, &parsed, &error) < 0)
		return;
	if (parsed.title[0])
		TEXT_COPY(ret->title, parsed.title);
	TEXT_COPY(ret->locale, parsed.locale);
	TEXT_COPY(ret->accent, parsed.accent);
	TEXT_COPY(ret->zone, parsed.zone);
}

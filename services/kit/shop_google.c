/* shop_google.c: the sections of shop.conf that name a spreadsheet and documents of Google */
#include "services/kit/shop_google.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>

enum { ID_MIN = 10 };

static int wrong(const char *section, const char *key, const char *expected, struct shop_mistake *ret)
{
	*ret = (struct shop_mistake){ .section = section, .key = key };
	TEXT_COPY(ret->expected, expected);
	return -EINVAL;
}

static const char *value_of(const struct config *config, const char *section, const char *key)
{
	const char *value = config_get(config, section, NULL, key);

	return value ? value : "";
}

static int read_id(const struct config *config, const char *section, const char *key, char ret[GOOGLE_ID_MAX + 1],
	struct shop_mistake *ret_mistake)
{
	const char *id = value_of(config, section, key);
	size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	if (*id && (id[len] || len < ID_MIN || !text_copy(ret, GOOGLE_ID_MAX + 1, id)))
		return wrong(section, key, "the id out of its address: what stands between /d/ and /edit", ret_mistake);
	return 0;
}

int shop_read_google(const struct config *config, struct shop *shop, struct shop_mistake *ret_mistake)
{
	struct shop_google *google = &shop->google;
	const char *tab = value_of(config, "export", "tab");
	int r = read_id(config, "export", "sheet", google->sheet, ret_mistake);

	if (r == 0)
		r = read_id(config, "documents", "rules", google->rules, ret_mistake);
	if (r == 0)
		r = read_id(config, "documents", "voice", google->voice, ret_mistake);
	if (r == 0 && (text_has_control(tab) || !text_is_utf8(bytes_of(tab)) || !TEXT_COPY(google->tab, tab)))
		r = wrong("export", "tab", "the name of a tab, at most 99 bytes", ret_mistake);
	return r;
}

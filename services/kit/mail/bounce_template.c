/*
 * bounce_template.c: which addresses bounces may come back to
 *
 * Apart from bounce_tag.c: every service that reads a shop.conf judges its bounce address, and few sign one with OpenSSL.
 */
#include "services/kit/mail/bounce_tag.h"
#include <string.h>

bool bounce_template_valid(const char *bounce)
{
	const char *star = strchr(bounce, '*'), *at = strrchr(bounce, '@');

	if (!star)
		return true;
	return at && star < at && !strchr(star + 1, '*') && at - bounce - 1 <= BOUNCE_BESIDE_MAX &&
		strlen(bounce) - 1 + BOUNCE_TAG_LEN <= ADDRESS_MAX;
}

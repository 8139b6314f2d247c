/*
 * origin.h: which page sent a request, so that another site's page can do nothing in a person's name
 *
 * Source: the Fetch standard's Sec-Fetch headers, and OWASP's cheat sheet on cross-site request forgery. A cookie knows no port, and
 * SameSite counts every port of a host as one site, so neither is enough here.
 */
#ifndef CONSOLE_ORIGIN_H
#define CONSOLE_ORIGIN_H

#include "services/kit/web/request.h"

/*
 * `origin` is the console's own, as the browser was sent to it: "http://127.0.0.1:8410". NULL: the request may be served; otherwise the
 * reason in words, for 403. A link in a mail may lead to a page (GET), but another site's page may neither act nor read.
 */
const char *origin_trouble(const struct request *request, const char *origin);

#endif

/*
 * language.h: which of the languages we have somebody reads
 */
#ifndef KIT_LOCALE_LANGUAGE_H
#define KIT_LOCALE_LANGUAGE_H

/*
 * `accept` is the header Accept-Language (RFC 9110 section 12.5.4), NULL or "": not given; `locale` a locale to fall back on
 * ("de-AT"). `offered` ends with NULL and is not empty. Returns one of them: the best that is accepted, else that of the locale,
 * else the first.
 */
const char *language_choose(const char *accept, const char *locale, const char *const *offered);

#endif

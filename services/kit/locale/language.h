/*
 * language.h: which of the languages we have somebody reads
 */
#ifndef KIT_LOCALE_LANGUAGE_H
#define KIT_LOCALE_LANGUAGE_H

#include <stddef.h>

/*
 * `accept` is the header Accept-Language (RFC 9110 section 12.5.4), NULL or "": not given; `locale` a locale to fall back on
 * ("de-AT"). `offered` ends with NULL and is not empty. Returns one of them: the best that is accepted, else that of the locale,
 * else the first.
 */
const char *language_choose(const char *accept, const char *locale, const char *const *offered);

/*
 * The same choice in a table of texts: `rows` have `row_size` bytes each, begin with `const char *language` and end with a row where it is
 * NULL (language_table in services/kit/CMakeLists.txt makes them). Returns one of the rows. The table has 1 to 32 languages.
 */
const void *language_row(const void *rows, size_t row_size, const char *accept, const char *locale);

#endif

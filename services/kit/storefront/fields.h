/*
 * fields.h: reads fields from the JSON that storefronts really send
 *
 * Real bodies have null everywhere, lists instead of objects, and numbers instead of text. A field of the
 * wrong kind counts as missing; only fields_parse can fail.
 */
#ifndef KIT_STOREFRONT_FIELDS_H
#define KIT_STOREFRONT_FIELDS_H

#include "bus/base/bytes.h"
#include <jansson.h>
#include <stddef.h>

enum { FIELDS_DEPTH_MAX = 64 };

/*
 * NULL: the body is no JSON object, is nested deeper than FIELDS_DEPTH_MAX, or has a key twice; ret_why tells
 * which and where.
 */
const json_t *fields_parse(struct bytes body, char ret_why[200]);
/* frees a parsed body, which is one block; to be called before the next fields_parse */
void fields_done(void);

const json_t *field_object(const json_t *object, const char *name); /* NULL if it is no object; takes NULL */
const json_t *field_list(const json_t *object, const char *name);   /* the same */
/* A whole text; NULL if it is no text, empty, or contains a NUL (so that it would seem shorter). */
const char *field_word(const json_t *object, const char *name);
bool field_true(const json_t *object, const char *name);
/*
 * Reads a yes or no: true, 1, "1", "true" and "yes" are yes; false, 0, "0", "false", "no", "denied" and ""
 * are no; case does not matter. 1: yes; 0: no; -ENOENT: not given, or null; -EINVAL: given, and neither.
 */
int field_yes_no(const json_t *object, const char *name);
bool field_has_control(struct bytes text, bool marks); /* text_control (bus/base/text.h), anywhere in it */
/*
 * Reads a text for people: control characters become blanks, and a long text is cut between characters.
 * false: it is missing, and ret is "".
 */
bool field_text(const json_t *object, const char *name, char *ret, size_t room);
/* Reads an id, a token or number. It is never cut: a long id is replaced by its digest, always the same. */
bool field_id(const json_t *object, const char *name, char *ret, size_t room);
/*
 * Reads a URL with http:// or https://, without blanks, quotes or control characters. false: it is missing,
 * invalid, or does not fit.
 */
bool field_url(const json_t *object, const char *name, char *ret, size_t room);
bool field_https(const json_t *object, const char *name, char *ret, size_t room);
/* Reads an amount from text or number. 1: read; 0: not given; -EINVAL: no cart can have this amount. */
int field_money(const json_t *object, const char *name, const char *currency, int64_t *ret_minor);
/* The same for a refund, which some platforms give as a negative amount; false: missing, or invalid. */
bool field_refund(const json_t *object, const char *name, const char *currency, int64_t *ret_minor);
bool field_timestamp(const json_t *object, const char *name, int64_t *ret_us);
/* Reads a currency in upper case. 1: read; 0: not given; -EINVAL: ICU does not know it. */
int field_currency(const json_t *object, const char *name, char ret[4]);

/*
 * Memory for jansson that is freed in one step
 *
 * A body of 2.5 KB needs some 400 allocations and as many frees, a third of the cost of reading it. Between
 * begin and end, jansson's allocations come from one block, and are freed with it.
 */

/*
 * There may be one block at a time, in one thread. All values that jansson makes before json_block_end are
 * freed there, not earlier.
 */
void json_block_begin(size_t text_len);
void json_block_end(void);

#endif

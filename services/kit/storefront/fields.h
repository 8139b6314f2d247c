/*
 * fields.h: reads the bodies that storefronts really send
 *
 * Real bodies hold null everywhere, lists where objects are expected, numbers where text is. A field of the wrong kind counts as
 * not given; nothing here fails but the whole body.
 */
#ifndef KIT_STOREFRONT_FIELDS_H
#define KIT_STOREFRONT_FIELDS_H

#include "bus/base/bytes.h"
#include <jansson.h>
#include <stddef.h>

enum { FIELDS_DEPTH_MAX = 64 };

/* NULL: not one JSON object, nested deeper than FIELDS_DEPTH_MAX, a key given twice; ret_why says which and where. */
const json_t *fields_parse(struct bytes body, char ret_why[200]);
void fields_done(void); /* after what was parsed, and before the next; its memory is one block */

const json_t *field_object(const json_t *object, const char *name); /* NULL unless it is one; takes NULL */
const json_t *field_list(const json_t *object, const char *name);   /* the same */
/* Text that is judged as a whole: NULL when it is none, empty, or has a NUL in it (and would seem shorter than it is). */
const char *field_word(const json_t *object, const char *name);
bool field_true(const json_t *object, const char *name);
/*
 * A question that was answered: true, 1, "1", "true" and "yes" are yes; false, 0, "0", "false", "no", "denied" and "" are no; case
 * does not matter. 1: yes; 0: no; -ENOENT: not given, or null; -EINVAL: given, and neither.
 */
int field_yes_no(const json_t *object, const char *name);
bool field_has_control(struct bytes text, bool marks); /* text_control (bus/base/text.h), anywhere in it */
/* Text for people: control characters become blanks, what does not fit is cut at a character. false: not given, ret is "". */
bool field_text(const json_t *object, const char *name, char *ret, size_t room);
/* A token or number that names something. Never cut: one that is too long is named by its digest, the same every time. */
bool field_id(const json_t *object, const char *name, char *ret, size_t room);
/* http:// or https://, no blanks, quotes or controls, fits whole. */
bool field_url(const json_t *object, const char *name, char *ret, size_t room);
bool field_https(const json_t *object, const char *name, char *ret, size_t room);
/* 1: read; 0: not given; -EINVAL: given, and not an amount that a cart can have. Text or number. */
int field_money(const json_t *object, const char *name, const char *currency, int64_t *ret_minor);
/* The same for what went back, which some give as a negative amount; false: not given, or none. */
bool field_refund(const json_t *object, const char *name, const char *currency, int64_t *ret_minor);
bool field_timestamp(const json_t *object, const char *name, int64_t *ret_us);
/* Upper case. 1: a currency; 0: not given; -EINVAL: given, and none that ICU knows. */
int field_currency(const json_t *object, const char *name, char ret[4]);

/*
 * Memory for jansson that is given back at once
 *
 * A body of 2.5 KB is some 400 allocations and as many frees, a third of what reading it costs. Between begin and end jansson
 * takes them one behind the other from a block; what it frees is freed with the block.
 */

/* One at a time, in one thread. All values that jansson makes before the end are freed at the end, and not before. */
void json_block_begin(size_t text_len);
void json_block_end(void);

#endif

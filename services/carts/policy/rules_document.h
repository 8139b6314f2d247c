/*
 * rules_document.h: the kind of documents "rules", and the rules that a service has folded
 */
#ifndef CARTS_POLICY_RULES_DOCUMENT_H
#define CARTS_POLICY_RULES_DOCUMENT_H

#include "services/kit/documents/docs.h"
#include "services/kit/rules/rules.h"

extern const struct document_kind rules_document;

/*
 * The rules of this shop. Borrowed until the next call with the same shop. NULL: there are none yet, or an
 * older program said rules that cannot be read. `ret_version` (may be NULL): 0 if there are none.
 */
const struct rules *rules_in_use(const struct state *state, const char *shop, uint32_t *ret_version);

#endif

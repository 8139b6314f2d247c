/* documents.c: the kinds of documents that the carts bring (services/systems.cmake) */
#include "services/carts/letter/voice.h"
#include "services/carts/policy/rules_document.h"

extern const struct document_kind *const carts_documents[];

const struct document_kind *const carts_documents[] = { &rules_document, &voice_document, NULL };

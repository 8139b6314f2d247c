/*
 * versions.c: every version of one of a shop's texts, as the log keeps them
 *
 * Promises:  documents are kept for ever, so this is all of them; who had one rolled back is in the audit that came before it.
 * Read next: history.c (what is shown of them), rollback.c
 */
#include "services/cartbus/core/versions.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/kit/documents/docs.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct document_kind *text_kind(
	const char *word, const char *language, char ret_name[DOCUMENT_KIND_ROOM], char ret_file[DOCUMENT_FILE_ROOM])
{
	const char *name = strcmp(word, "conf") == 0 ? shop_document.name : word;
	const struct document_kind *kind = document_kind_named(registered_documents, name);

	if (!kind || strlen(language) > kind->further_max)
		return NULL;
	for (const char *at = language; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '-')
			return NULL;
	}
	snprintf(ret_name, DOCUMENT_KIND_ROOM, "%s%s%s", name, *language ? "." : "", language);
	document_file_name(kind, ret_name, ret_file);
	return kind;
}

static uint32_t first_of(const struct versions *versions, const char *digest)
{
	for (size_t i = 0; i < versions->count; i++) {
		if (strcmp(versions->list[i].digest, digest) == 0)
			return versions->list[i].number;
	}
	return 0;
}

static bool add_version(const struct entry *entry, void *context)
{
	struct versions *versions = context;
	_cleanup_free_ Document *document = payload_decode(&topic_document, entry->payload);
	struct version *version;
	uint32_t same_as;

	if (!document)
		return true;
	same_as = first_of(versions, document->digest);
	if (versions->count == versions->room) {
		versions->room = versions->room ? 2 * versions->room : 16;
		versions->list = memory_resize(versions->list, versions->room * sizeof(*versions->list));
	}
	version = &versions->list[versions->count++];
	*version = (struct version){ .number = document->version,
		.seq = entry->seq,
		.at_us = document->at_us,
		.same_as = same_as,
		.text = memory_copy(document_text(document)) };
	TEXT_COPY(version->digest, document->digest);
	TEXT_COPY(version->source, document->source);
	return true;
}

/* It is said before the file is written: the next version of that text is what came of it. */
static bool add_rollback(const struct entry *entry, void *context)
{
	struct versions *versions = context;
	_cleanup_free_ Audit *audit = payload_decode(&topic_audit, entry->payload);

	if (!audit || strcmp(audit->action, ROLLBACK_ACTION) != 0)
		return true;
	for (size_t i = 0; i < versions->count; i++) {
		struct version *version = &versions->list[i];

		if (version->seq < entry->seq || strcmp(version->digest, audit->after) != 0)
			continue;
		if (!*version->who) {
			TEXT_COPY(version->who, audit->who);
			TEXT_COPY(version->reason, audit->grounds);
		}
		break;
	}
	return true;
}

int versions_load(
	const struct command *command, struct client *client, const char *shop, const char *kind, struct versions *ret)
{
	int ended;

	*ret = (struct versions){ 0 };
	ended = reading_each(command, client,
		&(struct reading_filter){ .topic = topic_document.name, .shop = shop, .key = kind }, add_version, ret);
	if (!ended)
		ended = reading_each(command, client,
			&(struct reading_filter){ .topic = topic_audit.name, .shop = shop, .key = shop }, add_rollback,
			ret);
	if (!ended && ret->count == 0) {
		complain(command, "the log knows no %s of a shop \"%s\"; has the mirror read its file?", kind, shop);
		return EXIT_NO;
	}
	return ended;
}

void versions_free(struct versions *versions)
{
	for (size_t i = 0; i < versions->count; i++)
		free(versions->list[i].text);
	free(versions->list);
	*versions = (struct versions){ 0 };
}

const struct version *versions_find(const struct command *command, const struct versions *versions, const char *number)
{
	char *end = NULL;
	unsigned long wanted = strtoul(number, &end, 10);

	for (size_t i = 0; isdigit((unsigned char)*number) && !*end && i < versions->count; i++) {
		if (versions->list[i].number == wanted)
			return &versions->list[i];
	}
	complain(command, "there is no version \"%s\"; there are %u to %u", number, versions->list[0].number,
		versions->list[versions->count - 1].number);
	return NULL;
}

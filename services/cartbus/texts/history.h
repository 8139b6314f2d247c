/*
 * history.h: every version of one of a shop's texts, as the log keeps them
 */
#ifndef CARTBUS_TEXTS_HISTORY_H
#define CARTBUS_TEXTS_HISTORY_H

#include "bus/actor/client.h"
#include "services/cartbus/core/command.h"
#include "services/kit/documents/kinds.h"

struct version {
	uint32_t number;
	uint64_t seq;
	int64_t at_us;
	char digest[65], source[128];
	char who[64];     /* that had it rolled back; empty: it was read from its file */
	char reason[200]; /* of a rollback */
	uint32_t same_as; /* an earlier version with the same text; 0: none */
	char *text;
};

struct versions {
	struct version *list; /* the oldest first */
	size_t count, room;
};

/*
 * The kind of document that a command's first word means, "rules", "voice" or "conf", with the name of the document and of its file.
 * `language`: of a further text, or "". NULL: no such kind, or no such language.
 */
const struct document_kind *text_kind(
	const char *word, const char *language, char ret_name[DOCUMENT_KIND_ROOM], char ret_file[DOCUMENT_FILE_ROOM]);

/* An exit; complains when it fails, or when the log knows no version. */
int versions_load(
	const struct command *command, struct client *client, const char *shop, const char *kind, struct versions *ret);
void versions_free(struct versions *versions);
/* By its number as typed; NULL: complained. */
const struct version *versions_find(const struct command *command, const struct versions *versions, const char *number);

/* The audit's word of a rollback: grounds its reason, after the digest of the text that is to be in use again. */
#define ROLLBACK_ACTION "rolled_back"

#endif

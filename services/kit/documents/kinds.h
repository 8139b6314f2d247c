/*
 * kinds.h: the kinds of documents
 *
 * A document is a text that an owner writes for one shop. Each kind is one row, and a system registers the
 * rows of its kinds:
 *
 *     const struct document_kind *const forms_documents[] = { &form_document, NULL };
 *     cartbus_system_brings(forms documents forms_documents forms_letter)
 *
 * The mirror reads, checks and says documents of every registered kind; `cartbus config check` checks them.
 * No other code has to know the kind. If a text is refused, the last version that was said stays in use, for
 * all kinds.
 */
#ifndef KIT_DOCUMENTS_KINDS_H
#define KIT_DOCUMENTS_KINDS_H

#include "bus/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>

enum {
	DOCUMENT_KIND_ROOM = 32,                     /* "voice.pt-BR" with its NUL */
	DOCUMENT_FILE_ROOM = DOCUMENT_KIND_ROOM + 8, /* "voice.pt-BR.txt" with its NUL */
	DOCUMENT_ENDING_MAX = 7,                     /* bytes: ".conf" */
	DOCUMENT_BYTES_MAX = 256 * 1024              /* of a text, whatever its kind: what a `document` carries */
};

struct shop;

/* A text and its surroundings. All of it is borrowed. */
struct document_text {
	const char *shop;   /* the name of the shop */
	const char *kind;   /* "rules", "voice.de" */
	const char *source; /* how error messages name the text: "demo/voice.de.txt" */
	const char *text;   /* UTF-8, NUL-terminated, without a NUL inside */
	/* the last valid shop.conf of this shop; NULL: none, or the reader does not need it */
	const struct shop *conf;
	bool conf_is_right; /* false: the present shop.conf is wrong, and `conf` is an older one */
};

/* The result of a check. All zero: the text is right, and there is no warning. */
struct document_opinion {
	int line, column;       /* the place of the error, from 1; 0: it concerns the whole text */
	char wrong[512];        /* "line 1, column 28: expected ..."; "": the text is right */
	bool names_source;      /* `wrong` begins with the source of the text */
	char help[900];         /* further lines for a terminal: the line, and what would be right; "": none */
	char warnings[300];     /* warnings about a right text, joined by "; " */
	char conf_warning[160]; /* the warning that depends on this shop.conf; "": none */
};

/* How documents of one kind are read. */
struct docs_reading {
	/*
	 * `with`: what else the reading depends on; "": nothing. Returns NULL if the text has nothing usable.
	 */
	void *(*parse)(const struct document_text *text, const char *with);
	void (*free)(void *parsed); /* takes NULL */
};

struct document_kind {
	const char *name;   /* a-z and -: "rules"; the file in the shop's folder has this name, and */
	const char *ending; /* ".txt", at most DOCUMENT_ENDING_MAX bytes */
	/*
	 * The largest text in bytes, 1 to DOCUMENT_BYTES_MAX. A kind that 0.2.0 knows keeps to 32767, because
	 * a process of that release reads a longer text as an empty one (docs.h).
	 */
	size_t bytes_max;
	size_t further_max; /* bytes of the longest name of a further text, "de" of voice.de.txt; 0: a shop has one text of this kind */
	bool is_optional; /* a shop may never have one. When a text that was said is gone, that is told as a slip; only a further one is
	                        taken back with its file */
	/* in words, the state of a shop that never had a valid text: "the shop has none" */
	const char *without;
	struct docs_reading reading;
	/* `ret` is all zero before. A text that is judged right must be one that `reading` can read. */
	void (*judge)(const struct document_text *text, struct document_opinion *ret);
	/*
	 * For a further text: is this kind a valid name? false: ret_why gives the right spelling. NULL: every
	 * name is valid.
	 */
	bool (*may_be_called)(const char *kind, char ret_why[160]);
	/* The id of the Google document that may stand in for the file, "" if the shop names none. NULL: files only. */
	const char *(*google_id)(const struct shop *conf);
	/*
	 * Must a text that was right with one shop.conf be checked again with another one? Then a new
	 * shop.conf is held back if it would make the text in use invalid. NULL: never.
	 */
	bool (*depends_on)(const struct shop *before, const struct shop *after);
	bool is_rules_version; /* audits name the version of this kind as their rules_version; one kind may */
};

/*
 * Made by services/systems.cmake: the tables of all systems. Each table ends with NULL, and so does the list.
 */
extern const struct document_kind *const *const registered_documents[];

/* The nth row of all tables, from 0; NULL: there are no more. */
const struct document_kind *document_kind_at(const struct document_kind *const *const *tables, size_t nth);
/* The kind of a document name such as "rules" or "voice.de"; NULL: none. */
const struct document_kind *document_kind_named(const struct document_kind *const *const *tables, const char *name);
/* The kind of this file in a shop's folder, and the document's name such as "voice.de"; NULL: none. */
const struct document_kind *document_kind_of_file(
	const struct document_kind *const *const *tables, const char *file, char ret_name[DOCUMENT_KIND_ROOM]);
/* The same for one kind. */
bool document_kind_has_file(const struct document_kind *kind, const char *file, char ret_name[DOCUMENT_KIND_ROOM]);
/* Is the name that of a further text, such as "voice.de" of the kind "voice"? */
bool document_is_further(const struct document_kind *kind, const char *name);
void document_file_name(const struct document_kind *kind, const char *name, char ret_file[DOCUMENT_FILE_ROOM]);
/*
 * Checks the tables; to be called once, at the start of a process. false: ret_why names the invalid row and
 * the reason.
 */
bool document_kinds_valid(const struct document_kind *const *const *tables, char ret_why[200]);

/* The kind of shop.conf, which the kit registers. Every other kind is read together with it. */
extern const struct document_kind shop_document;
extern const struct document_kind *const kit_documents[];

/*
 * The bytes of an owner's text (shop.conf, rules, voices), before they are parsed
 *
 * All processes and commands accept the same bytes. `bytes_max` is that of the kind.
 */

enum { OWNER_TEXT_WHY = 120 };

/* false: ret_why tells what is wrong: "is not a text in UTF-8". */
bool owner_text_valid(struct bytes text, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/*
 * The same for a file that was too long when it was read (-EFBIG). The file may have become shorter since, or
 * have no size (a device); then the text names one byte more than the limit.
 */
void owner_text_file_too_long(const char *path, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/*
 * Appends the file's text. For every negative errno, also -ENOENT, ret_why has a text to show after the path:
 * "cannot be read: Permission denied".
 */
int owner_text_read(const char *path, size_t bytes_max, struct buffer *ret, char ret_why[OWNER_TEXT_WHY]);

#endif

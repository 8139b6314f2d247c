/*
 * kinds.h: the kinds of documents that there are
 *
 * A document is a text that an owner writes for one shop. Each kind is one row, and a system brings the rows of its kinds:
 *
 *     const struct document_kind *const forms_documents[] = { &form_document, NULL };
 *     cartbus_system_brings(forms documents forms_documents forms_letter)
 *
 * The mirror reads, judges and says documents of every registered kind; `cartbus config check` judges them. Nothing else has to know that
 * the kind exists. What a refused text leaves standing is the same for all kinds: the version that was said last stays in use.
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

/* A text, and beside what it is read. All of it is borrowed. */
struct document_text {
	const char *shop;   /* name of the shop */
	const char *kind;   /* "rules", "voice.de" */
	const char *source; /* how messages name the text: "demo/voice.de.txt" */
	const char *text;   /* UTF-8, NUL-terminated, without a NUL inside */
	const struct shop
		*conf; /* the last shop.conf of this shop that was right; NULL: none, or the reader does not need it */
	bool conf_is_right; /* false: the shop.conf of now is wrong, and `conf` is an older one */
};

/* What a judge says of a text. All zero: the text is right, and there is nothing to warn of. */
struct document_opinion {
	int line, column;       /* of `wrong`, from 1; 0: it is about the whole text */
	char wrong[512];        /* "line 1, column 28: expected ..."; "": the text is right */
	bool names_source;      /* `wrong` begins with the source of the text */
	char help[800];         /* further lines for a terminal: the line, and what would be right; "": none */
	char warnings[300];     /* of a text that is right, joined by "; " */
	char conf_warning[160]; /* the one of them that is about the text beside this shop.conf; "": none */
};

/* How documents of one kind are read. */
struct docs_reading {
	/* `with`: what else the reading depends on, "" if nothing. NULL: the text says nothing that can be used. */
	void *(*parse)(const struct document_text *text, const char *with);
	void (*free)(void *parsed); /* takes NULL */
};

struct document_kind {
	const char *name;   /* a-z and -: "rules"; the file in the shop's folder has this name, and */
	const char *ending; /* ".txt", at most DOCUMENT_ENDING_MAX bytes */
	/*
	 * Of a text, 1 to DOCUMENT_BYTES_MAX. A kind that 0.2.0 knows keeps to 32767: a process of that release reads a longer text as an
	 * empty one (docs.h).
	 */
	size_t bytes_max;
	size_t further_max; /* bytes of the longest name of a further text, "de" of voice.de.txt; 0: a shop has one text of this kind */
	bool is_optional; /* a shop may never have one. When a text that was said is gone, that is told as a slip; only a further one is
	                        taken back with its file */
	const char *without; /* in words, what a shop is that never had a right one: "the shop has none" */
	struct docs_reading reading;
	/* `ret` is all zero before. A text that is judged right must be one that `reading` can read. */
	void (*judge)(const struct document_text *text, struct document_opinion *ret);
	/* Of a further text: may its kind be called so? false: ret_why says how it would be spelled. NULL: every name may. */
	bool (*may_be_called)(const char *kind, char ret_why[160]);
	/* The id of the Google document that may stand in for the file, "" if the shop names none. NULL: files only. */
	const char *(*google_id)(const struct shop *conf);
	/*
	 * Does a text that was right beside one shop.conf have to be judged again beside another? Then a shop.conf is held back that the text
	 * in use would be lost with. NULL: never.
	 */
	bool (*depends_on)(const struct shop *before, const struct shop *after);
	bool is_rules_version; /* audits name the version of this kind as their rules_version; one kind may */
};

/* A face of services/systems.cmake: tables of all systems, each ended by a NULL, and a NULL behind them. */
extern const struct document_kind *const *const registered_documents[];

/* Of all tables, from 0; NULL: there are no more. */
const struct document_kind *document_kind_at(const struct document_kind *const *const *tables, size_t nth);
/* The kind that "rules" or "voice.de" is of; NULL: none. */
const struct document_kind *document_kind_named(const struct document_kind *const *const *tables, const char *name);
/* The kind that this file of a shop's folder is of, and its name: "voice.de"; NULL: none. */
const struct document_kind *document_kind_of_file(
	const struct document_kind *const *const *tables, const char *file, char ret_name[DOCUMENT_KIND_ROOM]);
/* The same question of one kind. */
bool document_kind_has_file(const struct document_kind *kind, const char *file, char ret_name[DOCUMENT_KIND_ROOM]);
/* "voice.de" of the kind "voice" */
bool document_is_further(const struct document_kind *kind, const char *name);
void document_file_name(const struct document_kind *kind, const char *name, char ret_file[DOCUMENT_FILE_ROOM]);
/* false: ret_why says which row cannot be served, and why. Tables are checked once, at the start of a process. */
bool document_kinds_valid(const struct document_kind *const *const *tables, char ret_why[200]);

/* shop.conf. Every other kind is read beside it. The kit brings it. */
extern const struct document_kind shop_document;
extern const struct document_kind *const kit_documents[];

/*
 * The bytes of an owner's text (shop.conf, rules, voices), before they are parsed
 *
 * Every process and command takes the same bytes for a text. `bytes_max` is that of its kind.
 */

enum { OWNER_TEXT_WHY = 120 };

/* false: ret_why says what it is instead: "is not a text in UTF-8". */
bool owner_text_valid(struct bytes text, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/*
 * The same of a file that was longer when it was read (-EFBIG). It may have become shorter since, or have no size (a device): then the
 * words say one byte more than the bound.
 */
void owner_text_file_too_long(const char *path, size_t bytes_max, char ret_why[OWNER_TEXT_WHY]);
/*
 * Appends the file's text. A negative errno, -ENOENT among them, comes with what to say behind the path: "cannot be read: Permission
 * denied".
 */
int owner_text_read(const char *path, size_t bytes_max, struct buffer *ret, char ret_why[OWNER_TEXT_WHY]);

#endif

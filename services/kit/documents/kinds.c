/*
 * kinds.c: finds the kind of a document by its name or its file, and checks the tables
 *
 * Promises:  a file has at most one kind: document_kinds_valid() refuses tables of systems that break this.
 * Read next: kinds.h, docs.c (a row: shop_document), services/platform/mirror/mirror.c (serves all kinds)
 */
#include "services/kit/documents/kinds.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

const struct document_kind *document_kind_at(const struct document_kind *const *const *tables, size_t nth)
{
	for (; *tables; tables++)
		for (const struct document_kind *const *row = *tables; *row; row++)
			if (nth-- == 0)
				return *row;
	return NULL;
}

bool document_is_further(const struct document_kind *kind, const char *name)
{
	size_t len = strlen(kind->name);

	return kind->further_max > 0 && strncmp(name, kind->name, len) == 0 && name[len] == '.' && name[len + 1];
}

const struct document_kind *document_kind_named(const struct document_kind *const *const *tables, const char *name)
{
	const struct document_kind *kind;

	for (size_t i = 0; (kind = document_kind_at(tables, i)); i++)
		if (strcmp(kind->name, name) == 0 || document_is_further(kind, name))
			return kind;
	return NULL;
}

bool document_kind_has_file(const struct document_kind *kind, const char *file, char ret_name[DOCUMENT_KIND_ROOM])
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t len = strlen(file), name = strlen(kind->name), ending = strlen(kind->ending);

	if (len < name + ending || strncmp(file, kind->name, name) != 0 ||
		strcmp(file + len - ending, kind->ending) != 0)
		return false;
	if (len > name + ending) { /* ".de" between them */
		size_t further = len - ending - name - 1;
		if (file[name] != '.' || further == 0 || further > kind->further_max ||
			strspn(file + name + 1, allowed) != further)
			return false;
	}
	return text_copy_bytes(ret_name, DOCUMENT_KIND_ROOM, BYTES(file, len - ending));
}

const struct document_kind *document_kind_of_file(
	const struct document_kind *const *const *tables, const char *file, char ret_name[DOCUMENT_KIND_ROOM])
{
	const struct document_kind *kind;

	for (size_t i = 0; (kind = document_kind_at(tables, i)); i++)
		if (document_kind_has_file(kind, file, ret_name))
			return kind;
	return NULL;
}

void document_file_name(const struct document_kind *kind, const char *name, char ret_file[DOCUMENT_FILE_ROOM])
{
	snprintf(ret_file, DOCUMENT_FILE_ROOM, "%s%s", name, kind->ending);
}

/* The fault of a row; NULL: none, the row can be served. */
static const char *fault_of(const struct document_kind *kind)
{
	size_t name = strlen(kind->name);

	if (name == 0 || strspn(kind->name, "abcdefghijklmnopqrstuvwxyz-") != name)
		return "its name has other characters than a-z and -";
	if (name + (kind->further_max ? 1 + kind->further_max : 0) >= DOCUMENT_KIND_ROOM)
		return "its names may be too long";
	if (kind->ending[0] != '.' || strlen(kind->ending) > DOCUMENT_ENDING_MAX)
		return "its ending does not begin with a dot, or is too long";
	if (kind->bytes_max == 0 || kind->bytes_max > DOCUMENT_BYTES_MAX)
		return "its texts may not be so long";
	return kind->judge && kind->reading.parse && kind->reading.free && kind->without ? NULL : "it lacks a function";
}

bool document_kinds_valid(const struct document_kind *const *const *tables, char ret_why[200])
{
	const struct document_kind *kind, *numbered = NULL;

	for (size_t i = 0; (kind = document_kind_at(tables, i)); i++) {
		const char *fault = fault_of(kind);
		if (!fault && document_kind_named(tables, kind->name) != kind)
			fault = "another kind has its name";
		if (!fault && kind->is_rules_version && numbered)
			fault = "another kind's version is the rules_version of audits";
		if (fault) {
			snprintf(ret_why, 200, "the kind of documents \"%.40s\" cannot be served: %s", kind->name,
				fault);
			return false;
		}
		numbered = kind->is_rules_version ? kind : numbered;
	}
	return true;
}

/* --- the bytes of a text, before they are parsed --- */

/* Writes "is longer than 32 KB: it has 40000 bytes, and 32767 is most". */
static void owner_text_too_long(uint64_t bytes, size_t bytes_max, char ret_why[OWNER_TEXT_WHY])
{
	snprintf(ret_why, OWNER_TEXT_WHY, "is longer than %zu KB: it has %" PRIu64 " bytes, and %zu is most",
		(bytes_max + 1023) / 1024, bytes, bytes_max);
}

bool owner_text_valid(struct bytes text, size_t bytes_max, char ret_why[OWNER_TEXT_WHY])
{
	if (text.len > bytes_max)
		owner_text_too_long(text.len, bytes_max, ret_why);
	else if (text.len > 0 && memchr(text.data, '\0', text.len))
		snprintf(ret_why, OWNER_TEXT_WHY, "is not a text in UTF-8: it holds a NUL");
	else if (text.len > 0 && !text_is_utf8(text))
		snprintf(ret_why, OWNER_TEXT_WHY, "is not a text in UTF-8");
	else
		return true;
	return false;
}

void owner_text_file_too_long(const char *path, size_t bytes_max, char ret_why[OWNER_TEXT_WHY])
{
	struct stat file = { 0 };
	bool has_size = stat(path, &file) == 0 && (uint64_t)file.st_size > bytes_max;

	owner_text_too_long(has_size ? (uint64_t)file.st_size : bytes_max + 1, bytes_max, ret_why);
}

int owner_text_read(const char *path, size_t bytes_max, struct buffer *ret, char ret_why[OWNER_TEXT_WHY])
{
	size_t before = ret->len;
	int r = file_read(path, bytes_max, ret);

	if (r == -EFBIG)
		owner_text_file_too_long(path, bytes_max, ret_why);
	else if (r < 0)
		snprintf(ret_why, OWNER_TEXT_WHY, "cannot be read: %s", strerror(-r));
	else if (!owner_text_valid(BYTES(ret->data + before, ret->len - before), bytes_max, ret_why))
		return -EILSEQ;
	return r;
}

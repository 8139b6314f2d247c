/*
 * mirror.c: publishes the owner's files as documents
 *
 * Hears:     nothing; it works from the shops' folders (watcher.c) and Google documents (fetcher.c)
 * Remembers: document, alarm
 * Says:      document, audit, alarm
 * Owns:      the state of each shop's files as they were last seen.
 * Promises:  a document is published when its text is valid and differs from the one that was published last.
 *            A bad edit raises an alarm and leaves the previous document in use; when the text is mended, the
 *            alarm is cleared. A document, its audit and its alarm are one turn, so none is published without
 *            the others. If a text has a file and a Google document, the one that changed last counts, also
 *            after a restart.
 * Fails by:  saying nothing: the seen texts and the published ones are compared again after every change of
 *            either.
 * Read next: judge.c (checks texts), watcher.c (reads files), services/kit/documents/kinds.h (the kinds),
 *            docs.h beside it (how services read documents)
 */
#include "services/platform/mirror/mirror.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/docs.h"
#include <stdio.h>
#include <stdlib.h>

STATE_STRINGS(document_google, "document.google");
STATE_STRINGS(alarms, "alarm");

/* --- seen files --- */

static struct doc *add_doc(struct shop_docs *docs, const struct document_kind *row, const char *kind)
{
	char file[DOCUMENT_FILE_ROOM];

	docs->docs = memory_resize(docs->docs, (docs->count + 1) * sizeof(*docs->docs));
	struct doc *doc = &docs->docs[docs->count++];
	*doc = (struct doc){ .row = row, .verdict = row->is_optional ? DOC_MISSING : DOC_WAITING };
	TEXT_COPY(doc->kind, kind);
	document_file_name(row, kind, file);
	snprintf(doc->source, sizeof(doc->source), "%s/%s", docs->shop, file);
	return doc;
}

/* `row` is that of `kind`. */
static struct doc *doc_of(struct shop_docs *docs, const struct document_kind *row, const char *kind)
{
	for (size_t i = 0; i < docs->count; i++)
		if (!docs->docs[i].is_remote && strcmp(docs->docs[i].kind, kind) == 0)
			return &docs->docs[i];
	return add_doc(docs, row, kind);
}

static struct doc *remote_of(const struct shop_docs *docs, const char *kind)
{
	for (size_t i = 0; i < docs->count; i++)
		if (docs->docs[i].is_remote && strcmp(docs->docs[i].kind, kind) == 0)
			return &docs->docs[i];
	return NULL;
}

static void add_each_kind(struct shop_docs *docs)
{
	const struct document_kind *row;

	add_doc(docs, &shop_document, shop_document.name);
	for (size_t i = 0; (row = document_kind_at(registered_documents, i)); i++)
		if (row != &shop_document)
			add_doc(docs, row, row->name);
}

static struct shop_docs *slot_of(struct mirror *into, const char *shop)
{
	LIST_EACH (hook, &into->shops) {
		struct shop_docs *docs = LIST_ENTRY(hook, struct shop_docs, hook);
		if (strcmp(docs->shop, shop) == 0)
			return docs;
	}
	struct shop_docs *docs = memory_new(sizeof(*docs));
	TEXT_COPY(docs->shop, shop);
	add_each_kind(docs);
	list_append(&into->shops, &docs->hook);
	return docs;
}

static void keep(struct doc *doc, const struct seen *seen)
{
	if (seen->text.len > 0)
		buffer_add(&doc->text, seen->text.data, seen->text.len);
	doc->present = seen->text.data != NULL;
	TEXT_COPY(doc->unreadable, seen->unreadable ? seen->unreadable : "");
}

static void clear(struct doc *doc)
{
	buffer_clear(&doc->text);
	doc->present = false;
	doc->unreadable[0] = '\0';
}

/* Writes in few words all that a look can change of a document. */
static void verdict_words(const struct doc *doc, char ret[500])
{
	snprintf(ret, 500, "%d %s %s", (int)doc->verdict, doc->digest, doc->wrong);
}

static void name_remote(struct shop_docs *docs, const struct document_kind *row, const char *id)
{
	struct doc *doc = remote_of(docs, row->name);

	if (!doc && !id[0])
		return;
	if (!doc)
		doc = add_doc(docs, row, row->name);
	if (doc->is_remote && strcmp(doc->google, id) == 0)
		return;
	clear(doc);
	doc->is_remote = true;
	doc->verdict = DOC_WAITING;
	TEXT_COPY(doc->google, id);
	snprintf(doc->source, sizeof(doc->source), "Google document %s", id);
}

/* Names the Google documents that the last valid shop.conf names. */
static void name_remotes(struct shop_docs *docs)
{
	const struct document_kind *row;

	for (size_t i = 0; docs->conf && (row = document_kind_at(registered_documents, i)); i++)
		if (row->google_id)
			name_remote(docs, row, row->google_id(docs->conf));
}

const struct shop_docs *mirror_see(struct mirror *into, const char *shop, const struct seen *seen, size_t count)
{
	struct shop_docs *docs = slot_of(into, shop);

	for (size_t i = 0; i < count; i++)
		doc_of(docs, seen[i].row, seen[i].kind); /* all of them first: adding moves the array */
	_cleanup_free_ char(*before)[500] = memory_new(docs->count * sizeof(*before));
	_cleanup_free_ char(*digest)[65] = memory_new(docs->count * sizeof(*digest));
	for (size_t i = 0; i < docs->count; i++) {
		verdict_words(&docs->docs[i], before[i]);
		TEXT_COPY(digest[i], docs->docs[i].digest);
		if (!docs->docs[i].is_remote)
			clear(&docs->docs[i]);
	}
	for (size_t i = 0; i < count; i++)
		keep(doc_of(docs, seen[i].row, seen[i].kind), &seen[i]);
	judge(docs);
	for (size_t i = 0; i < docs->count; i++) {
		char after[500];
		verdict_words(&docs->docs[i], after);
		docs->docs[i].changed = !docs->docs[i].is_remote && strcmp(before[i], after) != 0;
		if (docs->docs[i].changed && digest[i][0] && strcmp(digest[i], docs->docs[i].digest) != 0)
			docs->docs[i].changed_nth = ++into->changes;
	}
	name_remotes(docs);
	return docs;
}

/* --- fetched documents --- */

static bool put_fetched(
	struct mirror *into, const char *shop, const char *kind, const char *id, struct bytes text, const char *why)
{
	struct shop_docs *docs = slot_of(into, shop);
	struct doc *doc = remote_of(docs, kind);
	char before[500], after[500], digest[65];

	if (!doc || strcmp(doc->google, id) != 0)
		return false;
	verdict_words(doc, before);
	TEXT_COPY(digest, doc->present ? doc->digest : "");
	TEXT_COPY(doc->unreadable, why);
	if (!*why) {
		buffer_clear(&doc->text);
		buffer_add(&doc->text, text.len ? text.data : "", text.len);
		doc->present = true;
	}
	judge(docs);
	if (!*why && strcmp(digest, doc->digest) != 0)
		doc->changed_nth = ++into->changes;
	verdict_words(doc, after);
	return strcmp(before, after) != 0;
}

bool mirror_fetched(struct mirror *into, const char *shop, const char *kind, const char *id, struct bytes text)
{
	return put_fetched(into, shop, kind, id, text, "");
}

bool mirror_not_fetched(struct mirror *into, const char *shop, const char *kind, const char *id, const char *why)
{
	return put_fetched(into, shop, kind, id, BYTES("", 0), why);
}

void mirror_init(struct mirror *ret)
{
	*ret = (struct mirror){ 0 };
	list_init(&ret->shops);
}

void mirror_clear(struct mirror *seen)
{
	LIST_EACH_SAFE (hook, &seen->shops) {
		struct shop_docs *docs = LIST_ENTRY(hook, struct shop_docs, hook);
		list_remove(hook);
		for (size_t i = 0; i < docs->count; i++)
			buffer_free(&docs->docs[i].text);
		free(docs->docs);
		shop_document.reading.free(docs->conf);
		free(docs);
	}
}

void mirror_each(const struct mirror *seen, void (*each)(const struct shop_docs *docs, void *context), void *context)
{
	LIST_EACH (hook, &seen->shops)
		each(LIST_ENTRY(hook, struct shop_docs, hook), context);
}

/* --- published documents (kit/documents/docs.c), and our own raised alarms, by (shop, kind) --- */

static void remember_document(struct state *state, const struct message_meta *said, const Document *document)
{
	const char *google = document->google;

	docs_remember(state, said, document);
	if (!google[0] && text_starts(document->source, "Google document ")) /* published before 0.2.0 */
		google = document->digest;
	if (!said->tombstone && google[0])
		STATE_PUT_STRING(state, document_google, said->shop, document->kind, bytes_of(google));
}

static void remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (!text_starts(alarm->kind, "document."))
		return;
	if (alarm->raised)
		STATE_PUT_STRING(state, alarms, said->shop, alarm->kind, bytes_of(alarm->text));
	else
		STATE_DELETE(state, alarms, said->shop, alarm->kind);
}

/* --- the next message --- */

struct wanted {
	const struct shop_docs *docs;
	const struct doc *doc;
	bool document, alarm, raised;
	char text[400]; /* of the alarm */
};

/* The file is not valid, and no valid Google document stands in for it. */
static bool text_is_bad(const struct shop_docs *docs, const struct doc *file)
{
	const struct doc *remote = remote_of(docs, file->kind);

	return !file->is_remote && file->verdict == DOC_BAD &&
		!(remote && remote->google[0] && remote->verdict == DOC_GOOD);
}

/* A new shop.conf must not make a text in use unreadable, as a new currency may do to the rules. */
static bool would_orphan_a_text(const struct state *state, const struct shop_docs *docs)
{
	const struct shop *said = docs_shop(state, docs->shop);
	char digest[100];

	for (size_t i = 1; said && i < docs->count; i++) {
		const struct doc *doc = &docs->docs[i];
		if (doc->row->depends_on && text_is_bad(docs, doc) && doc->row->depends_on(said, docs->conf) &&
			docs_version(state, docs->shop, doc->kind, digest) > 0)
			return true;
	}
	return false;
}

/* A further text whose file is gone is taken back, unless the whole folder seems to be gone. */
static bool is_taken_back(const struct shop_docs *docs, const struct doc *doc)
{
	return doc->verdict == DOC_MISSING && doc_is_further(doc) && docs->conf_is_right;
}

static bool was_said_remotely(const struct state *state, const char *shop, const struct doc *doc, bool *ret_same)
{
	_cleanup_(buffer_free) struct buffer digest = { 0 };
	bool was_said = STATE_GET_STRING(state, document_google, shop, doc->kind, &digest);

	*ret_same = was_said && strcmp(buffer_text(&digest), doc->digest) == 0;
	return was_said;
}

/* Does this text count, if there are a file and a Google document of its kind? */
static bool counts(const struct state *state, const struct shop_docs *docs, const struct doc *doc)
{
	const struct doc *remote = remote_of(docs, doc->kind), *file = NULL;
	bool is_same;

	if (!remote || !remote->google[0])
		return !doc->is_remote;
	for (size_t i = 0; i < docs->count && !file; i++)
		if (!docs->docs[i].is_remote && strcmp(docs->docs[i].kind, doc->kind) == 0)
			file = &docs->docs[i];
	if (doc->is_remote)
		return !was_said_remotely(state, docs->shop, doc, &is_same) ||
			(!is_same && (!file || remote->changed_nth > file->changed_nth));
	if (doc->changed_nth > remote->changed_nth)
		return true; /* edited, or rolled back, since */
	return !was_said_remotely(state, docs->shop, doc, &is_same) && remote->verdict != DOC_GOOD;
}

static bool wants_document(const struct state *state, const struct shop_docs *docs, const struct doc *doc)
{
	char digest[100];
	uint32_t version = docs_version(state, docs->shop, doc->kind, digest);

	if (doc->verdict != DOC_GOOD && !(version > 0 && is_taken_back(docs, doc)))
		return false;
	if (!counts(state, docs, doc))
		return false;
	if (version > 0 && strcmp(digest, doc->digest) == 0)
		return doc->is_remote; /* records that the Google document counts from now on */
	return doc->row != &shop_document || !would_orphan_a_text(state, docs);
}

/* A published text that is missing now is more likely a mistake than a wish. */
static bool is_gone(const struct state *state, const struct shop_docs *docs, const struct doc *doc)
{
	char digest[100];

	return doc->verdict == DOC_MISSING && !doc_is_further(doc) &&
		docs_version(state, docs->shop, doc->kind, digest) > 0;
}

static void alarm_name(const struct doc *doc, char ret[48])
{
	snprintf(ret, 48, "document.%s%.31s", doc->is_remote ? "google." : "", doc->kind);
}

/* A file that a Google document replaces raises no alarm, nor does a document that is no longer named. */
static bool may_alarm(const struct state *state, const struct shop_docs *docs, const struct doc *doc)
{
	return doc->is_remote ? doc->google[0] != '\0' : counts(state, docs, doc);
}

static void want_alarm(const struct state *state, struct wanted *wanted)
{
	_cleanup_(buffer_free) struct buffer raised = { 0 };
	const struct doc *doc = wanted->doc;
	char name[48];

	alarm_name(doc, name);
	bool is_raised = STATE_GET_STRING(state, alarms, wanted->docs->shop, name, &raised);
	wanted->raised =
		(doc->verdict == DOC_BAD || is_gone(state, wanted->docs, doc)) && may_alarm(state, wanted->docs, doc);
	if (doc->verdict == DOC_WAITING && (!doc->is_remote || doc->google[0])) {
		wanted->raised = is_raised;
		return;
	}
	if (wanted->raised && doc->verdict == DOC_BAD)
		TEXT_COPY(wanted->text, doc->wrong);
	else if (wanted->raised)
		snprintf(wanted->text, sizeof(wanted->text), "%s%s is gone", doc->kind, doc->row->ending);
	wanted->alarm = wanted->raised ? !is_raised || strcmp(buffer_text(&raised), wanted->text) != 0 : is_raised;
}

static struct wanted want(const struct state *state, const struct shop_docs *docs, const struct doc *doc)
{
	struct wanted wanted = { .docs = docs, .doc = doc, .document = wants_document(state, docs, doc) };

	want_alarm(state, &wanted);
	return wanted;
}

/* --- publishing it --- */

/*
 * Only the last version of a text stays in the log, so it also holds the digest of the Google document that a
 * file replaced.
 */
static void note_google(const struct state *state, const struct wanted *wanted, char ret[65])
{
	_cleanup_(buffer_free) struct buffer digest = { 0 };
	const struct doc *doc = wanted->doc;

	if (doc->is_remote)
		text_copy(ret, 65, doc->digest);
	else if (STATE_GET_STRING(state, document_google, wanted->docs->shop, doc->kind, &digest))
		text_copy(ret, 65, buffer_text(&digest));
}

static void say_document(const struct state *state, struct turn *turn, const struct wanted *wanted)
{
	_cleanup_free_ Document *document = memory_new(sizeof(*document));
	const struct doc *doc = wanted->doc;
	char before[100];

	document->version = docs_version(state, wanted->docs->shop, doc->kind, before) + 1;
	document->at_us = turn_now_us(turn);
	TEXT_COPY(document->kind, doc->kind);
	document_set_text(document, buffer_bytes(&doc->text));
	TEXT_COPY(document->digest, doc->digest);
	TEXT_COPY(document->source, doc->source);
	note_google(state, wanted, document->google);

	Audit audit = { .at_us = turn_now_us(turn),
		.decided_on = turn_seen(turn),
		.rules_version = doc->row->is_rules_version ? document->version : 0 };
	TEXT_COPY(audit.action, "document");
	TEXT_COPY(audit.who, "owner");
	TEXT_COPY(audit.before, before);
	TEXT_COPY(audit.after, doc->digest);
	snprintf(audit.grounds, sizeof(audit.grounds), "%.31s version %u, %s %s%s%.200s", doc->kind, document->version,
		doc->verdict == DOC_MISSING ? "empty, because there is no more" : "read from", doc->source,
		doc->warnings[0] ? "; " : "", doc->warnings);

	SAY(turn, document, document, .shop = wanted->docs->shop, .key = document->kind, .version = document->version);
	SAY(turn, audit, &audit, .shop = wanted->docs->shop, .key = wanted->docs->shop);
}

static void write_remedy(const struct wanted *wanted, uint32_t version, Alarm *alarm)
{
	const struct doc *doc = wanted->doc;

	if (doc->is_remote && doc->unreadable[0])
		snprintf(alarm->remedy, sizeof(alarm->remedy),
			"share it with the service account as a reader, and check [documents] %s; until then what is "
			"in use stays in use",
			doc->kind);
	else if (version > 0)
		snprintf(alarm->remedy, sizeof(alarm->remedy),
			"mend %s and save it; until then version %u stays in use", doc->source, version);
	else
		snprintf(alarm->remedy, sizeof(alarm->remedy), "write %s and save it; until then %s", doc->source,
			doc->row->without);
}

static void say_alarm(const struct state *state, struct turn *turn, const struct wanted *wanted)
{
	const struct doc *doc = wanted->doc;
	Alarm alarm = { .raised = wanted->raised, .at_us = turn_now_us(turn) };
	char digest[100];

	alarm_name(doc, alarm.kind);
	if (wanted->raised)
		TEXT_COPY(alarm.text, wanted->text);
	else
		snprintf(alarm.text, sizeof(alarm.text), "%s is %s", doc->source,
			doc->verdict == DOC_MISSING ? "there no more" : "right again");
	if (wanted->raised)
		write_remedy(wanted, docs_version(state, wanted->docs->shop, doc->kind, digest), &alarm);
	SAY(turn, alarm, &alarm, .shop = wanted->docs->shop, .key = alarm.kind, .version = (uint64_t)alarm.at_us);
}

/* --- the clock --- */

struct adopting {
	struct shop_docs *docs;
	const struct document_kind *row;
};

static bool adopt_further(const char *shop, const char *key, void *context)
{
	const struct adopting *adopting = context;

	(void)shop;
	if (document_is_further(adopting->row, key))
		doc_of(adopting->docs, adopting->row, key);
	return true;
}

/*
 * Adds further texts, such as those of a language, that were published and whose files this run never saw:
 * the files are gone.
 */
static void adopt_said(const struct state *state, struct shop_docs *docs)
{
	struct adopting adopting = { .docs = docs };
	size_t known = docs->count;

	for (size_t i = 0; (adopting.row = document_kind_at(registered_documents, i)); i++)
		if (adopting.row->further_max > 0)
			STATE_EACH_KEY(
				state, document_digests, docs->shop, adopting.row->name, adopt_further, &adopting);
	if (docs->count > known)
		judge(docs);
}

/* Finds the first document or alarm to publish. false: there is none. */
static bool find_wanted(const struct state *state, struct wanted *ret)
{
	const struct mirror *context = mirror_context(state);

	LIST_EACH (hook, &context->shops) {
		struct shop_docs *docs = LIST_ENTRY(hook, struct shop_docs, hook);
		adopt_said(state, docs);
		for (size_t i = 0; i < docs->count; i++) {
			*ret = want(state, docs, &docs->docs[i]);
			if (ret->document || ret->alarm)
				return true;
		}
	}
	return false;
}

static int64_t next_due_us(const struct state *state)
{
	struct wanted wanted;

	return find_wanted(state, &wanted) ? 0 : INT64_MAX;
}

static void due(const struct state *state, struct turn *turn)
{
	struct wanted wanted;

	if (!find_wanted(state, &wanted))
		return;
	if (wanted.document)
		say_document(state, turn, &wanted);
	if (wanted.alarm)
		say_alarm(state, turn, &wanted);
}

const struct service mirror = {
	.name = "mirror",
	.exclusive = true,
	.remembers = REMEMBERING(REMEMBERS(document, remember_document), REMEMBERS(alarm, remember_alarm)),
	.says = SAYING(SAYS(document), SAYS(audit), SAYS(alarm)),
	.next_due_us = next_due_us,
	.due = due,
};

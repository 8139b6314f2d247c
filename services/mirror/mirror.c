/*
 * mirror.c: the owner's files become documents
 *
 * Hears:     nothing; it lives by what lies in the shops' folders (watcher.c) and what it has said of it.
 * Remembers: document, alarm
 * Says:      document, audit, alarm
 * Owns:      what was last seen of each shop's files.
 * Promises:  a document is said when its text is right and is not what was said last; a bad edit raises an alarm and leaves the
 *            document before it in use; mended, the alarm is cleared. Each is one turn, so none is said without the others.
 * Fails by:  saying nothing: what is seen and what was said are compared again after every change of either.
 * Read next: judge.c (what is right), watcher.c (how files are read), services/kit/docs.h (how the others read documents)
 */
#include "services/mirror/mirror.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/docs.h"
#include <stdio.h>
#include <stdlib.h>

static LIST_HEAD(shops);

/* --- what was seen --- */

static void name_sources(struct shop_docs *docs)
{
	for (int kind = 0; kind < DOC_KINDS; kind++)
		snprintf(docs->docs[kind].source, sizeof(docs->docs[kind].source), "%s/%s", docs->shop,
			doc_file_name((enum doc_kind)kind));
}

static struct shop_docs *slot_of(const char *shop)
{
	LIST_EACH (hook, &shops) {
		struct shop_docs *docs = LIST_ENTRY(hook, struct shop_docs, hook);
		if (strcmp(docs->shop, shop) == 0)
			return docs;
	}
	struct shop_docs *docs = memory_new(sizeof(*docs));
	TEXT_COPY(docs->shop, shop);
	name_sources(docs);
	list_append(&shops, &docs->hook);
	return docs;
}

static void keep(struct doc *doc, const struct seen *seen)
{
	buffer_clear(&doc->text);
	if (seen->text.len > 0)
		buffer_add(&doc->text, seen->text.data, seen->text.len);
	doc->present = seen->text.data != NULL;
	TEXT_COPY(doc->unreadable, seen->unreadable ? seen->unreadable : "");
}

const struct shop_docs *mirror_see(const char *shop, const struct seen seen[DOC_KINDS])
{
	struct shop_docs *docs = slot_of(shop);
	struct before {
		enum doc_verdict verdict;
		char digest[65], wrong[400];
	} before[DOC_KINDS];

	for (int kind = 0; kind < DOC_KINDS; kind++) {
		struct doc *doc = &docs->docs[kind];
		before[kind].verdict = doc->verdict;
		TEXT_COPY(before[kind].digest, doc->digest);
		TEXT_COPY(before[kind].wrong, doc->wrong);
		keep(doc, &seen[kind]);
	}
	judge(docs);
	for (int kind = 0; kind < DOC_KINDS; kind++) {
		struct doc *doc = &docs->docs[kind];
		doc->changed = doc->verdict != before[kind].verdict || strcmp(doc->digest, before[kind].digest) != 0 ||
			strcmp(doc->wrong, before[kind].wrong) != 0;
	}
	return docs;
}

void mirror_forget(void)
{
	LIST_EACH_SAFE (hook, &shops) {
		struct shop_docs *docs = LIST_ENTRY(hook, struct shop_docs, hook);
		list_remove(hook);
		for (int kind = 0; kind < DOC_KINDS; kind++)
			buffer_free(&docs->docs[kind].text);
		free(docs);
	}
}

void mirror_each(void (*each)(const struct shop_docs *docs, void *context), void *context)
{
	LIST_EACH (hook, &shops)
		each(LIST_ENTRY(hook, struct shop_docs, hook), context);
}

/* --- what was said: documents (kit/docs.c) and our own alarms, by (shop, kind), while they are raised --- */

static void remember_alarm(struct state *state, const struct said *said, const Alarm *alarm)
{
	if (!text_starts(alarm->kind, "document."))
		return;
	if (alarm->raised)
		state_put_bytes(state, "alarm", said->shop, alarm->kind, bytes_of(alarm->text));
	else
		state_delete(state, "alarm", said->shop, alarm->kind);
}

/* --- what there is to say --- */

struct wanted {
	bool document, alarm, raised;
	char text[400]; /* of the alarm */
};

/* The currency is part of what the rules mean: a new one must not make the rules in use unreadable. */
static bool would_orphan_rules(const struct state *state, const struct shop_docs *docs)
{
	const struct shop *said = docs_shop(state, docs->shop);
	char digest[100];

	return said && docs->docs[DOC_RULES].verdict == DOC_BAD && strcmp(said->currency, docs->currency) != 0 &&
		docs_version(state, docs->shop, "rules", digest) > 0;
}

static bool wants_document(const struct state *state, const struct shop_docs *docs, enum doc_kind kind)
{
	const struct doc *doc = &docs->docs[kind];
	char digest[100];

	if (doc->verdict != DOC_GOOD)
		return false;
	if (docs_version(state, docs->shop, doc_kind_name(kind), digest) > 0 && strcmp(digest, doc->digest) == 0)
		return false;
	return kind != DOC_SHOP || !would_orphan_rules(state, docs);
}

/* A voice that was there and is gone is more likely a slip than a wish. */
static bool is_gone(const struct state *state, const struct shop_docs *docs, enum doc_kind kind)
{
	char digest[100];

	return docs->docs[kind].verdict == DOC_MISSING &&
		docs_version(state, docs->shop, doc_kind_name(kind), digest) > 0;
}

static void want_alarm(const struct state *state, const struct shop_docs *docs, enum doc_kind kind, struct wanted *ret)
{
	_cleanup_(buffer_free) struct buffer raised = { 0 };
	const struct doc *doc = &docs->docs[kind];
	char name[48];

	snprintf(name, sizeof(name), "document.%s", doc_kind_name(kind));
	bool is_raised = state_get_bytes(state, "alarm", docs->shop, name, &raised);
	ret->raised = doc->verdict == DOC_BAD || is_gone(state, docs, kind);
	if (doc->verdict == DOC_WAITING) {
		ret->raised = is_raised;
		return;
	}
	if (ret->raised)
		snprintf(
			ret->text, sizeof(ret->text), "%s", doc->verdict == DOC_BAD ? doc->wrong : "voice.txt is gone");
	ret->alarm = ret->raised ? !is_raised || strcmp(buffer_text(&raised), ret->text) != 0 : is_raised;
}

static struct wanted want(const struct state *state, const struct shop_docs *docs, enum doc_kind kind)
{
	struct wanted wanted = { .document = wants_document(state, docs, kind) };

	want_alarm(state, docs, kind, &wanted);
	return wanted;
}

/* --- saying it --- */

static void say_document(const struct state *state, struct turn *turn, const struct shop_docs *docs, enum doc_kind kind)
{
	_cleanup_free_ Document *document = memory_new(sizeof(*document));
	const struct doc *doc = &docs->docs[kind];
	char before[100], name[16];

	TEXT_COPY(name, doc_kind_name(kind));
	document->version = docs_version(state, docs->shop, name, before) + 1;
	document->at_us = turn_now_us(turn);
	TEXT_COPY(document->kind, name);
	text_copy_bytes(document->text, sizeof(document->text), buffer_bytes(&doc->text));
	TEXT_COPY(document->digest, doc->digest);
	TEXT_COPY(document->source, doc->source);

	Audit audit = { .at_us = turn_now_us(turn),
		.decided_on = turn_seen(turn),
		.rules_version = kind == DOC_RULES ? document->version : 0 };
	TEXT_COPY(audit.action, "document");
	TEXT_COPY(audit.who, "owner");
	TEXT_COPY(audit.before, before);
	TEXT_COPY(audit.after, doc->digest);
	snprintf(audit.grounds, sizeof(audit.grounds), "%.8s version %u, read from %s%s%.220s", name, document->version,
		doc->source, doc->warnings[0] ? "; " : "", doc->warnings);

	SAY(turn, document, document, .shop = docs->shop, .key = name, .version = document->version);
	SAY(turn, audit, &audit, .shop = docs->shop, .key = docs->shop);
}

static void say_alarm(const struct state *state, struct turn *turn, const struct shop_docs *docs, enum doc_kind kind,
	const struct wanted *wanted)
{
	Alarm alarm = { .raised = wanted->raised, .at_us = turn_now_us(turn) };
	char digest[100];

	uint32_t version = docs_version(state, docs->shop, doc_kind_name(kind), digest);
	snprintf(alarm.kind, sizeof(alarm.kind), "document.%s", doc_kind_name(kind));
	if (!wanted->raised)
		snprintf(alarm.text, sizeof(alarm.text), "%s is right again", docs->docs[kind].source);
	else
		TEXT_COPY(alarm.text, wanted->text);
	if (wanted->raised && version > 0)
		snprintf(alarm.remedy, sizeof(alarm.remedy), "mend %s and save it; until then version %u stays in use",
			docs->docs[kind].source, version);
	else if (wanted->raised)
		snprintf(alarm.remedy, sizeof(alarm.remedy), "write %s and save it; until then the shop %s",
			docs->docs[kind].source, kind == DOC_SHOP ? "is not started" : "has none");
	SAY(turn, alarm, &alarm, .shop = docs->shop, .key = alarm.kind, .version = (uint64_t)alarm.at_us);
}

/* --- the clock --- */

/* The first thing that there is to say; false: all is said. */
static bool find_wanted(
	const struct state *state, const struct shop_docs **ret_docs, enum doc_kind *ret_kind, struct wanted *ret)
{
	LIST_EACH (hook, &shops)
		for (int kind = 0; kind < DOC_KINDS; kind++) {
			*ret_docs = LIST_ENTRY(hook, struct shop_docs, hook);
			*ret_kind = (enum doc_kind)kind;
			*ret = want(state, *ret_docs, *ret_kind);
			if (ret->document || ret->alarm)
				return true;
		}
	return false;
}

static int64_t next_due_us(const struct state *state)
{
	const struct shop_docs *docs;
	enum doc_kind kind;
	struct wanted wanted;

	return find_wanted(state, &docs, &kind, &wanted) ? 0 : INT64_MAX;
}

static void due(const struct state *state, struct turn *turn)
{
	const struct shop_docs *docs;
	enum doc_kind kind;
	struct wanted wanted;

	if (!find_wanted(state, &docs, &kind, &wanted))
		return;
	if (wanted.document)
		say_document(state, turn, docs, kind);
	if (wanted.alarm)
		say_alarm(state, turn, docs, kind, &wanted);
}

const struct service mirror = {
	.name = "mirror",
	.exclusive = true,
	.remembers = { REMEMBERS(document, docs_remember), REMEMBERS(alarm, remember_alarm) },
	.says = { SAYS(document), SAYS(audit), SAYS(alarm) },
	.next_due_us = next_due_us,
	.due = due,
};

/*
 * rules_document.c: the kind of documents "rules": rules.txt, read together with the shop's currency
 *
 * Read next: services/kit/rules/rules.h, services/kit/documents/kinds.h
 */
#include "services/carts/policy/rules_document.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <stdlib.h>

static void *parse_rules(const struct document_text *text, const char *currency)
{
	struct rules *rules = memory_new(sizeof(*rules));
	struct rules_error error;

	if (rules_parse(text->text, currency, rules, &error) == 0)
		return rules;
	free(rules);
	return NULL;
}

static void add_help(struct document_opinion *opinion, const char *before, const char *words)
{
	size_t len = strlen(opinion->help);

	if (words[0])
		snprintf(opinion->help + len, sizeof(opinion->help) - len, "%s%s\n", before, words);
}

static void refuse(const struct rules_error *error, struct document_opinion *ret)
{
	ret->line = error->line;
	ret->column = error->column;
	TEXT_COPY(ret->wrong, error->text);
	add_help(ret, "", error->shown);
	add_help(ret, "this would do: ", error->instead);
	add_help(ret, "       or this: ", error->or_instead);
}

static void gather_warnings(const struct rules *rules, struct document_opinion *ret)
{
	for (int i = 0; i < rules->warning_count; i++) {
		size_t len = strlen(ret->warnings);
		snprintf(ret->warnings + len, sizeof(ret->warnings) - len, "%s%s", i ? "; " : "", rules->warnings[i]);
	}
}

static void judge_rules(const struct document_text *text, struct document_opinion *ret)
{
	struct rules *rules = memory_new(sizeof(*rules)); /* large */
	struct rules_error error = { 0 };

	if (rules_parse(text->text, text->conf->currency, rules, &error) < 0) {
		refuse(&error, ret);
	} else {
		const char *warning = rules_warn_of_currency(rules, text->conf->currency);
		TEXT_COPY(ret->conf_warning, warning ? warning : "");
		gather_warnings(rules, ret);
	}
	free(rules);
}

static const char *google_id(const struct shop *conf)
{
	return conf->google.rules;
}

/* Rules depend on the shop's currency: "40 kr" means nothing to a shop in euros. */
static bool depends_on(const struct shop *before, const struct shop *after)
{
	return strcmp(before->currency, after->currency) != 0;
}

const struct document_kind rules_document = { .name = "rules",
	.ending = ".txt",
	.bytes_max = 32767,
	.without = "the shop has none",
	.reading = { parse_rules, free },
	.judge = judge_rules,
	.google_id = google_id,
	.depends_on = depends_on,
	.is_rules_version = true };

const struct rules *rules_in_use(const struct state *state, const char *shop, uint32_t *ret_version)
{
	const struct shop *configured = docs_shop(state, shop);

	return docs_read(state, shop, rules_document.name, &rules_document.reading,
		configured ? configured->currency : "", ret_version);
}

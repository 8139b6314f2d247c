/*
 * template.h: text with values in braces, the language that owners write their texts in
 *
 *     Hello {first name or "there"}, {if discount code}your code {discount code} **still** works.{end}
 *     Our [opening hours](https://shop.example/hours) have changed.
 *
 * A template is parsed once into a flat list of pieces and walked once per rendering; it has no loops, no arithmetic and no
 * access to anything but the values of the table that its user gives. The walker says what comes, the sink decides what it looks like (text, HTML, header).
 */
#ifndef KIT_TEMPLATE_TEMPLATE_H
#define KIT_TEMPLATE_TEMPLATE_H

#include <stdbool.h>

/* What a word between braces stands for. */
enum template_kind {
	TEMPLATE_PLAIN,
	TEMPLATE_NUMBER, /* may have words by number: {item count: one "one thing", other "# things"} */
	TEMPLATE_LINK,   /* may have words that lead to it: {shop link "our shop"} */
	TEMPLATE_BLOCK   /* lines of its own, so it cannot be bold */
};

/* A word that may stand between braces. */
struct template_word {
	const char *name; /* lower case, at most 39 bytes, one blank between two words: "first name" */
	enum template_kind kind;
	bool fits_line; /* it may stand where template_place says one_line */
};

/* All that may stand there. A value is the index of its row, and errors name the rows in this order. */
struct template_words {
	const struct template_word *rows;
	int count;
};

struct template;

struct text_error { /* what is wrong in a text that an owner wrote, and where: from 1 */
	int line, column;
	char text[360];
};

struct template_place {
	int line, column; /* where the text begins in its document, from 1 */
	bool one_line;    /* a header or an opening: only values that fit a line, no links, no bold words */
};

/* -EINVAL: ret_error says where and what was expected. `words` is needed no longer than the call. */
int template_parse(const char *text, struct template_place place, const struct template_words *words,
	struct template **ret, struct text_error *ret_error);
void template_free(struct template *template); /* takes NULL */
bool template_uses(const struct template *template, int value);
/* Shows it, or asks for it: without one of these nobody needs the value. NULL: a template that is not there. */
bool template_mentions(const struct template *template, int value);
/*
 * The first [words](https://...) whose address `allowed` does not know: the address, borrowed, and where it stands; NULL: there is none, or
 * no template.
 */
const char *template_link_beyond(const struct template *template, bool (*allowed)(const void *context, const char *url),
	const void *context, struct template_place *ret);

struct template_sink {
	void *context;
	bool (*has)(void *context, int value); /* is there anything to say for it? */
	void (*text)(void *context, const char *text);
	/* `label` is what the owner put in quotes: of a link its words, else what stands in when there is no value; or NULL */
	void (*value)(void *context, int value, const char *label);
	void (*bold)(void *context, bool on); /* **...**, closed in its paragraph */
	void (*link)(
		void *context, const char *words, const char *url); /* [words](url): https, whose host nobody checked */
	/* Which of locale_plurals it is, in the language of the words. */
	const char *(*plural)(void *context, int value);
};
void template_walk(const struct template *template, const struct template_sink *sink);

/* ---- texts in many languages that are compiled in: <folder>/<language>.txt becomes a table (texts_into_table in services/kit) ---- */

struct text_resource {
	const char *language;      /* "de"; NULL ends the table */
	const unsigned char *text; /* of <folder>/de.txt, terminated */
};

#endif

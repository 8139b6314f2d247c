/*
 * template.h: text with values in braces, the language that owners write their texts in
 *
 *     Hello {first name or "there"}, {if discount code}your code {discount code} **still** works.{end}
 *     Our [opening hours](https://shop.example/hours) have changed.
 *
 * A template is parsed once into a flat list of pieces and walked once per rendering; it has no loops, no
 * arithmetic and no access to anything but the values of the table that its user gives. The walker reports
 * each piece; the sink decides how it looks (text, HTML, header).
 */
#ifndef KIT_TEMPLATE_TEMPLATE_H
#define KIT_TEMPLATE_TEMPLATE_H

#include <stdbool.h>

/* The kinds of words between braces. */
enum template_kind {
	TEMPLATE_PLAIN,
	/* may have words that depend on the number: {item count: one "one thing", other "# things"} */
	TEMPLATE_NUMBER,
	TEMPLATE_LINK, /* may have a link text: {shop link "our shop"} */
	TEMPLATE_BLOCK /* has its own lines, so it cannot be bold */
};

/* A word that may stand between braces. */
struct template_word {
	const char *name; /* lower case, at most 39 bytes, one blank between two words: "first name" */
	enum template_kind kind;
	bool fits_line; /* it is allowed where template_place has one_line */
};

/* All words that are allowed. A value is the index of its row; errors name the rows in this order. */
struct template_words {
	const struct template_word *rows;
	int count;
};

struct template;

struct text_error { /* an error in an owner's text; line and column count from 1 */
	int line, column;
	char text[360];
};

struct template_place {
	int line, column; /* the beginning of the text in its document, from 1 */
	/* it is a header or an opening line: only values that fit a line, no links, no bold words */
	bool one_line;
};

/* -EINVAL: ret_error tells where, and what was expected. `words` is borrowed for the call. */
int template_parse(const char *text, struct template_place place, const struct template_words *words,
	struct template **ret, struct text_error *ret_error);
void template_free(struct template *template); /* takes NULL */
bool template_uses(const struct template *template, int value);
/*
 * Does the template show the value, or ask if it exists? Otherwise the value is not needed. `template` may be
 * NULL.
 */
bool template_mentions(const struct template *template, int value);
/*
 * The first [words](https://...) whose address `allowed` refuses: returns the address, borrowed, and its
 * place. NULL: there is none, or no template.
 */
const char *template_link_beyond(const struct template *template, bool (*allowed)(const void *context, const char *url),
	const void *context, struct template_place *ret);

struct template_sink {
	void *context;
	bool (*has)(void *context, int value); /* does the value have content? */
	void (*text)(void *context, const char *text);
	/*
	 * `label` is the owner's text in quotes: the text of a link, or the text to use without a value; or
	 * NULL
	 */
	void (*value)(void *context, int value, const char *label);
	void (*bold)(void *context, bool on); /* **...**, closed in its paragraph */
	/* [words](url): https, but the host is not checked */
	void (*link)(void *context, const char *words, const char *url);
	/* The plural category (locale_plurals) of the value, in the language of the text. */
	const char *(*plural)(void *context, int value);
};
void template_walk(const struct template *template, const struct template_sink *sink);

/* ---- texts in many languages that are compiled in: <folder>/<language>.txt becomes a table (texts_into_table in services/kit) ---- */

struct text_resource {
	const char *language;      /* "de"; NULL ends the table */
	const unsigned char *text; /* of <folder>/de.txt, terminated */
};

#endif

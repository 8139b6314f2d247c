/*
 * markup.h: pages as tables, and how they become HTML
 *
 * markup_to_c.py makes the tables from a folder of pages; README.md tells their syntax. Nothing is parsed here, and nothing can fail: names
 * were checked when the page was compiled, and data of another shape than the page declares shows as nothing.
 */
#ifndef KIT_CONSOLE_MARKUP_H
#define KIT_CONSOLE_MARKUP_H

#include "bus/base/bytes.h"
#include <jansson.h>
#include <stdint.h>

/* ---- what a page becomes ---- */

enum markup_code {
	MARKUP_TEXT,  /* `text` as it is */
	MARKUP_VALUE, /* the value, escaped for its place */
	MARKUP_LIVE,  /* the same in a <span data-live>; `text` is the end of its key */
	MARKUP_EACH, /* for each row from the next op to `middle`; without rows from `middle` to `end`; `argument` names the row */
	MARKUP_IF,      /* to `middle` if true (with `text`: if it is that word), else from `middle` to `end` */
	MARKUP_WORDS,   /* of the cases up to `end` the one whose `text` is the reader's language, else the first */
	MARKUP_PLURAL,  /* the case "=N", else that of the number's plural category, else "other" */
	MARKUP_SELECT,  /* the case that is the value, else "other" */
	MARKUP_CASE,    /* of one of these three: what follows up to `end` */
	MARKUP_PREFIX,  /* the path prefix of the installation */
	MARKUP_ASSET,   /* the address of the asset `text` */
	MARKUP_CONTENT, /* of a layout: the page */
	MARKUP_FORM,    /* the hidden fields of a form that posts */
	MARKUP_BARS,    /* chart.h; up to `end` there are the title and the series' names as MARKUP_WORDS */
	MARKUP_SPARK
};

enum markup_place {
	MARKUP_IN_TEXT,
	MARKUP_IN_PLAIN,     /* text where no tag may be, such as <title> */
	MARKUP_IN_ATTRIBUTE, /* for people: title, aria-label */
	MARKUP_IN_MACHINE,   /* another attribute: numbers are plain digits */
	MARKUP_IN_URL,       /* an address from its beginning */
	MARKUP_IN_COMPONENT, /* a part of an address */
	MARKUP_RAW           /* not escaped, for another writer that does it */
};

enum markup_filter {
	MARKUP_AS_IS,
	MARKUP_AS_TIME,
	MARKUP_AS_CLOCK,
	MARKUP_AS_DAY,
	MARKUP_AS_AGO,
	MARKUP_AS_SPAN,
	MARKUP_AS_MONEY, /* in the currency that `argument` names */
	MARKUP_AS_PERCENT,
	MARKUP_AS_BYTES,
	MARKUP_AS_PLAIN
};

enum { MARKUP_LISTS_MAX = 6 }; /* lists in lists */

/* One row of a page's table. A path is the names of the members from the row of `level` downwards; level 0 is the page's data. */
struct markup_op {
	enum markup_code code : 8;
	enum markup_place place : 8;
	enum markup_filter filter : 8;
	bool negated : 1;
	uint8_t level, argument_level;
	uint32_t middle, end; /* places in the table */
	uint32_t size;        /* of `text`, in bytes */
	const char *text;
	const char *const *path, *const *argument; /* ended by NULL */
};

struct markup {
	const char *name;
	const struct markup_op *ops;
	size_t count;
	const char *schema; /* the JSON Schema of the page's data */
};

/* ---- who reads it ---- */

/* All texts are borrowed, none is NULL. */
struct markup_reader {
	const char *locale;   /* "de-AT": how numbers, money and days are written */
	const char *language; /* "de": of the words */
	const char *zone;     /* of the shop, "Europe/Vienna"; an unknown one means UTC */
	int64_t now_us;
	const char *prefix; /* the path prefix of public-url, such as "/console"; "": none */
	/*
	 * For forms that post: the hidden fields `t` and `once`. The n-th form of a page sends "ONCE-n", so that a page that comes back from
	 * the browser's cache can still send its other forms.
	 */
	const char *token, *once;
	/* The path of an asset, which gets the prefix; NULL: there is none of this name. */
	const char *(*asset)(const char *name, void *context);
	void *context;
};

/*
 * Appends the page as HTML to `ret`. With a layout (NULL: none) it is that of the layout, whose names come from `frame` and whose
 * {{content}} is the page.
 */
void markup_html(const struct markup *layout, const json_t *frame, const struct markup *page, const json_t *data,
	const struct markup_reader *reader, struct buffer *ret);
/*
 * {KEY: "formatted text"} of the page's {{live}} values that the same data would show: the keys are those of data-live, the texts what
 * the page has there. The caller gives it back with json_decref().
 */
json_t *markup_live(const struct markup *page, const json_t *data, const struct markup_reader *reader);

#endif

/*
 * voice.c: reads voice.txt into the templates of two mails
 *
 * Owns:      the outline of the document: its sections, and what each mail must contain.
 * Promises:  a voice that parses makes a complete mail: with a subject, a way back to the cart and a way to
 *            unsubscribe.
 * Fails by:  -EINVAL with the line, the column and the expected text; nothing is guessed.
 * Read next: template.c (the text between braces), voice_choose.c (chooses the voice for a shopper), voice.md
 *            (the format, for owners)
 */
#include "services/carts/letter/voice.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/shop/shop.h"
#include <ctype.h>
#include <errno.h>
#include <strings.h>

static const struct template_word rows[VALUE_COUNT] = {
	[VALUE_SHOP] = { "shop", .fits_line = true },
	[VALUE_FIRST_NAME] = { "first name", .fits_line = true },
	[VALUE_ITEMS] = { "items", .kind = TEMPLATE_BLOCK },
	[VALUE_ITEM_COUNT] = { "item count", TEMPLATE_NUMBER, .fits_line = true },
	[VALUE_TOTAL] = { "total", .fits_line = true },
	[VALUE_DISCOUNT_CODE] = { "discount code", .fits_line = true },
	[VALUE_DATE] = { "date", .fits_line = true },
	[VALUE_WEEKDAY] = { "weekday", .fits_line = true },
	[VALUE_RETURN_LINK] = { "return link", .kind = TEMPLATE_LINK },
	[VALUE_SHOP_LINK] = { "shop link", .kind = TEMPLATE_LINK },
	[VALUE_UNSUBSCRIBE_LINK] = { "unsubscribe link", .kind = TEMPLATE_LINK },
	[VALUE_POSTAL_ADDRESS] = { .name = "postal address" },
};

const struct template_words voice_values = { rows, VALUE_COUNT };

bool value_is_link(enum value value)
{
	return rows[value].kind == TEMPLATE_LINK;
}

enum { STEPS = 2, URL_SHOWN_ROOM = 101 }; /* in bytes; a longer URL is cut */

struct voice {
	struct voice_mail mails[STEPS];
};

enum section { SECTION_SUBJECT, SECTION_PREVIEW, SECTION_OPENING, SECTION_BODY, SECTION_FOOTER, SECTION_COUNT };

static const struct {
	const char *name;
	bool one_line;
} sections[SECTION_COUNT] = {
	[SECTION_SUBJECT] = { "Subject:", true },
	[SECTION_PREVIEW] = { "Preview:", true },
	[SECTION_OPENING] = { "Opening:", true },
	[SECTION_BODY] = { "Body:", false },
	[SECTION_FOOTER] = { "Footer:", false },
};

static const char *const headings[STEPS] = { "First reminder", "Second reminder" };

struct reader {
	const char *at;      /* the line to read next */
	int line;            /* its number */
	struct voice *voice; /* being filled */
	int step;            /* index of the mail being read, -1: before the first heading */
	int heading_line;
	struct text_error *error;
};

static int refuse(struct reader *reader, int line, int column, const char *words)
{
	reader->error->line = line;
	reader->error->column = column;
	snprintf(reader->error->text, sizeof(reader->error->text), "line %d, column %d: %s", line, column, words);
	return -EINVAL;
}

static struct template **slot(struct voice_mail *mail, enum section section)
{
	struct template **slots[SECTION_COUNT] = { &mail->subject, &mail->preview, &mail->opening, &mail->body,
		&mail->footer };
	return slots[section];
}

static const char *line_end(const char *line)
{
	return line + strcspn(line, "\n");
}

/*
 * true: the line is `heading` and nothing else. Case, blanks around it and a colon at the end do not matter.
 */
static bool line_is(const char *line, const char *heading)
{
	size_t len = strlen(heading);
	while (*line == ' ' || *line == '\t')
		line++;
	if (strncasecmp(line, heading, len) != 0)
		return false;
	const char *rest = line + len;
	rest += strspn(rest, ": \t");
	return *rest == '\n' || *rest == 0;
}

static int heading_of(const char *line)
{
	for (int step = 0; step < STEPS; step++)
		if (line_is(line, headings[step]))
			return step;
	return -1;
}

static int section_of(const char *line)
{
	for (int section = 0; section < SECTION_COUNT; section++)
		if (strncasecmp(line, sections[section].name, strlen(sections[section].name)) == 0)
			return section;
	return -1;
}

static bool line_is_blank(const char *line)
{
	line += strspn(line, " \t");
	return *line == '\n' || *line == 0;
}

static void next_line(struct reader *reader)
{
	const char *end = line_end(reader->at);
	reader->at = *end ? end + 1 : end;
	reader->line++;
}

/*
 * The rest of the line after the section's name; a body or footer goes on until the next heading or footer.
 */
static char *section_text(struct reader *reader, enum section section, struct template_place *ret_place)
{
	const char *from = reader->at + strlen(sections[section].name);
	from += strspn(from, " \t");
	*ret_place = (struct template_place){
		.line = reader->line, .column = (int)(from - reader->at) + 1, .one_line = sections[section].one_line
	};
	const char *to = line_end(from);
	if (!sections[section].one_line && *from == '\n') { /* "Body:" on a line of its own */
		to = ++from;
		*ret_place = (struct template_place){ .line = reader->line + 1, .column = 1 };
	}
	next_line(reader);
	while (!sections[section].one_line && *reader->at && heading_of(reader->at) < 0 &&
		section_of(reader->at) != SECTION_FOOTER) {
		to = line_end(reader->at);
		next_line(reader);
	}
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return memory_copy(BYTES(from, (size_t)(to - from)));
}

static int read_section(struct reader *reader, enum section section)
{
	struct template **where = slot(&reader->voice->mails[reader->step], section);
	if (*where)
		return refuse(reader, reader->line, 1, "this section was given already for this reminder");
	struct template_place place;
	_cleanup_free_ char *text = section_text(reader, section, &place);
	if (!*text)
		return refuse(reader, place.line, place.column, "expected some words here");
	return template_parse(text, place, &voice_values, where, reader->error);
}

static int check_mail(struct reader *reader)
{
	if (reader->step < 0)
		return 0;
	const struct voice_mail *mail = &reader->voice->mails[reader->step];
	if (!mail->subject)
		return refuse(reader, reader->heading_line, 1, "this reminder has no \"Subject:\" line");
	if (!mail->body)
		return refuse(reader, reader->heading_line, 1, "this reminder has no \"Body:\"");
	if (!template_uses(mail->body, VALUE_RETURN_LINK))
		return refuse(reader, reader->heading_line, 1,
			"this reminder's Body has no {return link}: the shopper could not come back");
	if (mail->footer && !template_uses(mail->footer, VALUE_UNSUBSCRIBE_LINK))
		return refuse(reader, reader->heading_line, 1, "this reminder's Footer has no {unsubscribe link}");
	return 0;
}

static int read_heading(struct reader *reader, int step)
{
	int r = check_mail(reader);
	if (r < 0)
		return r;
	if (reader->voice->mails[step].subject)
		return refuse(reader, reader->line, 1, "this reminder was given already");
	reader->step = step;
	reader->heading_line = reader->line;
	next_line(reader);
	return 0;
}

static int read_line(struct reader *reader)
{
	int step = heading_of(reader->at), section = section_of(reader->at);
	if (line_is_blank(reader->at) || *reader->at == '#') {
		next_line(reader);
		return 0;
	}
	if (step >= 0)
		return read_heading(reader, step);
	if (reader->step < 0)
		return refuse(reader, reader->line, 1, "expected \"First reminder\" or \"Second reminder\"");
	if (section < 0)
		return refuse(reader, reader->line, 1, "expected Subject:, Preview:, Opening:, Body: or Footer:");
	return read_section(reader, (enum section)section);
}

static int check_characters(struct reader *reader, const char *text)
{
	int line = 1, column = 1;
	if (!text_is_utf8(bytes_of(text)))
		return refuse(reader, 1, 1, "the text is not UTF-8: save it as UTF-8");
	for (const char *at = text; *at; at++) {
		unsigned char byte = (unsigned char)*at;
		if (byte == '\n') {
			line++;
			column = 1;
			continue;
		}
		if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			return refuse(reader, line, column, "a control character: remove it");
		column += (byte & 0xc0) != 0x80;
	}
	return 0;
}

static int read_all(struct reader *reader)
{
	int r = check_characters(reader, reader->at);
	while (r == 0 && *reader->at)
		r = read_line(reader);
	if (r == 0)
		r = check_mail(reader);
	for (int step = 0; r == 0 && step < STEPS; step++)
		if (!reader->voice->mails[step].subject)
			r = refuse(reader, reader->line, 1,
				step ? "expected a \"Second reminder\"" : "expected a \"First reminder\"");
	return r;
}

/* Copies the text without a byte order mark and with plain line ends. */
static char *plain_lines(const char *text)
{
	if (text_starts(text, "\xef\xbb\xbf"))
		text += 3;
	char *plain = memory_new(strlen(text) + 1), *to = plain;
	for (const char *at = text; *at; at++)
		if (*at != '\r' || at[1] != '\n')
			*to++ = *at;
	*to = 0;
	return plain;
}

int voice_parse(const char *text, struct voice **ret, struct text_error *ret_error)
{
	_cleanup_free_ char *plain = plain_lines(text);
	struct reader reader = {
		.at = plain, .line = 1, .voice = memory_new(sizeof(struct voice)), .step = -1, .error = ret_error
	};
	int r = read_all(&reader);
	if (r < 0) {
		voice_free(reader.voice);
		return r;
	}
	*ret = reader.voice;
	return 0;
}

static bool is_own_link(const void *shop, const char *url)
{
	return shop_owns_url(shop, PLATFORM_UNKNOWN, url);
}

static int check_links(const struct template *template, const struct shop *shop, struct text_error *ret_error)
{
	struct template_place place;
	const char *url = template_link_beyond(template, is_own_link, shop, &place);
	char shown[URL_SHOWN_ROOM];

	if (!url)
		return 0;
	TEXT_COPY(shown, url);
	ret_error->line = place.line;
	ret_error->column = place.column;
	snprintf(ret_error->text, sizeof(ret_error->text),
		"line %d, column %d: %s leads to a host that is not the shop's: if it is, name it as host in "
		"[shop] of shop.conf",
		place.line, place.column, shown);
	return -EINVAL;
}

int voice_check_links(const struct voice *voice, const struct shop *shop, struct text_error *ret_error)
{
	int r = 0;

	for (int step = 0; r == 0 && step < STEPS; step++) {
		r = check_links(voice->mails[step].body, shop, ret_error);
		if (r == 0)
			r = check_links(voice->mails[step].footer, shop, ret_error);
	}
	return r;
}

void voice_free(struct voice *voice)
{
	if (!voice)
		return;
	for (int step = 0; step < STEPS; step++)
		for (int section = 0; section < SECTION_COUNT; section++)
			template_free(*slot(&voice->mails[step], (enum section)section));
	free(voice);
}

const struct voice_mail *voice_mail(const struct voice *voice, int step)
{
	return &voice->mails[step == 2];
}

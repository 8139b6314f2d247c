/*
 * top_letters.c: the dead letters within `cartbus top`
 *
 * Promises:  looking changes nothing. What needs the right to see payloads and does not have it says so.
 * Read next: dead.c (the same as subcommands), letter_words.c
 */
#include "services/cartbus/watch/top_letters.h"
#include "services/cartbus/core/json_file.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/humane.h"
#include "services/cartbus/recover/letter_words.h"
#include <string.h>

enum { FIRST_ROW = 2, LISTED = 100 };
enum { MESSAGE_AT = 14, DIED_AT = 25, SHOP_AT = 33, TOPIC_AT = 46, REASON_AT = 64, NARROW = 80 };

static int count_of(const struct top_letters *letters)
{
	return (int)json_array_size(json_object_get(letters->page, "dead"));
}

static const json_t *chosen_of(const struct top_letters *letters)
{
	return json_array_get(json_object_get(letters->page, "dead"), (size_t)letters->chosen);
}

/* ---- asking ---- */

void top_letters_look(struct top *top, struct top_letters *letters)
{
	json_t *page = top_ask(top, "dead.list", json_pack("{s:i}", "limit", LISTED));

	if (page) {
		json_decref(letters->page);
		letters->page = page;
	}
	TEXT_COPY(letters->why, page ? "" : top->why);
	top_letters_move(letters, 0);
}

void top_letters_open(struct top *top, struct top_letters *letters)
{
	const json_t *chosen = chosen_of(letters);

	if (!chosen || letters->letter)
		return;
	letters->letter = top_ask(top, "dead.show",
		json_pack("{s:s,s:O}", "queue", member_text(chosen, "queue"), "seq", json_object_get(chosen, "seq")));
	letters->skipped = 0;
	TEXT_COPY(letters->why, letters->letter ? "" : top->why);
}

bool top_letters_close(struct top_letters *letters)
{
	bool was_open = letters->letter != NULL;

	json_decref(letters->letter);
	letters->letter = NULL;
	return was_open;
}

void top_letters_move(struct top_letters *letters, int by)
{
	int *at = letters->letter ? &letters->skipped : &letters->chosen;

	*at += by;
	if (!letters->letter && *at >= count_of(letters))
		*at = count_of(letters) - 1;
	if (*at < 0)
		*at = 0;
}

void top_letters_forget(struct top_letters *letters)
{
	top_letters_close(letters);
	json_decref(letters->page);
	letters->page = NULL;
}

/* ---- drawing ---- */

/* In a narrow picture when and whose it was have no room: the reason has. */
static void draw_line(struct picture *picture, int row, const struct top *top, const json_t *letter, enum style style)
{
	bool is_narrow = picture->width < NARROW;
	char age[HUMANE_ROOM], number[24];
	int64_t died_us = json_integer_value(json_object_get(letter, "died_us"));

	if (style == STYLE_CHOSEN)
		picture_fill(picture, row, style);
	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(json_object_get(letter, "seq")));
	picture_put_within(picture, row, 1, MESSAGE_AT - 4, style, member_text(letter, "queue"));
	picture_put_right(picture, row, DIED_AT - 4, DIED_AT - MESSAGE_AT + 2, style, number);
	if (is_narrow) {
		picture_put(picture, row, DIED_AT - 2, style, member_text(letter, "reason"));
		return;
	}
	picture_put_right(
		picture, row, SHOP_AT - 2, SHOP_AT - DIED_AT, style, humane_age(top->figures.wall_us - died_us, age));
	picture_put_within(picture, row, SHOP_AT, TOPIC_AT - SHOP_AT - 1, style, member_text(letter, "shop"));
	picture_put_within(picture, row, TOPIC_AT, REASON_AT - TOPIC_AT - 1, style, member_text(letter, "topic"));
	picture_put(picture, row, REASON_AT, style, member_text(letter, "reason"));
}

static void draw_titles(struct picture *picture, int row)
{
	bool is_narrow = picture->width < NARROW;

	picture_fill(picture, row, STYLE_TITLE);
	picture_put(picture, row, 1, STYLE_TITLE, "QUEUE");
	picture_put_right(picture, row, DIED_AT - 4, DIED_AT, STYLE_TITLE, "MESSAGE");
	if (!is_narrow) {
		picture_put_right(picture, row, SHOP_AT - 2, SHOP_AT, STYLE_TITLE, "DIED");
		picture_put(picture, row, SHOP_AT, STYLE_TITLE, "SHOP");
		picture_put(picture, row, TOPIC_AT, STYLE_TITLE, "TOPIC");
	}
	picture_put(picture, row, is_narrow ? DIED_AT - 2 : REASON_AT, STYLE_TITLE, "REASON");
}

static void draw_list(struct picture *picture, const struct top *top, const struct top_letters *letters)
{
	int room = picture->height - FIRST_ROW - 2, count = count_of(letters);
	int first = letters->chosen >= room ? letters->chosen - room + 1 : 0;

	draw_titles(picture, FIRST_ROW);
	for (int i = 0; i < room && first + i < count; i++)
		draw_line(picture, FIRST_ROW + 1 + i, top,
			json_array_get(json_object_get(letters->page, "dead"), (size_t)(first + i)),
			first + i == letters->chosen ? STYLE_CHOSEN : STYLE_PLAIN);
	if (letters->page && count == 0)
		picture_put(picture, FIRST_ROW + 1, 1, STYLE_GOOD, "no dead letters");
	if (json_is_object(json_object_get(letters->page, "next")))
		picture_put(picture, 1, 1, STYLE_FAINT, "the first 100; all: cartbus dlq list");
}

static void draw_letter(struct picture *picture, const struct top *top, const struct top_letters *letters)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };
	const char *text;

	letter_words(top->command, letters->letter, &words);
	text = buffer_text(&words);
	for (int i = 0; i < letters->skipped && strchr(text, '\n'); i++)
		text = strchr(text, '\n') + 1;
	picture_wrap(picture, FIRST_ROW, 1, STYLE_PLAIN, text);
}

void top_letters_draw(struct picture *picture, const struct top *top, const struct top_letters *letters)
{
	if (letters->why[0])
		picture_put(picture, 1, 1, STYLE_BAD, letters->why);
	if (letters->letter)
		draw_letter(picture, top, letters);
	else
		draw_list(picture, top, letters);
}

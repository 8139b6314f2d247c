/*
 * top_live.c: `cartbus top` in a terminal: look, draw, hear keys, again; and the dead letters within it
 *
 * Owns:      the terminal, while it runs.
 * Promises:  a key is heard at once, also while the broker does not answer; the picture stays meanwhile, and says so. However it is
 *            told to end, the terminal is as it was. Looking at dead letters changes nothing. What needs the right to see payloads and does
 *            not have it says so.
 * Read next: screen.c, top_draw.c, dead.c (the same as subcommands), dead_letters.c
 */
#include "services/cartbus/watch/top.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/recover/dead_letters.h"
#include "services/cartbus/watch/screen.h"
#include "services/cartbus/watch/top_figures.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the dead letters: a list, and one of them ---- */

struct top_dead_letters {
	json_t *page;        /* the broker's list; NULL: it was not asked yet */
	json_t *dead_letter; /* the one that is looked at; NULL: none is */
	int chosen;          /* of the list */
	int skipped;         /* lines of the letter that are above the picture */
	char why[256];       /* there is no answer */
};

enum { FIRST_ROW = 2, LISTED = 100 };
enum { MESSAGE_AT = 14, DIED_AT = 25, SHOP_AT = 33, TOPIC_AT = 46, REASON_AT = 64, NARROW = 80 };

static int count_of(const struct top_dead_letters *dead_letters)
{
	return (int)json_array_size(json_object_get(dead_letters->page, "dead"));
}

static const json_t *chosen_of(const struct top_dead_letters *dead_letters)
{
	return json_array_get(json_object_get(dead_letters->page, "dead"), (size_t)dead_letters->chosen);
}

/* ---- asking ---- */

static void top_dead_letters_move(struct top_dead_letters *dead_letters, int by)
{
	int *at = dead_letters->dead_letter ? &dead_letters->skipped : &dead_letters->chosen;

	*at += by;
	if (!dead_letters->dead_letter && *at >= count_of(dead_letters))
		*at = count_of(dead_letters) - 1;
	if (*at < 0)
		*at = 0;
}

/* asks for the list */
static void top_dead_letters_look(struct top *top, struct top_dead_letters *dead_letters)
{
	json_t *page = top_ask(top, "dead.list", json_pack("{s:i}", "limit", LISTED));

	if (page) {
		json_decref(dead_letters->page);
		dead_letters->page = page;
	}
	TEXT_COPY(dead_letters->why, page ? "" : top->why);
	top_dead_letters_move(dead_letters, 0);
}

static void top_dead_letters_open(struct top *top, struct top_dead_letters *dead_letters)
{
	const json_t *chosen = chosen_of(dead_letters);

	if (!chosen || dead_letters->dead_letter)
		return;
	dead_letters->dead_letter = top_ask(top, "dead.show",
		json_pack("{s:s,s:O}", "queue", member_text(chosen, "queue"), "seq", json_object_get(chosen, "seq")));
	dead_letters->skipped = 0;
	TEXT_COPY(dead_letters->why, dead_letters->dead_letter ? "" : top->why);
}

/* false: none was open */
static bool top_dead_letters_close(struct top_dead_letters *dead_letters)
{
	bool was_open = dead_letters->dead_letter != NULL;

	json_decref(dead_letters->dead_letter);
	dead_letters->dead_letter = NULL;
	return was_open;
}

static void top_dead_letters_forget(struct top_dead_letters *dead_letters)
{
	top_dead_letters_close(dead_letters);
	json_decref(dead_letters->page);
	dead_letters->page = NULL;
}

/* ---- drawing ---- */

/* In a narrow picture when and whose it was have no room: the reason has. */
static void draw_line(struct screen_buffer *screen_buffer, int row, const struct top *top, const json_t *dead_letter,
	enum style style)
{
	bool is_narrow = screen_buffer->width < NARROW;
	char age[HUMAN_FORMAT_ROOM], number[24];
	int64_t died_us = json_integer_value(json_object_get(dead_letter, "died_us"));

	if (style == STYLE_CHOSEN)
		screen_buffer_fill(screen_buffer, row, style);
	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(json_object_get(dead_letter, "seq")));
	screen_buffer_put_within(screen_buffer, row, 1, MESSAGE_AT - 4, style, member_text(dead_letter, "queue"));
	screen_buffer_put_right(screen_buffer, row, DIED_AT - 4, DIED_AT - MESSAGE_AT + 2, style, number);
	if (is_narrow) {
		screen_buffer_put(screen_buffer, row, DIED_AT - 2, style, member_text(dead_letter, "reason"));
		return;
	}
	screen_buffer_put_right(screen_buffer, row, SHOP_AT - 2, SHOP_AT - DIED_AT, style,
		human_format_age(top->figures.wall_us - died_us, age));
	screen_buffer_put_within(
		screen_buffer, row, SHOP_AT, TOPIC_AT - SHOP_AT - 1, style, member_text(dead_letter, "shop"));
	screen_buffer_put_within(
		screen_buffer, row, TOPIC_AT, REASON_AT - TOPIC_AT - 1, style, member_text(dead_letter, "topic"));
	screen_buffer_put(screen_buffer, row, REASON_AT, style, member_text(dead_letter, "reason"));
}

static void draw_titles(struct screen_buffer *screen_buffer, int row)
{
	bool is_narrow = screen_buffer->width < NARROW;

	screen_buffer_fill(screen_buffer, row, STYLE_TITLE);
	screen_buffer_put(screen_buffer, row, 1, STYLE_TITLE, "QUEUE");
	screen_buffer_put_right(screen_buffer, row, DIED_AT - 4, DIED_AT, STYLE_TITLE, "MESSAGE");
	if (!is_narrow) {
		screen_buffer_put_right(screen_buffer, row, SHOP_AT - 2, SHOP_AT, STYLE_TITLE, "DIED");
		screen_buffer_put(screen_buffer, row, SHOP_AT, STYLE_TITLE, "SHOP");
		screen_buffer_put(screen_buffer, row, TOPIC_AT, STYLE_TITLE, "TOPIC");
	}
	screen_buffer_put(screen_buffer, row, is_narrow ? DIED_AT - 2 : REASON_AT, STYLE_TITLE, "REASON");
}

static void draw_list(
	struct screen_buffer *screen_buffer, const struct top *top, const struct top_dead_letters *dead_letters)
{
	int room = screen_buffer->height - FIRST_ROW - 2, count = count_of(dead_letters);
	int first = dead_letters->chosen >= room ? dead_letters->chosen - room + 1 : 0;

	draw_titles(screen_buffer, FIRST_ROW);
	for (int i = 0; i < room && first + i < count; i++)
		draw_line(screen_buffer, FIRST_ROW + 1 + i, top,
			json_array_get(json_object_get(dead_letters->page, "dead"), (size_t)(first + i)),
			first + i == dead_letters->chosen ? STYLE_CHOSEN : STYLE_PLAIN);
	if (dead_letters->page && count == 0)
		screen_buffer_put(screen_buffer, FIRST_ROW + 1, 1, STYLE_GOOD, "no dead letters");
	if (json_is_object(json_object_get(dead_letters->page, "next")))
		screen_buffer_put(screen_buffer, 1, 1, STYLE_FAINT, "the first 100; all: cartbus dlq list");
}

static void draw_dead_letter(
	struct screen_buffer *screen_buffer, const struct top *top, const struct top_dead_letters *dead_letters)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };
	const char *text;

	dead_letter_words(top->command, dead_letters->dead_letter, &words);
	text = buffer_text(&words);
	for (int i = 0; i < dead_letters->skipped && strchr(text, '\n'); i++)
		text = strchr(text, '\n') + 1;
	screen_buffer_wrap(screen_buffer, FIRST_ROW, 1, STYLE_PLAIN, text);
}

static void top_dead_letters_draw(
	struct screen_buffer *screen_buffer, const struct top *top, const struct top_dead_letters *dead_letters)
{
	if (dead_letters->why[0])
		screen_buffer_put(screen_buffer, 1, 1, STYLE_BAD, dead_letters->why);
	if (dead_letters->dead_letter)
		draw_dead_letter(screen_buffer, top, dead_letters);
	else
		draw_list(screen_buffer, top, dead_letters);
}

/* ---- the terminal ---- */

#define ANSWER_PATIENCE_US (2 * US_PER_S)   /* then it is away */
#define KEY_PATIENCE_US (200 * US_PER_MS)   /* for an answer, when somebody types */
#define CONNECT_WITHIN_US (300 * US_PER_MS) /* nobody's key is heard meanwhile */
#define AGAIN_US US_PER_S                   /* while it is away */

enum view { VIEW_TABLES, VIEW_LETTERS, VIEW_HELP };

struct live {
	struct top *top;
	struct screen_buffer screen_buffer;
	struct top_dead_letters dead_letters;
	enum view view;
	bool is_frozen, is_over;
	int first_process;
	int64_t look_at_us;  /* boot time of the next one */
	int64_t asked_at_us; /* of the one that waits for its answer */
};

static int64_t now_us(const struct live *live)
{
	return clock_boot_us(&live->top->command->clock);
}

/* ---- looking ---- */

static bool is_key_there(short *ret_how)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	bool is_there = poll(&keys, 1, 0) > 0;

	*ret_how = keys.revents;
	return is_there;
}

/* Called while an answer is waited for. */
static bool goes_on(void *context)
{
	struct live *live = context;
	int64_t waited_us = now_us(live) - live->asked_at_us;
	short how;

	if (top_is_asked_to_stop() || waited_us > ANSWER_PATIENCE_US)
		return false;
	live->top->gave_up = waited_us > KEY_PATIENCE_US && is_key_there(&how);
	return !live->top->gave_up;
}

static void look(struct live *live)
{
	struct top *top = live->top;

	live->asked_at_us = now_us(live);
	if (top->client)
		client_meanwhile(top->client, goes_on, live);
	if (top_look(top, CONNECT_WITHIN_US) && live->view == VIEW_LETTERS)
		top_dead_letters_look(top, &live->dead_letters);
	live->look_at_us = live->asked_at_us + (top->away_since_us ? AGAIN_US : (int64_t)(top->interval_s * US_PER_S));
	if (live->look_at_us <= now_us(live))
		live->look_at_us = now_us(live) + CONNECT_WITHIN_US;
}

/* ---- drawing ---- */

static const char *keys_of(const struct live *live)
{
	if (live->view == VIEW_HELP)
		return "any key goes back";
	return live->dead_letters.dead_letter ? "d or escape back   up, down   q quit"
					      : "d back   up, down   enter shows one   q quit";
}

static void draw(struct live *live)
{
	const struct top *top = live->top;
	const struct top_figures *figures = top->looks.count > 0 ? &top->figures : NULL;
	struct top_banner banner = { .away = top->away_since_us ? top->why : NULL,
		.since_us = now_us(live) - top->away_since_us,
		.is_frozen = live->is_frozen,
		.interval_s = top->interval_s,
		.order = top->order,
		.first_process = live->first_process };
	int width, height;

	screen_size(&width, &height);
	screen_buffer_init(&live->screen_buffer, width, height);
	if (live->view == VIEW_TABLES) {
		top_draw(&live->screen_buffer, figures, &banner);
	} else if (live->view == VIEW_HELP) {
		top_draw_help(&live->screen_buffer);
		top_draw_frame(&live->screen_buffer, figures, &banner, keys_of(live));
	} else {
		top_dead_letters_draw(&live->screen_buffer, top, &live->dead_letters);
		top_draw_frame(&live->screen_buffer, figures, &banner, keys_of(live));
	}
	screen_show(&live->screen_buffer);
}

/* ---- keys ---- */

static void change_interval(struct live *live, bool is_longer)
{
	static const double steps[] = { 0.2, 0.5, 1, 2, 5, 10, 30, 60 };
	enum { COUNT = sizeof(steps) / sizeof(steps[0]) };
	double now = live->top->interval_s;
	int at = is_longer ? 0 : COUNT - 1;

	while (is_longer && at < COUNT - 1 && steps[at] <= now)
		at++;
	while (!is_longer && at > 0 && steps[at] >= now)
		at--;
	live->top->interval_s = steps[at];
	live->look_at_us = 0;
}

static void move(struct live *live, int by)
{
	int most = live->top->figures.process_count - 1;

	if (live->view == VIEW_LETTERS)
		top_dead_letters_move(&live->dead_letters, by);
	live->first_process += live->view == VIEW_TABLES ? by : 0;
	if (live->first_process > most)
		live->first_process = most;
	if (live->first_process < 0)
		live->first_process = 0;
}

static void toggle_dead_letters(struct live *live)
{
	if (live->view == VIEW_LETTERS) {
		if (!top_dead_letters_close(&live->dead_letters))
			live->view = VIEW_TABLES;
		return;
	}
	live->view = VIEW_LETTERS;
	live->look_at_us = 0;
}

static void hear_dead_letter(struct live *live, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		live->is_over = true;
		break;
	case 's':
		live->top->order = (live->top->order + 1) % TOP_ORDERS;
		top_arrange(live->top);
		break;
	case 'd':
		toggle_dead_letters(live);
		break;
	case ' ':
		live->is_frozen = !live->is_frozen;
		live->look_at_us = 0;
		break;
	case '+':
	case '=':
	case '-':
		change_interval(live, key != '-');
		break;
	case '?':
	case 'h':
		live->view = VIEW_HELP;
		break;
	}
}

static void hear(struct live *live, int key)
{
	enum { PAGE = 10 };

	if (key == KEY_OF_RESIZE)
		return;
	if (live->view == VIEW_HELP && key != 'q') {
		live->view = VIEW_TABLES;
		return;
	}
	if (key == KEY_OF_UP || key == KEY_OF_DOWN)
		move(live, key == KEY_OF_UP ? -1 : 1);
	else if (key == KEY_OF_PAGE_UP || key == KEY_OF_PAGE_DOWN)
		move(live, key == KEY_OF_PAGE_UP ? -PAGE : PAGE);
	else if (key == KEY_OF_ENTER && live->view == VIEW_LETTERS)
		top_dead_letters_open(live->top, &live->dead_letters);
	else if (key == KEY_OF_ESCAPE && live->view == VIEW_LETTERS)
		toggle_dead_letters(live);
	else
		hear_dead_letter(live, key);
}

/* true: there was one. */
static bool hear_keys(struct live *live)
{
	bool heard = false;
	short how;
	int key;

	while ((key = screen_key()) != KEY_OF_NONE) {
		hear(live, key);
		heard = true;
	}
	if (!heard && is_key_there(&how) && how & (POLLHUP | POLLERR))
		live->is_over = true; /* the terminal is gone */
	return heard;
}

/* ---- all of it ---- */

/* The connection is kept alive meanwhile. */
static void wait_for_something(struct live *live)
{
	int64_t left_us = live->look_at_us - now_us(live);
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };

	if (live->is_frozen || left_us > US_PER_S)
		left_us = US_PER_S;
	if (left_us <= 0)
		return;
	if (live->top->client)
		client_work_beside(live->top->client, STDIN_FILENO, left_us);
	else
		poll(&keys, 1, (int)(left_us / US_PER_MS) + 1);
}

static void run(struct live *live)
{
	bool is_stale = true;

	while (!live->is_over && !top_is_asked_to_stop()) {
		if (!live->is_frozen && now_us(live) >= live->look_at_us) {
			look(live);
			is_stale = true;
		}
		if (is_stale)
			draw(live);
		wait_for_something(live);
		is_stale = hear_keys(live);
	}
}

int top_live(struct top *top)
{
	struct live live = { .top = top };

	if (screen_open() < 0) {
		const char *name = getenv("TERM");

		complain(top->command, "the terminal \"%s\" (TERM) is not known here; --once needs none",
			name ? name : "");
		return EXIT_NO;
	}
	run(&live);
	screen_close();
	if (top->client)
		client_meanwhile(top->client, NULL, NULL);
	screen_buffer_free(&live.screen_buffer);
	top_dead_letters_forget(&live.dead_letters);
	return EXIT_FINE;
}

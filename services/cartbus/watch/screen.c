/*
 * screen.c: ncurses, which this file owns
 *
 * Owns:      the terminal while it is open, and where stderr goes meanwhile: what a library says there would tear the picture.
 * Promises:  a program that ends in order leaves the terminal as it was. The library writes what changed, and asks the terminal for its size
 *            when it is told that there is another.
 */
#include "services/cartbus/watch/screen.h"
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { ESCAPE = 27, ESCAPE_WAITS_MS = 50 };

static SCREEN *screen;
static int errors = -1; /* where stderr led to */
static attr_t attributes[STYLES];

/* Without colours the same is told by weight, and by words. */
static void set_attributes(bool in_colour)
{
	static const struct {
		short ink, paper;
		attr_t with, without;
	} styles[STYLES] = {
		[STYLE_PLAIN] = { -1, -1, A_NORMAL, A_NORMAL },
		[STYLE_FAINT] = { -1, -1, A_DIM, A_DIM },
		[STYLE_STRONG] = { -1, -1, A_BOLD, A_BOLD },
		[STYLE_TITLE] = { COLOR_CYAN, -1, A_BOLD, A_UNDERLINE },
		[STYLE_BAR] = { COLOR_WHITE, COLOR_BLUE, A_NORMAL, A_REVERSE },
		[STYLE_GOOD] = { COLOR_GREEN, -1, A_BOLD, A_BOLD },
		[STYLE_DOUBTFUL] = { COLOR_YELLOW, -1, A_BOLD, A_BOLD },
		[STYLE_BAD] = { COLOR_RED, -1, A_BOLD, A_BOLD },
		[STYLE_ALARM] = { COLOR_WHITE, COLOR_RED, A_BOLD, A_BOLD },
		[STYLE_WELL] = { COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_BOLD },
		[STYLE_CHOSEN] = { -1, -1, A_REVERSE, A_REVERSE },
	};

	for (short i = 0; i < STYLES; i++) {
		attributes[i] = in_colour ? styles[i].with : styles[i].without;
		if (in_colour && styles[i].ink >= 0 && init_pair(i, styles[i].ink, styles[i].paper) == OK)
			attributes[i] |= (attr_t)COLOR_PAIR(i);
	}
}

static bool start_colours(void)
{
	const char *unwanted = getenv("NO_COLOR");

	if ((unwanted && *unwanted) || !has_colors())
		return false;
	return start_color() == OK && use_default_colors() == OK;
}

static void divert_errors(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stderr);
	errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (nowhere >= 0 && errors >= 0)
		dup2(nowhere, STDERR_FILENO);
	if (nowhere >= 0)
		close(nowhere);
}

int screen_open(void)
{
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENOTTY;
	divert_errors();
	set_attributes(start_colours());
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_WAITS_MS);
	curs_set(0);
	return 0;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
	if (errors >= 0) {
		dup2(errors, STDERR_FILENO);
		close(errors);
		errors = -1;
	}
}

void screen_size(int *ret_width, int *ret_height)
{
	getmaxyx(stdscr, *ret_height, *ret_width);
}

static void show_cell(int row, int column, const struct screen_buffer_cell *cell)
{
	wchar_t text[2] = { cell->character, L'\0' };
	cchar_t character;

	if (cell->character == L'\0')
		return;
	setcchar(&character, text, attributes[cell->style] & ~A_COLOR, (short)PAIR_NUMBER(attributes[cell->style]),
		NULL);
	mvadd_wch(row, column, &character);
}

void screen_show(const struct screen_buffer *screen_buffer)
{
	erase();
	for (int row = 0; row < screen_buffer->height; row++)
		for (int column = 0; column < screen_buffer->width; column++)
			show_cell(row, column, &screen_buffer->cells[row * screen_buffer->width + column]);
	refresh();
}

int screen_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return KEY_OF_NONE;
	case KEY_UP:
		return KEY_OF_UP;
	case KEY_DOWN:
		return KEY_OF_DOWN;
	case KEY_PPAGE:
		return KEY_OF_PAGE_UP;
	case KEY_NPAGE:
		return KEY_OF_PAGE_DOWN;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return KEY_OF_ENTER;
	case ESCAPE:
		return KEY_OF_ESCAPE;
	case KEY_RESIZE:
		return KEY_OF_RESIZE;
	}
	return key < KEY_OF_UP ? key : KEY_OF_NONE;
}

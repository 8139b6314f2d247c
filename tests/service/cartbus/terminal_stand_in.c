/* terminal_stand_in.c: see terminal_stand_in.h */
#include "tests/service/cartbus/terminal_stand_in.h"

#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/cartbus/watch/screen.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char typed[400];
static char *rest; /* of what is typed; NULL: there is no terminal */
static int width, height;
static struct screen_buffer shown; /* before */
static bool is_heard;              /* a key was just heard: nothing more is there, and a picture is due */

static void read_size(const char *text)
{
	if (sscanf(text, "%dx%d", &width, &height) != 2)
		die("\"%s\" is no size of a terminal", text);
}

void terminal_stand_in_type(const char *size_and_keys)
{
	rest = NULL;
	if (!size_and_keys)
		return;
	if (!TEXT_COPY(typed, size_and_keys))
		die("too much is typed: %s", size_and_keys);
	rest = typed;
	read_size(strsep(&rest, " "));
	is_heard = false;
}

/* ---- showing ---- */

static bool is_blank(const struct screen_buffer_cell *cells, int count)
{
	for (int i = 0; i < count; i++) {
		if (cells[i].character != L' ' || cells[i].style != STYLE_PLAIN)
			return false;
	}
	return true;
}

static bool is_as_before(const struct screen_buffer *screen_buffer, int row)
{
	const struct screen_buffer_cell *now = &screen_buffer->cells[row * screen_buffer->width];

	if (shown.width != screen_buffer->width || shown.height != screen_buffer->height)
		return is_blank(now, screen_buffer->width);
	return memcmp(now, &shown.cells[row * screen_buffer->width], (size_t)screen_buffer->width * sizeof(*now)) == 0;
}

static void print_styles(const struct screen_buffer_cell *cells, int count)
{
	static const char letters[STYLES] = { [STYLE_PLAIN] = ' ',
		[STYLE_FAINT] = 'f',
		[STYLE_STRONG] = 's',
		[STYLE_TITLE] = 't',
		[STYLE_BAR] = 'b',
		[STYLE_GOOD] = 'g',
		[STYLE_DOUBTFUL] = 'd',
		[STYLE_BAD] = 'B',
		[STYLE_ALARM] = 'A',
		[STYLE_WELL] = 'W',
		[STYLE_CHOSEN] = 'c' };

	while (count > 0 && cells[count - 1].style == STYLE_PLAIN)
		count--;
	if (count > 0)
		printf("   |");
	for (int i = 0; i < count; i++)
		putchar(letters[cells[i].style]);
	if (count > 0)
		putchar('\n');
}

static void print_row(const struct screen_buffer *screen_buffer, int row)
{
	struct screen_buffer one = {
		.width = screen_buffer->width, .height = 1, .cells = &screen_buffer->cells[row * screen_buffer->width]
	};

	printf("%2d |", row);
	screen_buffer_write(&one, stdout);
	print_styles(one.cells, one.width);
}

/* ---- in the place of screen.c and of the terminal itself (the linker's --wrap) ---- */

int __wrap_isatty(int fd);
int __wrap_screen_open(void);
void __wrap_screen_close(void);
void __wrap_screen_size(int *ret_width, int *ret_height);
void __wrap_screen_show(const struct screen_buffer *screen_buffer);
int __wrap_screen_key(void);

int __wrap_isatty(int fd)
{
	(void)fd;
	return rest != NULL;
}

int __wrap_screen_open(void)
{
	return strcmp(getenv("TERM"), "xterm") == 0 ? 0 : -ENOTTY;
}

void __wrap_screen_close(void)
{
	puts("== the terminal is as it was");
	screen_buffer_free(&shown);
}

void __wrap_screen_size(int *ret_width, int *ret_height)
{
	*ret_width = width;
	*ret_height = height;
}

void __wrap_screen_show(const struct screen_buffer *screen_buffer)
{
	if (shown.width != screen_buffer->width || shown.height != screen_buffer->height)
		printf("== %dx%d\n", screen_buffer->width, screen_buffer->height);
	for (int row = 0; row < screen_buffer->height; row++) {
		if (!is_as_before(screen_buffer, row))
			print_row(screen_buffer, row);
	}
	screen_buffer_init(&shown, screen_buffer->width, screen_buffer->height);
	memcpy(shown.cells, screen_buffer->cells,
		(size_t)screen_buffer->width * (size_t)screen_buffer->height * sizeof(*screen_buffer->cells));
}

/* The keys are a pipe that nobody writes to any more. */
static int hang_up(void)
{
	int ends[2];

	if (pipe(ends) < 0 || dup2(ends[0], STDIN_FILENO) < 0)
		die("no pipe: %s", strerror(errno));
	close(ends[0]);
	close(ends[1]);
	return KEY_OF_NONE;
}

int __wrap_screen_key(void)
{
	static const struct {
		const char *name;
		int key;
	} keys[] = { { "up", KEY_OF_UP }, { "down", KEY_OF_DOWN }, { "page-up", KEY_OF_PAGE_UP },
		{ "page-down", KEY_OF_PAGE_DOWN }, { "enter", KEY_OF_ENTER }, { "escape", KEY_OF_ESCAPE },
		{ "resize", KEY_OF_RESIZE }, { "space", ' ' } };
	const char *name;

	is_heard = !is_heard;
	if (!is_heard)
		return KEY_OF_NONE;
	name = strsep(&rest, " ");
	if (!name)
		die("it listens for more than is typed");
	if (strcmp(name, "hangup") == 0)
		return hang_up();
	printf("== %s\n", name);
	if (strcmp(name, "none") == 0) {
		is_heard = false;
		return KEY_OF_NONE;
	}
	if (text_starts(name, "resize:")) {
		read_size(name + strlen("resize:"));
		return KEY_OF_RESIZE;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(name, keys[i].name) == 0)
			return keys[i].key;
	}
	return name[0];
}

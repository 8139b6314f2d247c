/* led_driver.c: an effect driver alone, led by a test over stdin */
#include "tests/system/programs/led_driver.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include <poll.h>

static bool listen_to_stdin(struct buffer *heard, void (*obey)(const char *line))
{
	char chunk[65536];
	ssize_t got = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (got <= 0)
		return false;
	buffer_add(heard, chunk, (size_t)got);
	for (char *end; heard->len && (end = memchr(heard->data, '\n', heard->len));) {
		size_t len = (size_t)(end - (char *)heard->data) + 1;

		*end = 0;
		obey((const char *)heard->data);
		memmove(heard->data, heard->data + len, heard->len - len);
		heard->len -= len;
	}
	return true;
}

void led_driver_run(const struct effect_driver *driver, void (*obey)(const char *line))
{
	_cleanup_(buffer_free) struct buffer heard = { 0 };

	for (bool open = true; open;) {
		struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
			{ .fd = driver->fd(driver->self), .events = POLLIN } };
		int64_t wait_us = driver->wait_us(driver->self);

		poll(fds, 2, wait_us < 0 ? -1 : (int)((wait_us + US_PER_MS - 1) / US_PER_MS));
		if (fds[0].revents)
			open = listen_to_stdin(&heard, obey);
		driver->work(driver->self);
	}
}

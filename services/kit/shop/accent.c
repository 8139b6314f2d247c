/* accent.c: the colour of a shop's buttons: checks whether white words on it are readable, and darkens it */
#include "services/kit/shop/accent.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHANNELS = 3, CHANNEL_MOST = 255, STEPS = 100 };

static const double readable_at_least = 4.5;

const char *accent_of(const char *chosen)
{
	return *chosen ? chosen : ACCENT_PLAIN;
}

bool accent_valid(const char *value)
{
	return value[0] == '#' && strlen(value) == ACCENT_ROOM - 1 &&
		!value[1 + strspn(value + 1, "0123456789abcdefABCDEF")];
}

static void read_channels(const char *value, unsigned int ret[CHANNELS])
{
	if (sscanf(value, "#%2x%2x%2x", &ret[0], &ret[1], &ret[2]) != CHANNELS)
		memset(ret, 0, CHANNELS * sizeof(*ret));
}

/* Converts sRGB to linear light, as WCAG defines it for "relative luminance". */
static double light_of(unsigned int channel)
{
	double share = channel / (double)CHANNEL_MOST;

	return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

static double contrast_of(const unsigned int channels[CHANNELS])
{
	double luminance =
		0.2126 * light_of(channels[0]) + 0.7152 * light_of(channels[1]) + 0.0722 * light_of(channels[2]);

	return 1.05 / (luminance + 0.05);
}

double accent_contrast(const char *value)
{
	unsigned int channels[CHANNELS];

	read_channels(value, channels);
	return contrast_of(channels);
}

bool accent_readable(const char *value)
{
	return accent_contrast(value) >= readable_at_least;
}

void accent_darken(const char *value, char ret[ACCENT_ROOM])
{
	unsigned int channels[CHANNELS], darker[CHANNELS];

	read_channels(value, channels);
	for (unsigned int left = STEPS;; left--) {
		for (int i = 0; i < CHANNELS; i++)
			darker[i] = channels[i] * left / STEPS;
		if (contrast_of(darker) >= readable_at_least)
			break;
	}
	snprintf(ret, ACCENT_ROOM, "#%02x%02x%02x", darker[0] & CHANNEL_MOST, darker[1] & CHANNEL_MOST,
		darker[2] & CHANNEL_MOST);
}

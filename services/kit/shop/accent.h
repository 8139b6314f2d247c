/*
 * accent.h: the colour of a shop's buttons, and whether white words on it can be read
 */
#ifndef KIT_SHOP_ACCENT_H
#define KIT_SHOP_ACCENT_H

#include <stdbool.h>

#define ACCENT_PLAIN "#1c5fb8" /* for shops without a colour, and for pages without a shop */
enum { ACCENT_ROOM = 8 };

const char *accent_of(const char *chosen); /* the chosen colour; for "" the plain one */
bool accent_valid(const char *value);      /* '#' and six hex digits */
/* The contrast of white on a valid colour, from 1 (white) to 21 (black): WCAG 2.2, "contrast ratio". */
double accent_contrast(const char *value);
/* true: the contrast is at least 4.5, which WCAG demands of text at level AA (success criterion 1.4.3). */
bool accent_readable(const char *value);
/* The same hue, made just dark enough to be readable; a readable colour is unchanged. */
void accent_darken(const char *value, char ret[ACCENT_ROOM]);

#endif

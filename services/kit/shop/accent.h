/*
 * accent.h: the colour of a shop's buttons, and whether white words on it can be read
 */
#ifndef KIT_SHOP_ACCENT_H
#define KIT_SHOP_ACCENT_H

#include <stdbool.h>

#define ACCENT_PLAIN "#1c5fb8" /* of a shop that chose none, and of pages that are nobody's */
enum { ACCENT_ROOM = 8 };

const char *accent_of(const char *chosen); /* "" is none: the plain one */
bool accent_valid(const char *value);      /* '#' and six hex digits */
/* Of white on a valid colour, from 1 (white) to 21 (black): WCAG 2.2, "contrast ratio". */
double accent_contrast(const char *value);
/* What WCAG asks of words at level AA (success criterion 1.4.3) is 4.5. */
bool accent_readable(const char *value);
/* The same hue, only as much darker as it needs to be readable; itself if it is. */
void accent_darken(const char *value, char ret[ACCENT_ROOM]);

#endif

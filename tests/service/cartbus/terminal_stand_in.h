/*
 * terminal_stand_in.h: a terminal for commands under test, in the place of services/cartbus/watch/screen.c
 *
 * What is typed at it is given before. A command finds one key each time that it listens, so each key has a picture of its own. Of each
 * picture those rows are printed on standard output, with their numbers, that differ from the one before; below a row with styles stands
 * a row with a letter for each of them.
 */
#ifndef TESTS_SERVICE_CARTBUS_TERMINAL_STAND_IN_H
#define TESTS_SERVICE_CARTBUS_TERMINAL_STAND_IN_H

/* "80x24 s down ' '": the size, and the keys: a character, "space", or one of up down page-up page-down enter escape resize none.
 * "resize:100x30" has another size from then on, "hangup" is the end of the terminal's line. What is wrong with it ends the test.
 * NULL: there is no terminal. */
void terminal_stand_in_type(const char *size_and_keys);

#endif

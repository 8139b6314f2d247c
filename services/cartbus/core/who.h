/* who.h: who gives this command, for the record */
#ifndef CARTBUS_CORE_WHO_H
#define CARTBUS_CORE_WHO_H

const char *who_am_i(void); /* the name of the user, of sudo's caller where it was used */

#endif

/*
 * file_driver.h: a whole file, written durably, as an effect
 */
#ifndef KIT_EFFECT_FILE_DRIVER_H
#define KIT_EFFECT_FILE_DRIVER_H

#include "bus/actor/effect.h"

struct file_request {
	char path[512]; /* its folder is made when missing */
	struct buffer content;
};

void file_request_free(void *request); /* from memory_new */

/* The driver named "file": request struct file_request, result an int: 0 or a negative errno. Writing again is harmless. */
struct effect_driver *file_driver_new(void);

#endif

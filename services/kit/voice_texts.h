/*
 * voice_texts.h: what shops say whose owners wrote nothing: voices/<language>.txt, compiled in
 */
#ifndef KIT_VOICE_TEXTS_H
#define KIT_VOICE_TEXTS_H

struct voice_text {
	const char *language;      /* "de"; NULL ends the table */
	const unsigned char *text; /* of voices/de.txt, terminated */
};

extern const struct voice_text voice_texts[];

#endif

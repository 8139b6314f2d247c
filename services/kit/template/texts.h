/*
 * texts.h: what shops say whose owners wrote nothing: voices/<language>.txt, compiled in
 */
#ifndef KIT_TEMPLATE_TEXTS_H
#define KIT_TEMPLATE_TEXTS_H

struct voice_text {
	const char *language;      /* "de"; NULL ends the table */
	const unsigned char *text; /* of voices/de.txt, terminated */
};

extern const struct voice_text voice_texts[];
extern const struct voice_text word_texts[];     /* of words/de.txt: what owners' words mean (rules/words.c) */
extern const struct voice_text sentence_texts[]; /* of sentences/de.txt: how rules are said back (rules/speech.c) */

#endif

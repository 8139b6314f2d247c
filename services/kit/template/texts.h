/*
 * texts.h: texts in many languages that are compiled in: <folder>/<language>.txt becomes a table (texts_into_table in services/kit)
 */
#ifndef KIT_TEMPLATE_TEXTS_H
#define KIT_TEMPLATE_TEXTS_H

struct text_resource {
	const char *language;      /* "de"; NULL ends the table */
	const unsigned char *text; /* of <folder>/de.txt, terminated */
};

#endif

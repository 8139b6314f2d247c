/*
 * codec_table.h: what codec.c reads and writes by: a row per field
 *
 * Inside the codec only; others include codec.h.
 */
#ifndef WIRE_CODEC_TABLE_H
#define WIRE_CODEC_TABLE_H

#include "bus/wire/codec.h"

/* BORROWED: a struct bytes that points elsewhere (proto/borrowed.h). From TEXT on a length goes before the value. */
enum field_kind { UNKNOWN, BOOLEAN, NUMBER_32, SIGNED_32, NUMBER_64, TEXT, DATA, BORROWED, MESSAGE };
/* What says whether a field is there. */
enum field_presence {
	VALUE,  /* it is not zero */
	FLAG,   /* a bool */
	CHOICE, /* the number of the field that is there, of several */
	COUNT   /* how many there are, in a list */
};

struct row {
	enum field_kind kind;
	enum field_presence presence;
	uint32_t at, room; /* of the value in the struct; of a list's first */
	uint32_t presence_at;
	uint32_t most; /* 1, or of a list */
	const struct codec *nested;
};

enum { STRETCHES_MAX = 16 };

/* Of a struct, in bytes. */
struct stretch {
	uint32_t from, to;
};

struct codec {
	const pb_msgdesc_t *fields;
	size_t most;    /* encoded */
	bool is_choice; /* of one field among all of its own */
	uint32_t choice_at;
	struct stretch cleared[STRETCHES_MAX]; /* what is zero before it is read: all but the lists */
	int cleared_count;
	uint32_t last;
	struct row rows[]; /* by the field's number */
};

#endif

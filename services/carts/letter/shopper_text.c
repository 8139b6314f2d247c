/*
 * shopper_text.c: decides if a mail may repeat a name or a code that a shopper typed
 *
 * Promises:  pure. A text that could be read as a link, an address or a sentence, in any script, is refused.
 *            A name that is refused by mistake costs one salutation.
 * Read next: words.c
 */
#include "services/carts/letter/shopper_text.h"
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

/*
 * No program knows what words mean in every language, so a name gets too little room for a message: "You won
 * money" has three words and was once given as a name. Two words stay possible.
 */
enum {
	TEXT_MOST = 40,
	CODE_WORDS_MOST = 3,
	NAME_WORDS_MOST = 3,
	NAME_PARTS_MOST = 2, /* between blanks and joints; "de" and "J." do not count */
	PART_LETTERS_MOST = 16,
	IDEOGRAPHS_MOST = 5, /* six Chinese characters make a sentence; so do six syllables of Korean */
	KANA_MOST = 12,
	PARTICLE_MOST = 3
};

static bool is_letter(UChar32 c)
{
	return u_isalpha(c) || (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0; /* marks: accents, vowels of Hindi */
}

/* Hyphen, apostrophes, middle dots of Catalan and Japanese. */
static bool is_joint(UChar32 c)
{
	static const UChar32 joints[] = { '-', '\'', 0x2010, 0x2011, 0x2019, 0x02bc, 0xb7, 0x30fb };

	for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++)
		if (c == joints[i])
			return true;
	return false;
}

static bool is_blank(UChar32 c)
{
	return c == ' ' || c == 0xa0 || c == 0x3000;
}

/* How far a name has been read. */
struct name {
	int length, words;
	int letters; /* of the part of a word since its last joint or full stop */
	int parts;   /* that ended and had more than one letter */
	int ideographs, kana;
	char part[PARTICLE_MOST + 1]; /* its first letters in lower case, where they are ASCII */
	bool stopped;                 /* the last character was a full stop */
	bool has_initial; /* this word has a full stop after one letter, so another may follow, as in "J.R." */
};

static bool is_particle(const struct name *name)
{
	static const char *const particles[] = { "al", "bin", "da", "das", "de", "del", "den", "der", "di", "do", "dos",
		"du", "el", "la", "le", "ter", "van", "von" };

	for (size_t i = 0; i < sizeof(particles) / sizeof(particles[0]); i++)
		if (name->letters == (int)strlen(particles[i]) && strcmp(name->part, particles[i]) == 0)
			return true;
	return false;
}

static void end_part(struct name *name)
{
	name->parts += name->letters > 1 && !is_particle(name);
	name->letters = 0;
	memset(name->part, 0, sizeof(name->part));
}

static void count_letter(struct name *name, UChar32 c)
{
	UErrorCode error = U_ZERO_ERROR;
	UScriptCode script = uscript_getScript(c, &error);

	if (name->letters < PARTICLE_MOST && c < 0x80)
		name->part[name->letters] = (char)u_tolower(c);
	name->letters += u_isalpha(c) || name->letters == 0; /* an accent is no letter of its own */
	name->ideographs += script == USCRIPT_HAN || script == USCRIPT_HANGUL;
	name->kana += script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
}

/* "evil.example" is no name: a full stop ends the word, unless each of its parts is one letter. */
static bool take_letter(struct name *name, UChar32 c)
{
	if (name->stopped && !name->has_initial)
		return false;
	if (name->letters == 0 && !name->stopped && name->words == 0)
		name->words = 1;
	count_letter(name, c);
	if (name->has_initial && name->letters > 1)
		return false;
	name->stopped = false;
	return true;
}

static bool take_stop(struct name *name)
{
	if (name->letters == 0)
		return false;
	name->has_initial = name->letters == 1;
	end_part(name);
	name->stopped = true;
	return true;
}

static void take_blank(struct name *name)
{
	if (name->words > 0 && (name->letters > 0 || name->stopped))
		name->words++;
	end_part(name);
	name->stopped = name->has_initial = false;
}

static bool take(struct name *name, UChar32 c)
{
	name->length++;
	if (c < 0)
		return false;
	if (is_letter(c))
		return take_letter(name, c) && name->letters <= PART_LETTERS_MOST;
	if (c == '.')
		return take_stop(name);
	if (is_blank(c)) {
		take_blank(name);
		return true;
	}
	if (!is_joint(c) || name->letters == 0)
		return false;
	end_part(name);
	return true;
}

bool shopper_name_may_be_mailed(const char *text)
{
	int32_t length = (int32_t)strlen(text), at = 0;
	struct name name = { 0 };

	while (at < length && name.length <= TEXT_MOST) {
		UChar32 c;

		U8_NEXT(text, at, length, c);
		if (!take(&name, c))
			return false;
	}
	int words = name.words -
		(name.words > 0 && name.letters == 0 && !name.stopped); /* a blank at the end begins no word */
	end_part(&name);
	return name.words > 0 && words <= NAME_WORDS_MOST && name.parts <= NAME_PARTS_MOST &&
		name.ideographs <= IDEOGRAPHS_MOST && name.kana <= KANA_MOST && name.length <= TEXT_MOST;
}

bool shopper_code_may_be_mailed(const char *text)
{
	int32_t length = (int32_t)strlen(text), at = 0;
	int count = 0, words = 1;

	while (at < length) {
		UChar32 c;

		U8_NEXT(text, at, length, c);
		if (c < 0 || ++count > TEXT_MOST || !(is_letter(c) || u_isdigit(c) || (c < 0x80 && strchr(" +-_%", c))))
			return false;
		words += c == ' ';
	}
	return count > 0 && words <= CODE_WORDS_MOST;
}

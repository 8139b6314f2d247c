/* recovery_code.c: makes recovery codes, and takes one away when it is used */
#include "services/console/people/recovery_code.h"

#include "bus/base/log.h"
#include "services/kit/keys/hmac.h"
#include <openssl/crypto.h>
#include <string.h>
#include <sys/random.h>

enum { CODE_BITS = 80, CODE_LETTERS = CODE_BITS / 5, GROUP = 4 };
_Static_assert((int)HMAC_LEN == (int)PERSON_RECOVERY_LEN, "what is kept of a code");

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz234567";

static void hash_code(struct bytes key, const char letters[CODE_LETTERS], uint8_t ret[HMAC_LEN])
{
	static const char purpose[] = "recovery code ";
	char text[sizeof(purpose) - 1 + CODE_LETTERS];

	memcpy(text, purpose, sizeof(purpose) - 1);
	memcpy(text + sizeof(purpose) - 1, letters, CODE_LETTERS);
	hmac_sha256(key, BYTES(text, sizeof(text)), ret);
	OPENSSL_cleanse(text, sizeof(text));
}

static void make_letters(char ret[CODE_LETTERS])
{
	uint8_t random[CODE_LETTERS];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		die("the kernel gives no random numbers");
	for (int i = 0; i < CODE_LETTERS; i++)
		ret[i] = LETTERS[random[i] & 31];
	OPENSSL_cleanse(random, sizeof(random));
}

static void write_groups(const char letters[CODE_LETTERS], char ret[RECOVERY_CODE_ROOM])
{
	for (int i = 0; i < CODE_LETTERS; i++) {
		if (i > 0 && i % GROUP == 0)
			*ret++ = '-';
		*ret++ = letters[i];
	}
	*ret = '\0';
}

void recovery_codes_new(struct bytes key, struct person *person, char ret[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM])
{
	char letters[CODE_LETTERS];

	for (int i = 0; i < PERSON_RECOVERY_CODES; i++) {
		make_letters(letters);
		hash_code(key, letters, person->recovery[i]);
		write_groups(letters, ret[i]);
	}
	person->recovery_count = PERSON_RECOVERY_CODES;
	OPENSSL_cleanse(letters, sizeof(letters));
}

static bool read_letters(const char *code, char ret[CODE_LETTERS])
{
	int len = 0;

	for (; *code; code++) {
		char letter = *code >= 'A' && *code <= 'Z' ? (char)(*code - 'A' + 'a') : *code;

		if (letter == ' ' || letter == '-')
			continue;
		if (len == CODE_LETTERS || !strchr(LETTERS, letter))
			return false;
		ret[len++] = letter;
	}
	return len == CODE_LETTERS;
}

bool recovery_code_spend(struct bytes key, struct person *person, const char *code)
{
	char letters[CODE_LETTERS];
	uint8_t hash[HMAC_LEN];
	int found = -1;

	if (!read_letters(code, letters))
		return false;
	hash_code(key, letters, hash);
	for (int i = 0; i < person->recovery_count; i++)
		if (CRYPTO_memcmp(person->recovery[i], hash, sizeof(hash)) == 0)
			found = i;
	if (found < 0)
		return false;
	person->recovery_count--;
	memmove(person->recovery[found], person->recovery[person->recovery_count], sizeof(hash));
	OPENSSL_cleanse(person->recovery[person->recovery_count], sizeof(hash));
	return true;
}

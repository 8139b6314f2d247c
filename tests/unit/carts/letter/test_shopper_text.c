/* test_shopper_text.c: what shoppers type is repeated in a mail only as what it should be */
#include "services/carts/letter/shopper_text.h"
#include "tests/unit/cmocka_all.h"

static void names_of_people_are_names(void **state)
{
	static const char *const names[] = { "Ada", "Anna-Maria", "D'Arcy", "O’Neill", "J.", "J.R.", "J. R.",
		"Maria del Carmen", "Jean Pierre", "Zoë", "Łukasz", "Ὀδυσσεύς", "Владимир", "王小明", "さくら",
		"マリア・ルイサ", "محمد", "عبد الله", "प्रिया", "Núria", "Gal·la", "ada", "MARIA LOPEZ", "Nguyễn",
		"Dr. Ada", "Ada ", " Ada", "Ann Lee J.", "Juan de Dios", "Karl von Moor", "Konstantinos", "김서연",
		"長谷川優太", "アレクサンドラ", "D'Angelo J. R.", "สมชาย", "Anne-Marie" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!shopper_name_may_be_mailed(names[i]))
			fail_msg("\"%s\" is a name", names[i]);
}

static void what_looks_like_a_link_a_sentence_or_is_long_is_no_name(void **state)
{
	static const char *const others[] = { "", " ", "CONGRATS! claim at https://evil.example", "evil.example",
		"www.evil.example", "t.co", "a.bc", "ab.c", "http://x", "x@evil.example", "Ada (call 0900)", "Ada 1",
		"win 1000", "You have won money", "Ada\nBcc: x", "<b>Ada</b>", "{total}", "Ada, you won", "Ada; Bob",
		"evil。example", "evil．example", "evil/example", "💰 Ada", "Ada!", "Ada?", "\xff\xfe",
		"Abcdefghijklmnopqrstuvwxyzabcdefghijklmnop", ".", "-", "'Ada", "Ada--Bob", "evil․example", "Ada\u202e",
		"evil .example", "You won money", "evil dot com", "Claim-your-prize", "Call now-free",
		"Free iPhone inside", "Claimyourprizeatevil", "恭喜您中奖了请加微信", "축하합니다당첨되셨습니다",
		"おめでとうございますとうせん", "Gratis iPhone gewonnen" };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (shopper_name_may_be_mailed(others[i]))
			fail_msg("\"%s\" is no name", others[i]);
}

static void codes_are_codes(void **state)
{
	static const char *const codes[] = { "WELCOME10", "summer 10", "10%-OFF", "FRÜHLING_26", "A+B" };
	static const char *const others[] = { "", "https://evil.example", "evil.example", "a b c d", "x@y", "<b>",
		"10!", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQ", "\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (!shopper_code_may_be_mailed(codes[i]))
			fail_msg("\"%s\" is a code", codes[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (shopper_code_may_be_mailed(others[i]))
			fail_msg("\"%s\" is no code", others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_people_are_names),
		cmocka_unit_test(what_looks_like_a_link_a_sentence_or_is_long_is_no_name),
		cmocka_unit_test(codes_are_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

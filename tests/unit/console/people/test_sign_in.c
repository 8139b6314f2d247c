#include "tests/unit/console/people/accounts.h"
#include <sys/stat.h>

static void a_right_password_opens_a_session_and_a_wrong_one_does_not(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer answer;

	accounts_add(accounts, "ann", "owner:demo");
	answer = accounts_try(accounts, "ann", "a long walk by the lake");
	assert_int_equal(answer.verdict, SIGN_IN_WRONG);
	assert_string_equal(answer.id, "");
	answer = accounts_try(accounts, "ANN", ACCOUNTS_PASSWORD);
	assert_int_equal(answer.verdict, SIGN_IN_DONE);
	assert_string_equal(answer.person, "ann");
	assert_string_equal(session_find(accounts->sessions, answer.id, true)->person, "ann");
	assert_int_equal(accounts_try(accounts, "nobody", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
	assert_int_equal(accounts_try(accounts, "", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
	assert_int_equal(accounts_try(accounts, "ann\n\"", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
}

static void a_thousand_wrong_passwords_wait_and_then_the_right_one_gets_in(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer answer;
	int tried = 0;

	accounts_add(accounts, "ann", "owner:demo");
	for (int i = 0; i < 1000; i++) {
		answer = accounts_try(accounts, "ann", "not this one, guesser");
		tried += answer.verdict == SIGN_IN_WRONG;
		assert_true(answer.verdict == SIGN_IN_WRONG || answer.wait_us > 0);
		accounts_wait(accounts, US_PER_S);
	}
	assert_in_range(tried, 6, 15);
	answer = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(answer.verdict, SIGN_IN_WAIT);
	assert_in_range(answer.wait_us, 1, 15 * US_PER_MINUTE);
	accounts_restart(accounts);
	assert_int_equal(accounts_try(accounts, "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WAIT);
	accounts_wait(accounts, answer.wait_us);
	assert_int_equal(accounts_try(accounts, "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_DONE);
}

static void a_code_is_needed_and_good_once(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer first, second;
	char code[16];

	accounts_add(accounts, "ann", "admin");
	accounts_give_totp(accounts, "ann");
	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(first.verdict, SIGN_IN_CODE);
	assert_int_equal(session_find(accounts->sessions, first.id, true)->step, SESSION_PASSWORD);
	second = accounts_code_try(accounts, first.id, accounts_code(accounts, 0, code));
	assert_int_equal(second.verdict, SIGN_IN_DONE);
	assert_string_not_equal(first.id, second.id);
	assert_null(session_find(accounts->sessions, first.id, true));
	assert_int_equal(session_find(accounts->sessions, second.id, true)->step, SESSION_FULL);

	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(accounts_code_try(accounts, first.id, code).verdict, SIGN_IN_WRONG);
	accounts_restart(accounts);
	assert_int_equal(accounts_code_try(accounts, first.id, code).verdict, SIGN_IN_WRONG);
	accounts_wait(accounts, TOTP_STEP_S * US_PER_S);
	assert_int_equal(accounts_code_try(accounts, first.id, accounts_code(accounts, 0, code)).verdict, SIGN_IN_DONE);
}

static void the_fifth_wrong_code_ends_the_attempt(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer first;
	char code[16];

	accounts_add(accounts, "ann", "admin");
	accounts_give_totp(accounts, "ann");
	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	for (int i = 0; i < 4; i++)
		assert_int_equal(accounts_code_try(accounts, first.id, "000000").verdict, SIGN_IN_WRONG);
	assert_int_equal(accounts_code_try(accounts, first.id, "not a code").verdict, SIGN_IN_ENDED);
	assert_int_equal(
		accounts_code_try(accounts, first.id, accounts_code(accounts, 0, code)).verdict, SIGN_IN_ENDED);
}

/* The code could not be noted as used: so it opens nothing. */
static void a_code_that_cannot_be_written_down_grants_nothing(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer first, second;
	char code[16], writing[160];

	accounts_add(accounts, "ann", "admin");
	accounts_give_totp(accounts, "ann");
	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	snprintf(writing, sizeof(writing), "%s/people.json.writing", accounts->people_path);
	assert_int_equal(mkdir(writing, 0700), 0); /* in the place of the temporary file */
	second = accounts_code_try(accounts, first.id, accounts_code(accounts, 0, code));
	assert_int_equal(second.verdict, SIGN_IN_FAILED);
	assert_string_equal(second.id, "");
	assert_int_equal(session_find(accounts->sessions, first.id, true)->step, SESSION_PASSWORD);
	assert_int_equal(rmdir(writing), 0);
	assert_int_equal(accounts_code_try(accounts, first.id, code).verdict, SIGN_IN_DONE);
}

static void an_admin_has_to_set_up_a_second_factor_first(void **state)
{
	struct accounts *accounts = *state;
	char codes[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM], code[16];
	struct sign_in_answer first, second;

	accounts_add(accounts, "ann", "admin");
	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(first.verdict, SIGN_IN_ENROL);
	assert_int_equal(session_find(accounts->sessions, first.id, true)->step, SESSION_ENROLS);
	sign_in_enrol(&accounts->sign_in, first.id, accounts_totp, "123456", codes, &second);
	assert_int_equal(second.verdict, SIGN_IN_WRONG);
	sign_in_enrol(&accounts->sign_in, first.id, accounts_totp, accounts_code(accounts, 0, code), codes, &second);
	assert_int_equal(second.verdict, SIGN_IN_DONE);
	assert_true(people_find(accounts->people, "ann")->has_totp);

	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(accounts_code_try(accounts, first.id, code).verdict, SIGN_IN_WRONG); /* used to set it up */
	assert_int_equal(accounts_code_try(accounts, first.id, codes[9]).verdict, SIGN_IN_DONE);
	first = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(accounts_code_try(accounts, first.id, codes[9]).verdict, SIGN_IN_WRONG);
	assert_int_equal(accounts_code_try(accounts, first.id, codes[0]).verdict, SIGN_IN_DONE);
	assert_int_equal(people_find(accounts->people, "ann")->recovery_count, 8);
}

static void a_link_of_the_first_admin_makes_one_and_no_second(void **state)
{
	struct accounts *accounts = *state;
	char token[ENTRY_TOKEN_ROOM], other[ENTRY_TOKEN_ROOM];
	struct entry_link link = { .person = "" };
	struct sign_in_answer answer;

	assert_int_equal(
		entry_link_make(accounts->people_path, &link, clock_wall_us(&accounts->clock), token, accounts->why),
		0);
	assert_int_equal(accounts_enter(accounts, "guess", "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
	answer = accounts_enter(accounts, token, "ann", "password1234");
	assert_int_equal(answer.verdict, SIGN_IN_UNFIT);
	assert_int_equal(answer.fault, PASSWORD_COMMON);
	assert_int_equal(accounts_enter(accounts, token, "a b", ACCOUNTS_PASSWORD).verdict, SIGN_IN_UNFIT);
	assert_int_equal(accounts_enter(accounts, token, "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_ENROL);
	assert_true(person_may(people_find(accounts->people, "ann"), RIGHT_PEOPLE, NULL));
	assert_int_equal(accounts_enter(accounts, token, "bob", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
	assert_int_equal(
		entry_link_make(accounts->people_path, &link, clock_wall_us(&accounts->clock), other, accounts->why),
		0);
	assert_int_equal(accounts_enter(accounts, other, "bob", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
	assert_int_equal(people_count(accounts->people), 1);
}

static void a_link_sets_a_new_password_and_ends_the_sessions(void **state)
{
	struct accounts *accounts = *state;
	struct entry_link link = { .person = "ann" };
	char token[ENTRY_TOKEN_ROOM];
	struct sign_in_answer before, after;

	accounts_add(accounts, "ann", "owner:demo");
	accounts_give_totp(accounts, "ann");
	before = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(
		entry_link_make(accounts->people_path, &link, clock_wall_us(&accounts->clock), token, accounts->why),
		0);
	after = accounts_enter(accounts, token, "", "quite another sentence");
	assert_int_equal(after.verdict, SIGN_IN_CODE); /* the second factor stays */
	assert_null(session_find(accounts->sessions, before.id, true));
	assert_int_equal(accounts_try(accounts, "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WRONG);
	assert_int_equal(accounts_try(accounts, "ann", "quite another sentence").verdict, SIGN_IN_CODE);

	link.drops_totp = true;
	entry_link_make(accounts->people_path, &link, clock_wall_us(&accounts->clock), token, accounts->why);
	assert_int_equal(accounts_enter(accounts, token, "", ACCOUNTS_PASSWORD).verdict, SIGN_IN_DONE);
	assert_false(people_find(accounts->people, "ann")->has_totp);
}

static void a_link_works_while_others_keep_the_name_waiting(void **state)
{
	struct accounts *accounts = *state;
	struct entry_link link = { .person = "ann" };
	char token[ENTRY_TOKEN_ROOM];

	accounts_add(accounts, "ann", "owner:demo");
	for (int i = 0; i < 7; i++)
		accounts_try(accounts, "ann", "not this one, guesser");
	assert_int_equal(accounts_try(accounts, "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_WAIT);
	entry_link_make(accounts->people_path, &link, clock_wall_us(&accounts->clock), token, accounts->why);
	assert_int_equal(accounts_enter(accounts, token, "", ACCOUNTS_PASSWORD).verdict, SIGN_IN_DONE);
	assert_int_equal(accounts_try(accounts, "ann", ACCOUNTS_PASSWORD).verdict, SIGN_IN_DONE);
}

static struct sign_in_answer again(struct accounts *accounts, const char *id, const char *proof)
{
	struct sign_in_answer answer;
	struct source_key key;
	struct sign_in_from from = accounts_from("192.0.2.1", &key);

	sign_in_again(&accounts->sign_in, &from, id, bytes_of(proof), &answer);
	return answer;
}

static void what_cannot_be_undone_asks_again_after_five_minutes(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer in, after;

	accounts_add(accounts, "ann", "owner:demo");
	in = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_true(session_is_fresh(accounts->sessions, session_find(accounts->sessions, in.id, true)));
	accounts_wait(accounts, 5 * US_PER_MINUTE);
	assert_false(session_is_fresh(accounts->sessions, session_find(accounts->sessions, in.id, true)));
	sign_in_new_password(&accounts->sign_in, in.id, bytes_of("quite another sentence"), &after);
	assert_int_equal(after.verdict, SIGN_IN_ENDED);
	assert_int_equal(again(accounts, in.id, "wrong").verdict, SIGN_IN_WRONG);
	after = again(accounts, in.id, ACCOUNTS_PASSWORD);
	assert_int_equal(after.verdict, SIGN_IN_DONE);
	assert_null(session_find(accounts->sessions, in.id, true));
	assert_true(session_is_fresh(accounts->sessions, session_find(accounts->sessions, after.id, true)));
}

static void a_stolen_session_gets_five_guesses_at_the_password(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer in;

	accounts_add(accounts, "ann", "owner:demo");
	in = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	for (int i = 0; i < 4; i++)
		assert_int_equal(again(accounts, in.id, "guess").verdict, SIGN_IN_WRONG);
	assert_int_equal(again(accounts, in.id, "guess").verdict, SIGN_IN_ENDED);
	assert_null(session_find(accounts->sessions, in.id, true));
}

static void a_new_password_ends_the_other_sessions_and_not_ones_own(void **state)
{
	struct accounts *accounts = *state;
	struct sign_in_answer other, own, after;

	accounts_add(accounts, "ann", "owner:demo");
	other = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	own = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	sign_in_new_password(&accounts->sign_in, own.id, bytes_of("too short"), &after);
	assert_int_equal(after.verdict, SIGN_IN_UNFIT);
	sign_in_new_password(&accounts->sign_in, own.id, bytes_of("quite another sentence"), &after);
	assert_int_equal(after.verdict, SIGN_IN_DONE);
	assert_null(session_find(accounts->sessions, other.id, true));
	assert_null(session_find(accounts->sessions, own.id, true));
	assert_non_null(session_find(accounts->sessions, after.id, true));
}

static void a_session_that_waits_for_a_code_opens_nothing_else(void **state)
{
	struct accounts *accounts = *state;
	char codes[PERSON_RECOVERY_CODES][RECOVERY_CODE_ROOM], code[16];
	struct sign_in_answer in, after;

	accounts_add(accounts, "ann", "admin");
	accounts_give_totp(accounts, "ann");
	in = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	accounts_code(accounts, 0, code);
	sign_in_enrol(&accounts->sign_in, in.id, accounts_totp, code, codes, &after);
	assert_int_equal(after.verdict, SIGN_IN_ENDED);
	sign_in_new_password(&accounts->sign_in, in.id, bytes_of("quite another sentence"), &after);
	assert_int_equal(after.verdict, SIGN_IN_ENDED);
	assert_int_equal(again(accounts, in.id, ACCOUNTS_PASSWORD).verdict, SIGN_IN_ENDED);
	accounts_wait(accounts, 10 * US_PER_MINUTE);
	assert_int_equal(accounts_code_try(accounts, in.id, accounts_code(accounts, 0, code)).verdict, SIGN_IN_ENDED);
}

/* A copy of the people's file is put back, as after a power cut that came before the change: nothing was granted by then. */
static void a_damaged_file_lets_nobody_in_and_stays(void **state)
{
	struct accounts *accounts = *state;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[160];
	struct sign_in_answer answer;

	accounts_add(accounts, "ann", "owner:demo");
	snprintf(path, sizeof(path), "%s/people.json", accounts->people_path);
	assert_int_equal(
		file_write_durably(path, bytes_of("{\"cartbus_people\":1,\"people\":1}\n{\"name\":\n"), 0600), 0);
	answer = accounts_try(accounts, "ann", ACCOUNTS_PASSWORD);
	assert_int_equal(answer.verdict, SIGN_IN_FAILED);
	assert_non_null(strstr(answer.why, "people.json:2: "));
	assert_int_equal(file_read(path, 1000, &text), 0);
	assert_string_equal(buffer_text(&text), "{\"cartbus_people\":1,\"people\":1}\n{\"name\":\n");
	unlink(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, accounts_setup, accounts_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_right_password_opens_a_session_and_a_wrong_one_does_not),
		TEST(a_thousand_wrong_passwords_wait_and_then_the_right_one_gets_in),
		TEST(a_code_is_needed_and_good_once),
		TEST(the_fifth_wrong_code_ends_the_attempt),
		TEST(a_code_that_cannot_be_written_down_grants_nothing),
		TEST(an_admin_has_to_set_up_a_second_factor_first),
		TEST(a_link_of_the_first_admin_makes_one_and_no_second),
		TEST(a_link_sets_a_new_password_and_ends_the_sessions),
		TEST(a_link_works_while_others_keep_the_name_waiting),
		TEST(what_cannot_be_undone_asks_again_after_five_minutes),
		TEST(a_stolen_session_gets_five_guesses_at_the_password),
		TEST(a_new_password_ends_the_other_sessions_and_not_ones_own),
		TEST(a_session_that_waits_for_a_code_opens_nothing_else),
		TEST(a_damaged_file_lets_nobody_in_and_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

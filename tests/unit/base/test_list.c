#include "bus/base/list.h"
#include "tests/unit/cmocka_all.h"

struct letter {
	char letter;
	struct list hook;
};

static void assert_spells(const struct list *head, const char *word)
{
	size_t at = 0;
	LIST_EACH (hook, head)
		assert_int_equal(LIST_ENTRY(hook, struct letter, hook)->letter, word[at++]);
	assert_int_equal(word[at], 0);
	while (at > 0)
		for (struct list *hook = head->prev; hook != head; hook = hook->prev)
			assert_int_equal(LIST_ENTRY(hook, struct letter, hook)->letter, word[--at]);
}

static void members_keep_their_order_both_ways(void **state)
{
	(void)state;
	LIST_HEAD(head);
	struct letter letters[] = { { 'a', { 0 } }, { 'b', { 0 } }, { 'c', { 0 } }, { 'd', { 0 } } };
	assert_true(list_empty(&head));
	list_append(&head, &letters[1].hook);
	list_append(&head, &letters[3].hook);
	list_prepend(&head, &letters[0].hook);
	list_insert_before(&letters[3].hook, &letters[2].hook);
	assert_spells(&head, "abcd");
	list_remove(&letters[2].hook);
	list_remove(&letters[0].hook);
	assert_spells(&head, "bd");
}

static void removing_twice_is_harmless(void **state)
{
	(void)state;
	LIST_HEAD(head);
	struct letter a = { 'a', { 0 } }, b = { 'b', { 0 } };
	list_append(&head, &a.hook);
	list_append(&head, &b.hook);
	list_remove(&a.hook);
	list_remove(&a.hook);
	assert_spells(&head, "b");
}

static void all_members_may_go_during_a_walk(void **state)
{
	(void)state;
	LIST_HEAD(head);
	struct letter letters[] = { { 'a', { 0 } }, { 'b', { 0 } }, { 'c', { 0 } } };
	for (int i = 0; i < 3; i++)
		list_append(&head, &letters[i].hook);
	int seen = 0;
	LIST_EACH_SAFE (hook, &head) {
		list_remove(hook);
		seen++;
	}
	assert_int_equal(seen, 3);
	assert_true(list_empty(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_keep_their_order_both_ways),
		cmocka_unit_test(removing_twice_is_harmless),
		cmocka_unit_test(all_members_may_go_during_a_walk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

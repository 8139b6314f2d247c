/* test_table.c: what the gateway's table says of it */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/harness.h"
#include "given.h"
#include "proto/platform_topics.h"
#include "services/platform/gateway/gateway.h"

static void a_shops_status_is_remembered(void **state)
{
	struct harness *harness = harness_new(&gateway, 1);
	ShopStatus paused = { .mode = MODE_PAUSED, .version = 3 }, row;

	(void)state;
	GIVEN(harness, shop_status, &paused, .shop = "demo", .key = "demo", .version = 3);
	assert_true(state_get(harness_state(harness), "status", "demo", "mode", &ShopStatus_msg, &row));
	assert_int_equal(row.mode, MODE_PAUSED);
	assert_false(state_get(harness_state(harness), "status", "other", "mode", &ShopStatus_msg, &row));
	harness_free(harness);
}

static void claims_wait_for_it_and_it_hears_nothing(void **state)
{
	struct buffer manifest = { 0 };

	(void)state;
	service_manifest(&gateway, &manifest);
	assert_non_null(strstr(buffer_text(&manifest), "gateway = yes"));
	assert_null(strstr(buffer_text(&manifest), "hears"));
	assert_null(strstr(buffer_text(&manifest), "[queue"));
	buffer_free(&manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shops_status_is_remembered),
		cmocka_unit_test(claims_wait_for_it_and_it_hears_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

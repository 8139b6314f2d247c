/*
 * conformance_notes.c: what is known of a claim whose process was killed
 */
#include "tests/unit/actor/conformance.h"
#include "tests/unit/cmocka_all.h"

struct scene {
	struct world *world;
	struct ledger ledger;
	struct effect_driver *const *drivers;
};

/* Its claim leaves with this look, and what is answered finds nobody. */
static void pause_at_the_claim(struct ledger *ledger, void *world)
{
	ledger->at_work = NULL;
	world_pause(world, "postman");
}

static bool has_started(struct world *world, void *ledger)
{
	(void)world;
	return ((struct ledger *)ledger)->started > 0;
}

static bool has_gone(struct world *world, void *ledger)
{
	(void)world;
	return ((struct ledger *)ledger)->went > 0;
}

static void open_scene(struct scene *scene, uint64_t seed)
{
	*scene = (struct scene){ .world = world_new(cast, seed), .ledger = { .hold_claim = true } };
	scene->drivers = courier_new(&scene->ledger);
	world_start(scene->world, "postman", &postman, scene->drivers);
	click(scene->world, "cart", 1);
	assert_true(world_until(scene->world, has_started, &scene->ledger));
}

static void close_scene(struct scene *scene)
{
	world_free(scene->world);
	courier_free(scene->drivers);
}

static void kill_claimed(struct scene *scene)
{
	scene->ledger.at_work = pause_at_the_claim;
	scene->ledger.context = scene->world;
	scene->ledger.hold_claim = false;
	await_count(scene->world, &topic_send_claim, NULL, 1);
	assert_int_equal(scene->ledger.went, 0);
	world_kill(scene->world, "postman");
}

void a_claim_that_a_killed_run_did_not_use_is_released(void **context)
{
	struct scene scene;

	(void)context;
	open_scene(&scene, 21);
	kill_claimed(&scene);
	world_restart(scene.world, "postman");
	await_count(scene.world, &topic_reminder_sent, NULL, 1);
	assert_int_equal(world_count(scene.world, &topic_reminder_released, NULL), 1);
	assert_int_equal(world_count(scene.world, &topic_send_claim, NULL), 2);
	assert_int_equal(ledger_times(&scene.ledger, "cart/1"), 1);
	/* Told again by every run that finds the note, and the same for the broker. */
	world_kill(scene.world, "postman");
	world_restart(scene.world, "postman");
	await_ready(scene.world, "postman");
	world_for(scene.world, 100 * US_PER_MS);
	assert_int_equal(world_count(scene.world, &topic_send_unused, NULL), 1);
	close_scene(&scene);
}

void any_other_instance_may_release_it(void **context)
{
	struct ledger ledger = { .count = 0 };
	struct effect_driver *const *others = courier_new(&ledger);
	struct scene scene;

	(void)context;
	open_scene(&scene, 22);
	world_start(scene.world, "other", &postman, others);
	await_ready(scene.world, "other");
	kill_claimed(&scene);
	world_for(scene.world, 100 * US_PER_MS); /* it is handed to the other one, who can only wait */
	assert_int_equal(world_count(scene.world, &topic_reminder_released, NULL), 0);
	scene.ledger.hold_claim = true;
	world_restart(scene.world, "postman");
	await_count(scene.world, &topic_send_unused, NULL, 1);
	scene.ledger.hold_claim = false;
	await_count(scene.world, &topic_reminder_sent, NULL, 1);
	assert_int_equal(ledger_times(&ledger, "cart/1") + ledger_times(&scene.ledger, "cart/1"), 1);
	close_scene(&scene);
	courier_free(others);
}

void what_went_before_the_kill_is_never_released(void **context)
{
	struct scene scene;

	(void)context;
	open_scene(&scene, 23);
	scene.ledger.hold_answer = true;
	scene.ledger.hold_claim = false;
	assert_true(world_until(scene.world, has_gone, &scene.ledger));
	world_kill(scene.world, "postman");
	scene.ledger.hold_answer = false;
	world_restart(scene.world, "postman");
	await_ready(scene.world, "postman");
	world_for(scene.world, 200 * US_PER_MS);
	assert_int_equal(world_count(scene.world, &topic_send_unused, NULL), 0);
	assert_int_equal(world_count(scene.world, &topic_reminder_released, NULL), 0);
	assert_int_equal(scene.ledger.went, 1);
	close_scene(&scene);
}

void without_its_notes_nobody_knows_what_a_killed_run_did(void **context)
{
	struct scene scene;

	(void)context;
	open_scene(&scene, 24);
	kill_claimed(&scene);
	world_forget(scene.world, "postman"); /* the folded state, and the notes beside it */
	world_restart(scene.world, "postman");
	await_ready(scene.world, "postman");
	world_for(scene.world, 200 * US_PER_MS);
	assert_int_equal(world_count(scene.world, &topic_send_unused, NULL), 0);
	assert_int_equal(world_count(scene.world, &topic_reminder_released, NULL), 0);
	assert_int_equal(scene.ledger.went, 0);
	close_scene(&scene);
}

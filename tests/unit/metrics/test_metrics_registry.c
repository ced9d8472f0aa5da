#include "metrics/metrics_registry.h"

#include <criterion/criterion.h>

static struct metrics_registry *registry;

static void begin(void)
{
    registry = metrics_registry_create();
}

static void end(void)
{
    metrics_registry_destroy(registry);
}

TestSuite(metrics_registry, .init = begin, .fini = end);

Test(metrics_registry, lists_what_was_added_in_that_order)
{
    struct worker_metrics *added[20];
    const struct worker_metrics *found[20];
    for (unsigned i = 0; i < 20; i++) {
        added[i] = metrics_registry_add_worker(registry, i / 4, i);
    }
    cr_assert_eq(metrics_registry_workers(registry, found, 20), 20);
    for (unsigned i = 0; i < 20; i++) {
        cr_assert_eq(found[i], added[i]);
        cr_assert_eq(found[i]->worker, i);
    }
    cr_assert_eq(metrics_registry_workers(registry, found, 3), 20, "says how many there are");
}

Test(metrics_registry, a_window_is_shown_while_it_is_assigned)
{
    const struct window_metrics *found[2];
    struct window_metrics *window = metrics_registry_add_window(registry, 0, "orders", 1);
    cr_assert_eq(metrics_registry_windows(registry, found, 2), 1);
    cr_assert_str_eq(found[0]->topic, "orders");
    metrics_registry_remove_window(registry, window);
    cr_assert_eq(metrics_registry_windows(registry, found, 2), 0);
}

Test(metrics_registry, a_window_that_returns_gets_its_entry_back_empty)
{
    struct window_metrics *window = metrics_registry_add_window(registry, 0, "orders", 1);
    window_metrics_set(window, &(struct window_reading){.used = 1, .capacity = 2, .commit_pos = 5});
    metrics_registry_remove_window(registry, window);
    cr_assert_neq(metrics_registry_add_window(registry, 1, "orders", 1), window);
    cr_assert_neq(metrics_registry_add_window(registry, 0, "orders", 2), window);
    cr_assert_eq(metrics_registry_add_window(registry, 0, "orders", 1), window);
    struct window_reading reading;
    window_metrics_read(window, &reading);
    cr_assert_eq(reading.used, 0);
    cr_assert_eq(reading.commit_pos, -1);
    cr_assert_eq(reading.head_since_ms, -1);
}

Test(metrics_registry, the_name_of_a_topic_is_copied)
{
    char topic[] = "orders";
    struct window_metrics *window = metrics_registry_add_window(registry, 0, topic, 1);
    topic[0] = 'x';
    cr_assert_str_eq(window->topic, "orders");
}

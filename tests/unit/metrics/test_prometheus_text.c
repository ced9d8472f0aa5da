#include "metrics/prometheus_text.h"

#include <criterion/criterion.h>
#include <string.h>

static struct byte_buffer text;

static void end(void)
{
    byte_buffer_fini(&text);
}

TestSuite(prometheus_text, .fini = end);

Test(prometheus_text, a_histogram_is_cumulative_and_ends_with_all)
{
    struct histogram histogram = {0};
    struct histogram_reading reading;
    histogram_add(&histogram, &histogram_coarse, 1, 2);
    histogram_add(&histogram, &histogram_coarse, 60000, 1);
    histogram_add(&histogram, &histogram_coarse, 7200000, 1);
    histogram_read(&histogram, &reading);
    prometheus_text_histogram(&text, "x_seconds", "a=\"b\"", &histogram_coarse, &reading);
    cr_assert_str_eq(byte_buffer_text(&text), "moontide_x_seconds_bucket{a=\"b\",le=\"0.001\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.002\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.005\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.01\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.02\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.05\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.1\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.2\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"0.5\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"1\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"2\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"5\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"10\"} 2\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"60\"} 3\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"600\"} 3\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"3600\"} 3\n"
                                              "moontide_x_seconds_bucket{a=\"b\",le=\"+Inf\"} 4\n"
                                              "moontide_x_seconds_sum{a=\"b\"} 7260.002\n"
                                              "moontide_x_seconds_count{a=\"b\"} 4\n");
}

Test(prometheus_text, the_bounds_of_both_scales_are_seconds)
{
    struct histogram_reading reading = {.count = 0};
    prometheus_text_histogram(&text, "x", "a=\"b\"", &histogram_fine, &reading);
    cr_assert(strstr(byte_buffer_text(&text), "le=\"1e-06\"} 0\n"));
    cr_assert(strstr(byte_buffer_text(&text), "le=\"60\"} 0\n"));
    cr_assert(strstr(byte_buffer_text(&text), "_sum{a=\"b\"} 0.000000000\n"));
}

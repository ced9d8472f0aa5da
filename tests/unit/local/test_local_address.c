#include "local/local_address.h"

#include <criterion/criterion.h>

Test(local_address, a_file_has_its_path_and_a_standard_stream_none)
{
    struct error err;
    const char *path = "untouched";
    cr_assert(local_address_parse("file:dir/a=b", &path, &err));
    cr_assert_str_eq(path, "dir/a=b");
    cr_assert(local_address_parse("-", &path, &err));
    cr_assert_null(path);
}

Test(local_address, a_topic_is_not_an_address)
{
    struct error err;
    const char *path;
    cr_assert_not(local_address_matches("orders"));
    cr_assert_not(local_address_parse("orders", &path, &err));
    cr_assert_eq(err.code, E_USAGE);
    cr_assert_str_eq(err.text, "\"orders\" is neither file:PATH nor -");
}

Test(local_address, a_file_without_a_path_is_an_error)
{
    struct error err;
    const char *path;
    cr_assert(local_address_matches("file:"));
    cr_assert_not(local_address_parse("file:", &path, &err));
    cr_assert_str_eq(err.text, "\"file:\" lacks a path: write file:PATH");
}

Test(local_address, an_input_may_not_be_given_twice)
{
    struct error err;
    const char *const once[] = {"-", "file:a", "file:b"};
    const char *const twice[] = {"-", "file:a", "-"};
    cr_assert(local_address_check_inputs(once, 3, &err));
    cr_assert(local_address_check_inputs(NULL, 0, &err));
    cr_assert_not(local_address_check_inputs(twice, 3, &err));
    cr_assert_str_eq(err.text, "input \"-\" is given twice");
}

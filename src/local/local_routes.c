#include "local/local_routes.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/memory.h"
#include "local/local_address.h"

/* `topic=target`, taken apart. */
struct route {
    char *topic;        /* NULL: the default */
    const char *target; /* borrowed until open returns */
    size_t output;      /* index */
};

struct local_routes {
    struct route *routes IMMUTABLE;
    size_t route_count IMMUTABLE;
    struct local_output **outputs IMMUTABLE;
    size_t output_count IMMUTABLE;
};

static bool add_route(struct local_routes *routes, const char *text, struct error *err);
static bool spares_inputs(const struct local_routes_options *options, const char *target,
                          struct error *err);
static bool open_route(struct local_routes *routes, struct route *route,
                       const struct local_routes_options *options, struct error *err);

/* Where the target begins in `TOPIC=TARGET` and `TARGET`; NULL: neither. */
static const char *target_of(const char *text)
{
    if (local_address_matches(text)) {
        return text;
    }
    const char *equals = strchr(text, '=');
    return equals && equals > text && local_address_matches(equals + 1) ? equals + 1 : NULL;
}

bool local_routes_matches(const char *output)
{
    return target_of(output) != NULL;
}

struct local_routes *local_routes_open(const struct local_routes_options *options,
                                       struct error *err)
{
    CHECK(options->outputs != NULL || options->output_count == 0);
    CHECK(options->inputs != NULL || options->input_count == 0);
    struct local_routes *routes = memory_alloc(sizeof *routes);
    routes->routes = memory_alloc_array(options->output_count, sizeof *routes->routes);
    routes->outputs = memory_alloc_array(options->output_count, sizeof(struct local_output *));
    bool good = true;
    for (size_t i = 0; i < options->output_count && good; i++) { /* nothing is opened yet */
        good = add_route(routes, options->outputs[i], err) &&
               spares_inputs(options, routes->routes[i].target, err);
    }
    for (size_t i = 0; i < options->output_count && good; i++) {
        good = open_route(routes, routes->routes + i, options, err);
    }
    if (!good) {
        local_routes_close(routes);
        return NULL;
    }
    return routes;
}

static bool add_route(struct local_routes *routes, const char *text, struct error *err)
{
    const char *target = target_of(text);
    if (target == NULL) {
        return error_set(err, E_USAGE,
                         "output \"%s\" is neither file:PATH nor -, nor TOPIC= and one", text);
    }
    CHECK(target >= text);
    char *topic = target == text ? NULL : memory_copy_bytes(text, (size_t)(target - text) - 1);
    struct route *route = routes->routes + routes->route_count++;
    *route = (struct route){.topic = topic, .target = target};
    for (struct route *other = routes->routes; other < route; other++) {
        if (topic == NULL && other->topic == NULL) {
            return error_set(err, E_USAGE, "two default outputs: %s and %s; write TOPIC=%s for one",
                             other->target, target, target);
        }
        if (topic && other->topic && strcmp(topic, other->topic) == 0) {
            return error_set(err, E_USAGE, "topic %s has two outputs: %s and %s", topic,
                             other->target, target);
        }
    }
    return true;
}

static bool look_at(const char *path, int stream, struct stat *status)
{
    return (path ? stat(path, status) : fstat(stream, status)) == 0;
}

static bool is_same(const struct stat *one, const struct stat *two)
{
    return one->st_dev == two->st_dev && one->st_ino == two->st_ino;
}

/* Both are one regular file, by whatever names, or by a standard stream (NULL). */
static bool is_same_file(const char *output_path, const char *input_path)
{
    struct stat output, input;
    return look_at(output_path, STDOUT_FILENO, &output) &&
           look_at(input_path, STDIN_FILENO, &input) && S_ISREG(output.st_mode) &&
           is_same(&output, &input);
}

static bool spares_inputs(const struct local_routes_options *options, const char *target,
                          struct error *err)
{
    const char *output_path;
    if (!local_address_parse(target, &output_path, err)) {
        return error_prefix(err, "output");
    }
    for (size_t i = 0; i < options->input_count; i++) {
        const char *input_path;
        if (!local_address_parse(options->inputs[i], &input_path, err)) {
            return error_prefix(err, "input");
        }
        if (is_same_file(output_path, input_path)) {
            return error_set(err, E_USAGE, "output %s would %s input %s: they are the same file",
                             target, output_path ? "empty" : "write into", options->inputs[i]);
        }
    }
    return true;
}

/* The target is the file, pipe or device of this output, perhaps by another name. */
static bool is_open_as(const struct local_output *output, const char *target)
{
    struct error err;
    const char *path;
    const char *other_path;
    bool parsed = local_address_parse(local_output_name(output), &path, &err) &&
                  local_address_parse(target, &other_path, &err);
    CHECK(parsed);
    struct stat status, other;
    return look_at(path, STDOUT_FILENO, &status) && look_at(other_path, STDOUT_FILENO, &other) &&
           is_same(&status, &other);
}

/* An output that is open already is shared: two writers of one file would overwrite each other. */
static bool open_route(struct local_routes *routes, struct route *route,
                       const struct local_routes_options *options, struct error *err)
{
    for (size_t i = 0; i < routes->output_count; i++) {
        if (is_open_as(routes->outputs[i], route->target)) {
            route->output = i;
            return true;
        }
    }
    struct local_output *output =
        local_output_open(route->target, options->framing, options->append, err);
    if (output == NULL) {
        return false;
    }
    route->output = routes->output_count;
    routes->outputs[routes->output_count++] = output;
    return true;
}

void local_routes_close(struct local_routes *routes)
{
    if (routes == NULL) {
        return;
    }
    for (size_t i = routes->output_count; i > 0; i--) {
        local_output_close(routes->outputs[i - 1]);
    }
    for (size_t i = 0; i < routes->route_count; i++) {
        memory_free(routes->routes[i].topic);
    }
    memory_free(routes->outputs);
    memory_free(routes->routes);
    memory_free(routes);
}

size_t local_routes_output_count(const struct local_routes *routes)
{
    return routes->output_count;
}

struct local_output *local_routes_output(const struct local_routes *routes, size_t index)
{
    CHECK(index < routes->output_count);
    return routes->outputs[index];
}

bool local_routes_find(const struct local_routes *routes, const char *topic, size_t *index,
                       struct error *err)
{
    for (size_t i = 0; i < routes->route_count; i++) {
        DCHECK(routes->routes[i].output < routes->output_count);
        const char *known = routes->routes[i].topic;
        if (topic == known || (topic && known && strcmp(topic, known) == 0)) {
            *index = routes->routes[i].output;
            return true;
        }
    }
    if (topic == NULL) {
        return error_set(err, E_IO, "no default output: add --out - or --out file:PATH");
    }
    return error_set(err, E_IO, "topic %s has no output: add --out %s=file:PATH", topic, topic);
}

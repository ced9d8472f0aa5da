/*
 * Annotations: the words in which the code states who may call and who may touch.
 *
 * Why: "poll thread only" in a comment is a hope; as a capability of clang's thread-safety analysis
 * it is a compile error elsewhere. gcc sees empty macros. thread_role.h checks the same at run
 * time.
 *
 * Thread: none, macros only.
 */
#ifndef BASE_ANNOTATIONS_H
#define BASE_ANNOTATIONS_H

#if defined(__clang__)
#define TIDE_CLANG(x) __attribute__((x))
#else
#define TIDE_CLANG(x)
#endif

/* A role is a global of this type; a thread holds it for its whole life. */
#define ROLE_TYPE TIDE_CLANG(capability("role"))
/* Field: only the thread with this role reads or writes it. */
#define OWNED_BY(role) TIDE_CLANG(guarded_by(role))
/* Function: only the thread with this role calls it. */
#define ON_THREAD(role) TIDE_CLANG(requires_capability(role))
/* Function: from here on the analysis takes the caller to hold the role. */
#define ASSERTS_ROLE(role) TIDE_CLANG(assert_capability(role))
/* A lock, and the functions that take, give back or need it. */
#define LOCK_TYPE          TIDE_CLANG(capability("mutex"))
#define ACQUIRES(...)      TIDE_CLANG(acquire_capability(__VA_ARGS__))
#define RELEASES(...)      TIDE_CLANG(release_capability(__VA_ARGS__))
#define REQUIRES(...)      TIDE_CLANG(requires_capability(__VA_ARGS__))
#define NO_THREAD_ANALYSIS TIDE_CLANG(no_thread_safety_analysis)
/* Documentation of a field that no analysis can check. */
#define IMMUTABLE
#define ATOMIC(writer, reader)

#define MUST_USE             __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, at) __attribute__((format(printf, fmt, at)))
#define NORETURN             __attribute__((noreturn))
#define LIKELY(x)            __builtin_expect(!!(x), 1)
#define UNLIKELY(x)          __builtin_expect(!!(x), 0)
/* Visible outside the binary: the functions that Lua's FFI looks up. */
#define EXPORTED __attribute__((visibility("default"), used))

enum { CACHE_LINE = 64 };

#endif

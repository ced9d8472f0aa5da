/*
 * luajit_version: which LuaJIT is linked.
 *
 * Why: the version in LuaJIT's header is the one of the build; faults belong to the one that runs.
 *
 * Thread: any.
 */
#ifndef SCRIPT_LUAJIT_VERSION_H
#define SCRIPT_LUAJIT_VERSION_H

#include <stddef.h>

/* Writes "LuaJIT 2.1.0-beta3", cut to `size` with its NUL. */
void luajit_version(char *text, size_t size);

#endif

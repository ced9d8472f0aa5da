/*
 * version: the version of the program.
 *
 * Thread: any.
 */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

/* "0.1.0"; constant. */
static inline const char *version_text(void)
{
    return "0.1.0";
}

#endif

/*
 * cli: from the words of the command line to a command, and from its end to an exit code.
 *
 * Thread: main thread.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* The whole program. Returns the exit code of the process. */
int cli_main(int argc, char **argv);

#endif

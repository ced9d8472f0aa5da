/*
 * signals: SIGINT and SIGTERM ask the engine for a drain and the end; a second one, a fifth of a
 * second later or more, goes at once.
 * SIGUSR1 asks for the state in the log.
 *
 * Why: a handler needs one thing that it can reach without an argument; it is the only mutable
 * global of the command line. The handlers do nothing but engine_stop, which is made for it, or
 * note that a signal came.
 *
 * Thread: main thread.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

struct engine;

/* From now on signals stop this engine. */
void signals_open(struct engine *engine);
/* The default actions are back. */
void signals_close(void);
/* From now on the process ends with this code after so many seconds, whatever it does: a library's
 * farewell must not keep it. */
void signals_deadline(unsigned seconds, int exit_code);
/* How many of them came. */
int signals_count(void);
/* True once after each SIGUSR1, which asks for the state in the log; several may count as one. */
bool signals_take_report(void);
/* From the start of the process on: a reader that goes away ends the output and not the process,
 * and SIGUSR1 does nothing before there is a state to show. */
void signals_ignore(void);

#endif

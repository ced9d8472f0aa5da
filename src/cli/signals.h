/*
 * signals: SIGINT and SIGTERM ask the engine for a drain and the end; a second one goes at once.
 *
 * Why: a handler needs one thing that it can reach without an argument; it is the only mutable
 * global of the command line. The handler does nothing but engine_stop, which is made for it.
 *
 * Thread: main thread.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

struct engine;

/* From now on signals stop this engine. */
void signals_open(struct engine *engine);
/* The default actions are back. */
void signals_close(void);
/* From now on the process ends with this code after so many seconds, whatever it does: a library's
 * farewell must not keep it. */
void signals_deadline(unsigned seconds, int exit_code);
/* How many signals came. */
int signals_count(void);

#endif

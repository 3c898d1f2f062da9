/* For the wheel's libraries. Debian's libjansson.a compares a stream with stdin in code that a shared library cannot
 * have (it is position-independent for programs only). Here it finds a stdin of its own, which no stream is equal to;
 * all that follows from that is a name in messages of json_loadf, which nothing here calls. */
#include <stdio.h>

#undef stdin
extern __attribute__((visibility("hidden"))) FILE *stdin;
FILE *stdin;

/*
 * Rule: bytes come when they come; a line is there when its end is.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stdint.h>

extern int64_t lines_came; /* when the bytes read last were read */

bool lines_read(void);        /* waits for more bytes; false at the end of input */
bool lines_are_coming(void);  /* whether there is something to read now, the end included */

/* The next whole line without its end, or NULL. Empty lines and the gap between CR and LF are left out. */
char *lines_next(void);
char *lines_peek(void);       /* the same, but the line stays the next one */

/* What follows the keyword in a line, or NULL if the line is another command. */
const char *arguments(const char *line, const char *keyword);

#endif

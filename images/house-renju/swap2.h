/*
 * Rule: whoever may choose a colour takes the better one, and whoever lets choose makes it even.
 */
#ifndef SWAP2_H
#define SWAP2_H

#include <stdbool.h>

/* Serves SWAP2BOARD; false for any other command. */
bool swap2_takes(const char *line);

#endif

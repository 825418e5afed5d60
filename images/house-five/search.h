/*
 * Rule: deepen until the deadline, then return the best move found so far.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "board.h"

#include <stdint.h>

enum { LONGEST_LINE = 8 };

/* What a search found: `how` it did, how deep, and the value for the side that asked. */
struct report {
    const char *how;
    int depth, value;
    long nodes;
    int line[LONGEST_LINE], length; /* the expected line of play */
};

/* What to search. A deadline that has passed asks for a move by static evaluation. */
struct task {
    enum side side;
    int64_t deadline;
    const int *only; /* the only cells to choose from, `only_count` of them; NULL: all */
    int only_count;
    void (*tell)(const struct report *report); /* after each depth; may be NULL */
};

void search_forget(void); /* before a new game, or when the rule has changed */

/* The cell to play, or NO_CELL if none is free; a forbidden one only if no other is left. */
int search_move(const struct task *task, struct report *report);

#endif

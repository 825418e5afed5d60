/*
 * Rule: SETRULE names how a game opens; who is asked when tells what part one has in it.
 *
 * The interface never says which colour the engine has. Its part follows from the number of stones and
 * from what it was asked before: who laid the last stone does not decide about a change, and who was
 * asked plainly at four stones is Black, who offers fifths.
 */
#ifndef PROCEDURE_H
#define PROCEDURE_H

#include "squares.h"

#include <stdbool.h>
#include <stdint.h>

enum change { NO_CHANGE, FIRST_CHANGE, THIRD_CHANGE };
enum fifths { ONE_FIFTH, TWO_FIFTHS, MANY_FIFTHS };

struct procedure {
    enum change change;
    enum fifths fifths;
};

/* What the interface asks: a choice among all points, or among `only_count` of them. */
struct question {
    int64_t deadline;
    int only[MOST_SQUARES], only_count;
};

/* One point or more, or to change colours. */
struct decision {
    bool change;
    int points[2], count;
};

extern struct procedure procedure;

void procedure_forget(void); /* a new game begins */

/* Decides where the opening procedure asks for something else than the best move; else false. */
bool procedure_decides(const struct question *question, struct decision *decision);

#endif

/*
 * Rule: what a stone makes in one line, and in its four lines together, is looked up in tables, one set
 * of tables for each way to win.
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdint.h>

enum { REACH = 5, DIGITS = 2 * REACH }; /* the cells of a line around the one in question */
enum { SHAPE_BITS = 4, SHAPE_MASK = 15 };

/* What a stone on a cell makes in one direction. Two steps apart is one stone apart: a line that is
 * OPEN_THREE now can become OPEN_FOUR with the next stone. The last two exist for renju's Black only. */
enum shape {
    DEAD, ONE, OPEN_ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE,
    DOUBLE_FOUR, /* two fours in one line */
    OVERLINE,
    SHAPES
};

/* What a stone on a cell threatens, all four directions taken together. */
enum threat {
    NO_THREAT,
    FORBIDDEN, /* an overline or two fours of renju's Black */
    DOUBTFUL,  /* two open threes of renju's Black or more: forbidden if two of them are real (fouls.h) */
    OPEN_THREE_THREAT,
    DOUBLE_THREE_THREAT,
    FOUR_THREAT,
    FOUR_THREE_THREAT,
    OPEN_FOUR_THREAT, /* or two fours: either way the next stone makes five */
    FIVE_THREAT,
    THREATS
};

/* What wins for one side. */
enum goal { FIVE_OR_MORE, EXACTLY_FIVE, RENJU_BLACK, CARO, CARO_OR_MORE, GOALS };

/* The tables of one goal. A line is a number in base `base`, whose digits are 0 free, 1 mine, 2 the
 * opponent's, `wall` beyond the board; a set is four shapes of SHAPE_BITS each. */
struct shapes {
    int base, wall;
    const int *power; /* of the base, by digit */
    const uint8_t *of_line;
    const uint8_t *threat_of_set;
    const int16_t *worth_of_set;
};

/* The tables of a goal, made when they are first asked for. */
const struct shapes *shapes_for(enum goal goal);

/* The digit of the cell that lies `offset` steps from the middle (-5..-1, 1..5). */
static inline int digit_of(int offset) { return offset < 0 ? offset + REACH : offset + REACH - 1; }

#endif

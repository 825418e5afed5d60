/*
 * Rule: replies that are forced are all there is to search; free choices are cut to the best looking.
 */
#ifndef MOVES_H
#define MOVES_H

#include "board.h"

enum { MOST_MOVES = CELLS, FORCED_WIDTH = 64 };

struct move {
    int at, order;
};

/* The legal moves worth searching, best first, in room for the larger of `width` and FORCED_WIDTH: none
 * if the opponent makes five or an open four next and every reply is forbidden, or if no stone is
 * near any free cell. */
int moves_collect(enum side side, struct move *moves, int width);

/* Those of `cells` that are free and legal, best first. */
int moves_among(enum side side, struct move *moves, const int *cells, int count);

void moves_prefer(struct move *moves, int count, int at);       /* brings a move to the front */
void moves_reward(enum side side, int at, int depth);           /* it refuted the line before it */
void moves_forget(void);

#endif

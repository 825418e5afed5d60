/*
 * Rule: whoever lets the other choose makes the position even; whoever chooses takes the better side.
 */
#ifndef OPENING_H
#define OPENING_H

#include "board.h"

#include <stdint.h>

/* The value of the position for `side`, which is to move. */
int opening_value(enum side side, int64_t deadline);

/* The one of `cells` on which a stone of `side` leaves the most even position. */
int opening_most_even(const int *cells, int count, enum side side, int64_t deadline);

/* The one of `cells` on which a stone of `side` is best for the opponent, who moves next. */
int opening_best_for_other(const int *cells, int count, enum side side, int64_t deadline);

#endif

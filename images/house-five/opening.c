/*
 * Rule: a position is worth the mean of the two deepest searches, because the side that moves last in
 * what is looked at always seems better off.
 */
#include "opening.h"

#include "clock.h"
#include "search.h"
#include "table.h"

#include <limits.h>
#include <stdlib.h>

static int depths_told, deepest[2]; /* the latest first */

static void note_value(const struct report *report)
{
    deepest[1] = deepest[0];
    deepest[0] = report->value;
    depths_told++;
}

int opening_value(enum side side, int64_t deadline)
{
    struct report report;
    depths_told = 0;
    search_move(&(struct task){.side = side, .deadline = deadline, .tell = note_value}, &report);
    bool is_decided = abs(report.value) > SURE_WIN;
    return depths_told < 2 || is_decided ? report.value : (deepest[0] + deepest[1]) / 2;
}

/* The cell whose value for the opponent, once a stone lies there, costs least. Each has its share of time. */
static int cheapest(const int *cells, int count, enum side side, int64_t deadline, int (*cost)(int))
{
    int best = NO_CELL, least = INT_MAX;
    for (int i = 0; i < count; i++) {
        int64_t now = milliseconds_now();
        board_put(cells[i], side);
        int costs = cost(opening_value(other(side), now + (deadline - now) / (count - i)));
        board_take(cells[i]);
        if (costs >= least)
            continue;
        least = costs;
        best = cells[i];
    }
    return best;
}

static int negated(int value)
{
    return -value;
}

int opening_most_even(const int *cells, int count, enum side side, int64_t deadline)
{
    return cheapest(cells, count, side, deadline, abs);
}

int opening_best_for_other(const int *cells, int count, enum side side, int64_t deadline)
{
    return cheapest(cells, count, side, deadline, negated);
}

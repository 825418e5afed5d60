/*
 * Rule: lay what is even, change to what is better, offer the best two fifths, keep the worst for Black.
 */
#include "procedure.h"

#include "../house-five/board.h"
#include "../house-five/clock.h"
#include "../house-five/opening.h"
#include "../house-five/search.h"
#include "../house-five/symmetry.h"

#include <string.h>

enum { MIDDLE = AGI_SIDE / 2, WHOLE_BOARD = MIDDLE, FIFTHS_REACH = 5, AT_FIFTH = 4 };

struct procedure procedure;
static bool was_asked[AT_FIFTH + 1]; /* plainly, by the number of stones on the board */

void procedure_forget(void)
{
    memset(was_asked, 0, sizeof was_asked);
}

static bool decide(struct decision *decision, int point)
{
    *decision = (struct decision){.points = {point}, .count = 1};
    return point != NO_CELL;
}

/* ---- laying stones ---- */

/* The first stone decides nothing where it must be the middle, or where nobody may change after it. */
static bool lay_first(const struct question *question, struct decision *decision)
{
    int choices[MOST_SQUARES];
    if (procedure.change != FIRST_CHANGE || board.rule == RENJU)
        return decide(decision, cell_at(MIDDLE, MIDDLE));
    int count = symmetry_choices(choices, WHOLE_BOARD);
    return decide(decision, opening_most_even(choices, count, BLACK, question->deadline));
}

/* Stone 2 lies within one step of the middle and stone 3 within two: renju's 26 openings. */
static bool lay_near(const struct question *question, int reach, struct decision *decision)
{
    int choices[MOST_SQUARES];
    int count = symmetry_choices(choices, reach);
    return decide(decision, opening_most_even(choices, count, board_turn(), question->deadline));
}

/* ---- changing colours ---- */

/* White is to move after an odd stone, and who is asked has White as long as it does not change. */
static bool change_if_better(const struct question *question, struct decision *decision)
{
    *decision = (struct decision){.change = true};
    int64_t now = milliseconds_now();
    return opening_value(WHITE, now + (question->deadline - now) / 2) < 0;
}

static bool may_change(void)
{
    int stones = procedure.change == FIRST_CHANGE ? 1 : 3;
    return procedure.change != NO_CHANGE && board.stones == stones && !was_asked[stones - 1];
}

/* ---- fifths ---- */

static int best_among(const int *points, int count, int64_t deadline)
{
    struct report report;
    return search_move(&(struct task){BLACK, deadline, points, count, NULL}, &report);
}

static void drop(int *points, int count, int point)
{
    for (int i = 0; i < count; i++)
        if (points[i] == point)
            points[i] = points[count - 1];
}

/* How many are wanted is not said under FIVEMULITY: one now, and the next when asked again. */
static bool offer_fifths(const struct question *question, struct decision *decision)
{
    int choices[MOST_SQUARES];
    int count = symmetry_choices(choices, FIFTHS_REACH);
    int64_t now = milliseconds_now();
    int wanted = procedure.fifths == TWO_FIFTHS ? 2 : 1;
    *decision = (struct decision){.count = wanted};
    for (int i = 0; i < wanted; i++) {
        int64_t until = now + (question->deadline - now) * (i + 1) / wanted;
        decision->points[i] = best_among(choices, count, until);
        drop(choices, count--, decision->points[i]);
    }
    return true;
}

static bool settle_fifth(const struct question *question, struct decision *decision)
{
    if (question->only_count == 0)
        return offer_fifths(question, decision);
    if (was_asked[AT_FIFTH]) /* as Black, who has offered one already */
        return decide(decision, best_among(question->only, question->only_count, question->deadline));
    return decide(decision, opening_best_for_other(question->only, question->only_count, BLACK,
                                                   question->deadline));
}

/* ---- who decides what ---- */

static bool decides_at(int stones, const struct question *question, struct decision *decision)
{
    if (stones == AT_FIFTH && procedure.fifths != ONE_FIFTH)
        return settle_fifth(question, decision);
    if (question->only_count > 0)
        return false;
    if (may_change())
        return change_if_better(question, decision);
    if (stones == 0)
        return lay_first(question, decision);
    if (procedure.change == THIRD_CHANGE && stones < 3)
        return lay_near(question, stones, decision);
    return false;
}

bool procedure_decides(const struct question *question, struct decision *decision)
{
    int stones = board.stones;
    if (stones > AT_FIFTH)
        return false;
    bool decided = decides_at(stones, question, decision);
    was_asked[stones] |= question->only_count == 0;
    return decided;
}

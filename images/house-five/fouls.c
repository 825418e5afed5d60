/*
 * Rule: a three is real if some stone makes a straight four of it and is itself neither a five nor
 * forbidden; that is asked of the position with the three on the board, as deep as it goes.
 *
 * The tables know overlines, fours and candidates for threes. Only two candidates or more are in doubt.
 */
#include "fouls.h"

static bool extends_to_straight_four(int at, int direction)
{
    return board_shape(at, BLACK, direction) == OPEN_FOUR && board_threat(at, BLACK) != FIVE_THREAT &&
           !is_forbidden(at, BLACK);
}

/* Whether the three that the stone on `at` has made in one direction is real. It becomes a straight
 * four on the first free cell on either side: a row of four holds no gap. */
static bool is_real_three(int at, int direction)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        int step = sign * DIRECTIONS[direction], cell = at + step;
        while (board.cell[cell].content == BLACK_STONE)
            cell += step;
        if (board.cell[cell].content == FREE && extends_to_straight_four(cell, direction))
            return true;
    }
    return false;
}

static bool makes_two_real_threes(int at)
{
    bool candidate[4];
    int real = 0;
    for (int direction = 0; direction < 4; direction++)
        candidate[direction] = board_shape(at, BLACK, direction) == OPEN_THREE;
    board_put(at, BLACK);
    for (int direction = 0; direction < 4 && real < 2; direction++)
        real += candidate[direction] && is_real_three(at, direction);
    board_take(at);
    return real > 1;
}

bool is_forbidden(int at, enum side side)
{
    enum threat threat = board_threat(at, side);
    return threat == FORBIDDEN || (threat == DOUBTFUL && makes_two_real_threes(at));
}

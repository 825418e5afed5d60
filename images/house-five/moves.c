/*
 * Rule: the best looking move builds much, spoils much and has refuted much before.
 */
#include "moves.h"

#include "fouls.h"

#include <string.h>

enum { HISTORY_LIMIT = 1 << 12 };

static int history[2][CELLS]; /* how often a move refuted the line before it */

void moves_forget(void)
{
    memset(history, 0, sizeof history);
}

static struct move rated(int at, enum side side)
{
    int built_and_spoilt = board_worth(at, side) + board_worth(at, other(side));
    return (struct move){at, 8 * built_and_spoilt + history[side][at] / 16};
}

/* Against an open four in the making only three kinds of stone help: a four of one's own, the cell
 * itself, or another cell of a five it would lead to. On the last two the opponent makes a four too,
 * though it may be one that is forbidden. */
static bool answers_open_four(int at, enum side side)
{
    enum threat foe = board_threat(at, other(side));
    return makes_four(board_threat(at, side)) || makes_four(foe) || foe == FORBIDDEN || foe == DOUBTFUL;
}

/* Keeps the `width` best moves, best first. Most candidates fail the first comparison. */
static int insert_move(struct move *moves, int count, int width, struct move move)
{
    if (count == width && moves[count - 1].order >= move.order)
        return count;
    int i = count < width ? count++ : count - 1;
    for (; i > 0 && moves[i - 1].order < move.order; i--)
        moves[i] = moves[i - 1];
    moves[i] = move;
    return count;
}

/* Only now, because to ask about a doubtful cell changes the order of the frontier. */
static int drop_forbidden(enum side side, struct move *moves, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!is_forbidden(moves[i].at, side))
            moves[kept++] = moves[i];
    return kept;
}

int moves_collect(enum side side, struct move *moves, int width)
{
    enum side foe = other(side);
    if (board.count[foe][FIVE_THREAT] > 0) {
        moves[0] = (struct move){board_find(foe, FIVE_THREAT), 0};
        return drop_forbidden(side, moves, 1);
    }
    bool forced = board.count[foe][OPEN_FOUR_THREAT] > 0;
    int count = 0;
    for (int i = 0; i < board.frontier_size; i++) {
        int at = board.frontier[i];
        if (board_threat(at, side) != FORBIDDEN && (!forced || answers_open_four(at, side)))
            count = insert_move(moves, count, forced ? FORCED_WIDTH : width, rated(at, side));
    }
    return drop_forbidden(side, moves, count);
}

int moves_among(enum side side, struct move *moves, const int *cells, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (is_free(cells[i]))
            kept = insert_move(moves, kept, MOST_MOVES, rated(cells[i], side));
    return drop_forbidden(side, moves, kept);
}

void moves_prefer(struct move *moves, int count, int at)
{
    for (int i = 1; i < count; i++)
        if (moves[i].at == at) {
            struct move move = moves[i];
            memmove(moves + 1, moves, (size_t)i * sizeof moves[0]);
            moves[0] = move;
            return;
        }
}

void moves_reward(enum side side, int at, int depth)
{
    history[side][at] += depth * depth;
    if (history[side][at] < HISTORY_LIMIT)
        return;
    for (int i = 0; i < CELLS; i++) {
        history[BLACK][i] /= 2;
        history[WHITE][i] /= 2;
    }
}

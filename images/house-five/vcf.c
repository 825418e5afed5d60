/*
 * Rule: try every four, answer each with the only reply, until a five cannot be stopped.
 *
 * VCF, victory by continuous fours. What it finds is proven, for the opponent never has a choice; where
 * the only reply is forbidden, it has not even that. What failed is remembered, for the same fours in
 * another order lead to the same positions.
 */
#include "vcf.h"

#include "clock.h"
#include "fouls.h"

#include <string.h>

enum { SLOTS = 1 << 16, MOST_FOURS = 64 };

struct four {
    int at, worth;
};

static uint64_t failed[SLOTS]; /* position key, its lowest byte replaced by the depth that was tried */
static long nodes_left;

void vcf_forget(void)
{
    memset(failed, 0, sizeof failed);
}

static bool is_known_to_fail(uint64_t key, int depth)
{
    uint64_t entry = failed[key >> 32 & (SLOTS - 1)];
    return (entry ^ key) >> 8 == 0 && (int)(entry & 255) >= depth;
}

static void remember_failure(uint64_t key, int depth)
{
    failed[key >> 32 & (SLOTS - 1)] = (key & ~(uint64_t)255) | (uint64_t)depth;
}

/* The cell that completes the four which the stone on `at` has just made. */
static int five_of_four(int at, enum side side)
{
    for (int direction = 0; direction < 4; direction++)
        for (int offset = -4; offset <= 4; offset++) {
            int cell = at + offset * DIRECTIONS[direction];
            if (board.cell[cell].content == FREE && board_threat(cell, side) == FIVE_THREAT)
                return cell;
        }
    return NO_CELL;
}

/* All fours; under an opponent's four only the one that also blocks it. */
static int collect_fours(enum side side, struct four *fours)
{
    bool must_block = board.count[other(side)][FIVE_THREAT] > 0;
    int count = 0;
    for (int i = 0; i < board.frontier_size && count < MOST_FOURS; i++) {
        int at = board.frontier[i];
        if (!makes_four(board_threat(at, side)))
            continue;
        if (must_block && board_threat(at, other(side)) != FIVE_THREAT)
            continue;
        fours[count++] = (struct four){at, board_worth(at, side)};
    }
    return count;
}

/* Brings the worthiest four to place `i`: cheaper than sorting what a success leaves untried. */
static void bring_best_forward(struct four *fours, int count, int i)
{
    int best = i;
    for (int j = i + 1; j < count; j++)
        if (fours[j].worth > fours[best].worth)
            best = j;
    struct four four = fours[best];
    fours[best] = fours[i];
    fours[i] = four;
}

static int search_fours(enum side side, int depth, int *first);

static int search_after_reply(int reply, enum side side, int depth)
{
    int next;
    board_put(reply, other(side));
    int plies = search_fours(side, depth - 1, &next);
    board_take(reply);
    return plies > 0 ? plies + 2 : 0;
}

/* Plies to the five after the four on `at`, with its forced reply; 0 if it leads nowhere. */
static int search_after_four(int at, enum side side, int depth)
{
    int plies;
    board_put(at, side);
    if (board.count[side][FIVE_THREAT] > 1) {
        plies = 3; /* two fives to choose from, and nothing left to answer them with */
    } else {
        int reply = five_of_four(at, side);
        plies = is_forbidden(reply, other(side)) ? 3 : search_after_reply(reply, side, depth);
    }
    board_take(at);
    return plies;
}

static int search_fours(enum side side, int depth, int *first)
{
    if (board.count[side][FIVE_THREAT] > 0) {
        *first = board_find(side, FIVE_THREAT);
        return 1;
    }
    if (depth == 0 || board.count[other(side)][FIVE_THREAT] > 1)
        return 0;
    if (nodes_left-- <= 0 || clock_must_stop())
        return 0;
    uint64_t key = board_key(side);
    if (is_known_to_fail(key, depth))
        return 0;
    struct four fours[MOST_FOURS];
    int count = collect_fours(side, fours);
    for (int i = 0; i < count; i++) {
        bring_best_forward(fours, count, i);
        int plies = search_after_four(fours[i].at, side, depth);
        if (plies > 0) {
            *first = fours[i].at;
            return plies;
        }
    }
    if (!out_of_time && nodes_left > 0)
        remember_failure(key, depth);
    return 0;
}

int vcf_search(enum side side, int depth, long node_limit, int *first)
{
    if (board.rule == STANDARD_CARO || board.rule == CARO_WITH_OVERLINES)
        return 0; /* a four can also be answered at the end of the five to come */
    nodes_left = node_limit;
    return search_fours(side, depth, first);
}

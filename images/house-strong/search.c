/*
 * Rule: fives and fours are never searched but looked up; alpha-beta decides about the rest.
 *
 * Principal variation search with iterative deepening, a transposition table, late move reductions
 * and, where the depth ends, a search of victories by continuous fours (VCF). The threats that the
 * board counts settle a position at once when a five or an open four is there to take, and narrow the
 * choice to the forced replies when the opponent threatens one.
 */
#include "search.h"

#include "board.h"
#include "clock.h"
#include "vcf.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WIN = 30000, SURE_WIN = WIN - 1000, EVALUATION_LIMIT = 20000 };
enum { MAX_DEPTH = 60, MAX_PLY = 120, WIDTH = 20, FORCED_WIDTH = 64, LONGEST_LINE = 8 };
enum { VCF_LEAF_DEPTH = 8, VCF_LEAF_NODES = 150, VCF_ROOT_DEPTH = 40 };
enum { TABLE_SLOTS = 1 << 20, HISTORY_LIMIT = 1 << 12 };
enum { TEMPO = 60 }; /* what it is worth to be the one to move */

enum bound { NO_BOUND, UPPER, LOWER, EXACT };

struct slot {
    uint64_t key;
    int16_t move, value;
    int8_t depth;
    uint8_t bound;
};

struct move {
    int at, order;
};

static struct slot table[TABLE_SLOTS];
static uint32_t table_mask = TABLE_SLOTS - 1;
static bool table_is_clean = true;
static int history[2][CELLS]; /* how often a move refuted the line before it */

void search_limit_memory(int64_t bytes)
{
    uint32_t slots = TABLE_SLOTS;
    while (bytes > 0 && slots > 1024 && (int64_t)(slots * sizeof(struct slot)) > bytes / 4)
        slots /= 2; /* program, boards and tables need their part too */
    table_mask = slots - 1;
}

void search_forget(void)
{
    if (table_is_clean)
        return; /* START must not cost the time to touch all that memory */
    memset(table, 0, sizeof table);
    memset(history, 0, sizeof history);
    vcf_forget();
    table_is_clean = true;
}

/* ---- remembered positions ---- */

static struct slot *slot_of(uint64_t key)
{
    return &table[key >> 32 & table_mask];
}

/* Wins are stored by their distance from the position itself, not from the root. */
static int value_to_slot(int value, int ply)
{
    return value > SURE_WIN ? value + ply : value < -SURE_WIN ? value - ply : value;
}

static int value_from_slot(int value, int ply)
{
    return value > SURE_WIN ? value - ply : value < -SURE_WIN ? value + ply : value;
}

static void remember(uint64_t key, int move, int value, int depth, enum bound bound, int ply)
{
    struct slot *slot = slot_of(key);
    slot->key = key;
    slot->move = (int16_t)move;
    slot->value = (int16_t)value_to_slot(value, ply);
    slot->depth = (int8_t)depth;
    slot->bound = (uint8_t)bound;
}

static bool is_decided_by(const struct slot *slot, int value, int alpha, int beta)
{
    return slot->bound == EXACT || (slot->bound == LOWER && value >= beta) ||
           (slot->bound == UPPER && value <= alpha);
}

static bool has_fours(enum side side)
{
    return board.count[side][FOUR_THREAT] + board.count[side][FOUR_THREE_THREAT] > 0;
}

/* ---- candidate moves ---- */

static int order_of(int at, enum side side)
{
    return 8 * (board_worth(at, side) + board_worth(at, other(side))) + history[side][at] / 16;
}

/* Against an open four in the making only three kinds of stone help: a four of one's own, the cell
 * itself, or another cell of a five it would lead to. On the last two the opponent makes a four too. */
static bool answers_open_four(int at, enum side side)
{
    return makes_four(board_threat(at, side)) || makes_four(board_threat(at, other(side)));
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

/* The moves worth searching, best first. Forced replies are complete, free choices cut to `width`. */
static int collect_moves(enum side side, struct move *moves, int width)
{
    enum side foe = other(side);
    if (board.count[foe][FIVE_THREAT] > 0) {
        moves[0] = (struct move){board_find(foe, FIVE_THREAT), 0};
        return 1;
    }
    bool forced = board.count[foe][OPEN_FOUR_THREAT] > 0;
    int count = 0;
    for (int i = 0; i < board.frontier_size; i++) {
        int at = board.frontier[i];
        if (!forced || answers_open_four(at, side))
            count = insert_move(moves, count, forced ? FORCED_WIDTH : width,
                                (struct move){at, order_of(at, side)});
    }
    return count;
}

static void prefer(struct move *moves, int count, int at)
{
    for (int i = 1; i < count; i++)
        if (moves[i].at == at) {
            struct move move = moves[i];
            memmove(moves + 1, moves, (size_t)i * sizeof moves[0]);
            moves[0] = move;
            return;
        }
}

static void reward(enum side side, int at, int depth)
{
    history[side][at] += depth * depth;
    if (history[side][at] < HISTORY_LIMIT)
        return;
    for (int i = 0; i < CELLS; i++) {
        history[OWN][i] /= 2;
        history[FOE][i] /= 2;
    }
}

/* ---- alpha-beta ---- */

static int clamp(int value, int limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

static int evaluate(enum side side)
{
    return clamp(board.total[side] - board.total[other(side)] + TEMPO, EVALUATION_LIMIT);
}

/* Decides a position that fives and fours decide at once, for the side to move. */
static bool settle(enum side side, int ply, int *value)
{
    enum side foe = other(side);
    if (board.free_cells == 0)
        *value = 0;
    else if (board.count[side][FIVE_THREAT] > 0)
        *value = WIN - ply - 1;
    else if (board.count[foe][FIVE_THREAT] > 1)
        *value = -(WIN - ply - 2);
    else if (board.count[foe][FIVE_THREAT] == 0 && board.count[side][OPEN_FOUR_THREAT] > 0)
        *value = WIN - ply - 3;
    else
        return false;
    return true;
}

static int search_leaf(enum side side, int ply)
{
    int first;
    if (has_fours(side)) {
        int plies = vcf_search(side, VCF_LEAF_DEPTH, VCF_LEAF_NODES, &first);
        if (plies > 0)
            return WIN - ply - plies;
    }
    return evaluate(side);
}

/* How much shallower to look at the move in place `i` of an ordered list. */
static int reduction(int i, int depth, bool quiet)
{
    if (depth < 3 || i < 2 || !quiet)
        return 0;
    return i < 6 ? 1 : i < 12 ? 2 : 3;
}

static int search(enum side side, int depth, int alpha, int beta, int ply);

/* The value, for `side`, of playing the move in place `i`. Only the first gets the whole window; the
 * others must first show that they are better, perhaps at less depth. */
static int search_after(struct move move, int i, enum side side, int depth, int alpha, int beta, int ply)
{
    enum side foe = other(side);
    bool forced = board.count[foe][FIVE_THREAT] > 0;
    bool quiet = board_threat(move.at, side) == NO_THREAT && board.count[foe][OPEN_FOUR_THREAT] == 0;
    int next = forced ? depth : depth - 1; /* a forced reply is no choice and costs no depth */
    int less = reduction(i, depth, quiet);
    board_put(move.at, side);
    int value;
    if (i == 0) {
        value = -search(foe, next, -beta, -alpha, ply + 1);
    } else {
        value = -search(foe, next - less, -alpha - 1, -alpha, ply + 1);
        if (value > alpha && less > 0)
            value = -search(foe, next, -alpha - 1, -alpha, ply + 1);
        if (value > alpha && value < beta)
            value = -search(foe, next, -beta, -alpha, ply + 1);
    }
    board_take(move.at);
    return value;
}

/* The value of the position for `side`, which is to move; meaningless once out_of_time is set. */
static int search(enum side side, int depth, int alpha, int beta, int ply)
{
    int value;
    if (clock_must_stop())
        return 0;
    if (settle(side, ply, &value))
        return value;
    if (ply >= MAX_PLY)
        return evaluate(side);
    uint64_t key = board_key(side);
    const struct slot *slot = slot_of(key);
    int known_move = NO_CELL;
    if (slot->key == key) {
        known_move = slot->move;
        value = value_from_slot(slot->value, ply);
        if (slot->depth >= depth && is_decided_by(slot, value, alpha, beta))
            return value;
    }
    if (depth <= 0 && board.count[other(side)][FIVE_THREAT] == 0) {
        value = search_leaf(side, ply);
        if (!out_of_time)
            remember(key, NO_CELL, value, 0, EXACT, ply);
        return value;
    }

    struct move moves[FORCED_WIDTH];
    int count = collect_moves(side, moves, WIDTH);
    if (count == 0)
        return evaluate(side); /* the free cells left lie behind walls, far from any stone */
    prefer(moves, count, known_move);
    int best = -WIN, best_move = NO_CELL, lower = alpha;
    for (int i = 0; i < count && best < beta; i++) {
        value = search_after(moves[i], i, side, depth, lower, beta, ply);
        if (out_of_time)
            return 0;
        if (value > best) {
            best = value;
            best_move = moves[i].at;
        }
        lower = best > lower ? best : lower;
    }
    if (best >= beta && depth > 0)
        reward(side, best_move, depth);
    remember(key, best_move, best, depth, best >= beta ? LOWER : best > alpha ? EXACT : UPPER, ply);
    return best;
}

/* ---- the root ---- */

/* Searches every root move to one depth and leaves the best in front, with its value in `order`.
 * When time runs out in the middle, what was found so far still stands. */
static void search_root(struct move *moves, int count, int depth)
{
    int best = -WIN;
    for (int i = 0; i < count && !out_of_time; i++) {
        int value = search_after(moves[i], i, OWN, depth, best, WIN, 0);
        if (out_of_time || (i > 0 && value <= best))
            continue;
        best = value;
        prefer(moves, i + 1, moves[i].at);
        moves[0].order = value;
    }
    if (!out_of_time)
        remember(board_key(OWN), moves[0].at, best, depth, EXACT, 0);
}

/* Appends the expected line of play, read back from the remembered positions. */
static void report_line(char *text, size_t size, int first)
{
    int played[LONGEST_LINE], count = 0;
    enum side side = OWN;
    for (int at = first; at != NO_CELL && count < LONGEST_LINE; side = other(side)) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, " %d,%d", cell_x(at), cell_y(at));
        board_put(at, side);
        played[count++] = at;
        const struct slot *slot = slot_of(board_key(other(side)));
        at = slot->key == board_key(other(side)) ? slot->move : NO_CELL;
        if (board.cell[at].content != FREE)
            at = NO_CELL; /* another position with the same key */
    }
    while (count > 0)
        board_take(played[--count]);
}

static void report_search(char *report, const char *how, int depth, int value, int first)
{
    snprintf(report, LONGEST_REPORT, "%s depth %d eval %d nodes %ld pv", how, depth, value, nodes);
    report_line(report, LONGEST_REPORT, first);
}

/* Moves that no search could improve on: the only cell, a five, the block of a five, an open four. */
static int obvious_move(void)
{
    if (board.count[OWN][FIVE_THREAT] > 0)
        return board_find(OWN, FIVE_THREAT);
    if (board.count[FOE][FIVE_THREAT] > 0)
        return board_find(FOE, FIVE_THREAT);
    if (board.count[OWN][OPEN_FOUR_THREAT] > 0)
        return board_find(OWN, OPEN_FOUR_THREAT);
    return board.free_cells == 1 && board.frontier_size == 1 ? board.frontier[0] : NO_CELL;
}

/* Where no stone is near any free cell: the middle, or else the first cell that is free. */
static int lonely_move(void)
{
    int middle = cell_at(board.width / 2, board.height / 2);
    if (board.cell[middle].content == FREE)
        return middle;
    for (int at = 0; at < CELLS; at++)
        if (board.cell[at].content == FREE)
            return at;
    return NO_CELL;
}

static int win_by_fours(int64_t deadline, char *report)
{
    int first = NO_CELL;
    clock_start(deadline);
    int plies = has_fours(OWN) ? vcf_search(OWN, VCF_ROOT_DEPTH, LONG_MAX, &first) : 0;
    if (plies == 0)
        return NO_CELL;
    report_search(report, "vcf", plies, WIN - plies, first);
    return first;
}

static int deepen(struct move *moves, int count, int64_t deadline, char *report)
{
    int64_t begun = milliseconds_now();
    int depth_done = 0, value = 0;
    clock_move_deadline(deadline);
    for (int depth = 1; depth <= MAX_DEPTH; depth++) {
        moves[0].order = value;
        search_root(moves, count, depth);
        value = moves[0].order;
        if (out_of_time)
            break;
        depth_done = depth;
        bool decided = value > SURE_WIN || value < -SURE_WIN;
        if (decided || count == 1 || milliseconds_now() - begun > (deadline - begun) * 6 / 10)
            break; /* the next depth would change nothing or hardly end in time */
    }
    report_search(report, "search", depth_done, value, moves[0].at);
    return moves[0].at;
}

int search_move(int64_t deadline, char report[LONGEST_REPORT])
{
    static struct move moves[CELLS];
    int64_t now = milliseconds_now();
    snprintf(report, LONGEST_REPORT, "static depth 0 eval %d nodes 0", evaluate(OWN));
    if (board.frontier_size == 0)
        return lonely_move();
    int move = obvious_move();
    if (move != NO_CELL)
        return move;
    int count = collect_moves(OWN, moves, CELLS);
    if (deadline <= now)
        return moves[0].at;
    table_is_clean = false;
    move = win_by_fours(now + (deadline - now) / 4, report);
    if (move != NO_CELL)
        return move;
    return deepen(moves, count, deadline, report);
}

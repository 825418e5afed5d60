/*
 * Rule: fives and fours are never searched but looked up; alpha-beta decides about the rest.
 *
 * Principal variation search with iterative deepening, a transposition table, late move reductions
 * and, where the depth ends, a search of victories by continuous fours (VCF). The threats that the
 * board counts settle a position at once when a five or an open four is there to take, and narrow the
 * choice to the forced replies when the opponent threatens one.
 */
#include "search.h"

#include "clock.h"
#include "fouls.h"
#include "moves.h"
#include "table.h"
#include "vcf.h"

#include <limits.h>
#include <string.h>

enum { EVALUATION_LIMIT = 20000 };
enum { MAX_DEPTH = 60, MAX_PLY = 120, WIDTH = 20 };
enum { VCF_LEAF_DEPTH = 8, VCF_LEAF_NODES = 150, VCF_ROOT_DEPTH = 40 };
enum { TEMPO = 60 }; /* what it is worth to be the one to move */

static bool is_clean = true;

void search_forget(void)
{
    if (is_clean)
        return; /* START must not cost the time to touch all that memory */
    table_forget();
    moves_forget();
    vcf_forget();
    is_clean = true;
}

static bool has_fours(enum side side)
{
    return board.count[side][FOUR_THREAT] + board.count[side][FOUR_THREE_THREAT] > 0;
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

/* The value where no move is worth searching: every reply to a threat is forbidden, or else the free
 * cells left lie behind walls, far from any stone. */
static int value_without_moves(enum side side, int ply)
{
    enum side foe = other(side);
    if (board.count[foe][FIVE_THREAT] > 0)
        return -(WIN - ply - 2);
    return board.count[foe][OPEN_FOUR_THREAT] > 0 ? -(WIN - ply - 4) : evaluate(side);
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
    const struct slot *slot = table_find(key);
    int known_move = NO_CELL;
    if (slot != NULL) {
        known_move = slot->move;
        value = table_value(slot, ply);
        if (slot->depth >= depth && table_decides(slot, value, alpha, beta))
            return value;
    }
    if (depth <= 0 && board.count[other(side)][FIVE_THREAT] == 0) {
        value = search_leaf(side, ply);
        if (!out_of_time)
            table_remember(key, NO_CELL, value, 0, EXACT, ply);
        return value;
    }

    struct move moves[FORCED_WIDTH];
    int count = moves_collect(side, moves, WIDTH);
    if (count == 0)
        return value_without_moves(side, ply);
    moves_prefer(moves, count, known_move);
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
        moves_reward(side, best_move, depth);
    table_remember(key, best_move, best, depth, best >= beta ? LOWER : best > alpha ? EXACT : UPPER, ply);
    return best;
}

/* ---- the root ---- */

/* Searches every root move to one depth and leaves the best in front, with its value in `order`.
 * When time runs out in the middle, what was found so far still stands. */
static void search_root(const struct task *task, struct move *moves, int count, int depth)
{
    int best = -WIN;
    for (int i = 0; i < count && !out_of_time; i++) {
        int value = search_after(moves[i], i, task->side, depth, best, WIN, 0);
        if (out_of_time || (i > 0 && value <= best))
            continue;
        best = value;
        moves_prefer(moves, i + 1, moves[i].at);
        moves[0].order = value;
    }
    if (!out_of_time && task->only == NULL)
        table_remember(board_key(task->side), moves[0].at, best, depth, EXACT, 0);
}

/* The expected line of play, read back from the remembered positions. */
static void read_line_of_play(enum side side, int first, struct report *report)
{
    report->length = 0;
    for (int at = first; is_free(at) && report->length < LONGEST_LINE; side = other(side)) {
        board_put(at, side);
        report->line[report->length++] = at;
        const struct slot *slot = table_find(board_key(other(side)));
        at = slot == NULL ? NO_CELL : slot->move; /* taken: another position with the same key */
    }
    for (int i = report->length; i > 0; i--)
        board_take(report->line[i - 1]);
}

static void fill_report(const struct task *task, struct report *report, int depth, int value, int first)
{
    report->depth = depth;
    report->value = value;
    report->nodes = nodes;
    read_line_of_play(task->side, first, report);
    if (task->tell != NULL)
        task->tell(report);
}

/* Moves that no search could improve on: the only cell, a five, the block of a five, an open four. */
static int obvious_move(enum side side)
{
    enum side foe = other(side);
    if (board.count[side][FIVE_THREAT] > 0)
        return board_find(side, FIVE_THREAT);
    if (board.count[foe][FIVE_THREAT] > 0)
        return board_find(foe, FIVE_THREAT);
    if (board.count[side][OPEN_FOUR_THREAT] > 0)
        return board_find(side, OPEN_FOUR_THREAT);
    return board.free_cells == 1 && board.frontier_size == 1 ? board.frontier[0] : NO_CELL;
}

/* Where no move is worth searching: the middle, or else the first cell that is legal, or else free. */
static int lonely_move(enum side side)
{
    int middle = cell_at(board.width / 2, board.height / 2), any = NO_CELL;
    if (is_free(middle) && !is_forbidden(middle, side))
        return middle;
    for (int at = 0; at < CELLS; at++) {
        if (board.cell[at].content != FREE)
            continue;
        if (!is_forbidden(at, side))
            return at;
        any = at;
    }
    return any;
}

static int win_by_fours(const struct task *task, int64_t deadline, struct report *report)
{
    int first = NO_CELL;
    clock_start(deadline);
    int plies = has_fours(task->side) ? vcf_search(task->side, VCF_ROOT_DEPTH, LONG_MAX, &first) : 0;
    if (plies == 0)
        return NO_CELL;
    report->how = "vcf";
    fill_report(task, report, plies, WIN - plies, first);
    return first;
}

static int deepen(const struct task *task, struct move *moves, int count, struct report *report)
{
    int64_t begun = milliseconds_now();
    int value = 0;
    clock_move_deadline(task->deadline);
    report->how = "search";
    for (int depth = 1; depth <= MAX_DEPTH; depth++) {
        moves[0].order = value;
        search_root(task, moves, count, depth);
        value = moves[0].order;
        if (out_of_time) {
            read_line_of_play(task->side, moves[0].at, report);
            break;
        }
        fill_report(task, report, depth, value, moves[0].at);
        bool decided = value > SURE_WIN || value < -SURE_WIN;
        if (decided || count == 1 || milliseconds_now() - begun > (task->deadline - begun) * 6 / 10)
            break; /* the next depth would change nothing or hardly end in time */
    }
    return moves[0].at;
}

/* Any move, and what wins or saves the game at sight, if there is something. */
static int search_all(const struct task *task, struct move *moves, struct report *report)
{
    int64_t now = milliseconds_now();
    int count = moves_collect(task->side, moves, MOST_MOVES);
    if (count == 0)
        return lonely_move(task->side);
    int move = obvious_move(task->side);
    if (move != NO_CELL && !is_forbidden(move, task->side))
        return move;
    if (task->deadline <= now)
        return moves[0].at;
    move = win_by_fours(task, now + (task->deadline - now) / 4, report);
    return move != NO_CELL ? move : deepen(task, moves, count, report);
}

static int search_only(const struct task *task, struct move *moves, struct report *report)
{
    int count = moves_among(task->side, moves, task->only, task->only_count);
    if (count == 0)
        return task->only_count > 0 ? task->only[0] : NO_CELL;
    if (task->deadline <= milliseconds_now())
        return moves[0].at;
    clock_start(task->deadline);
    return deepen(task, moves, count, report);
}

int search_move(const struct task *task, struct report *report)
{
    static struct move moves[MOST_MOVES];
    is_clean = false;
    *report = (struct report){.how = "static", .value = evaluate(task->side)};
    int move = task->only == NULL ? search_all(task, moves, report) : search_only(task, moves, report);
    if (report->length == 0 && move != NO_CELL) {
        report->line[0] = move;
        report->length = 1;
    }
    return move;
}

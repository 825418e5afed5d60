/*
 * Rule: a stone put on the board adds its digit to the forty lines that see it; taken away again, it
 * subtracts it.
 */
#include "board.h"

#include <string.h>

enum { NEAR = 2 }; /* a stone that makes or stops a four is never farther than this from another */

struct board board;
const int DIRECTIONS[4] = {1, STRIDE, STRIDE + 1, STRIDE - 1};

static uint64_t stone_hash[2][CELLS];
static const uint64_t WHITE_TO_MOVE = 0xc2b2ae3d27d4eb4fu;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void board_prepare(void)
{
    uint64_t seed = 5;
    for (int at = 0; at < CELLS; at++)
        for (int side = BLACK; side <= WHITE; side++)
            stone_hash[side][at] = next_random(&seed);
    board_set_rule(FREESTYLE);
}

/* ---- what the free cells add up to ---- */

static void count_cell(int at, int sign)
{
    for (int side = BLACK; side <= WHITE; side++) {
        board.total[side] += sign * board_worth(at, (enum side)side);
        board.count[side][board_threat(at, (enum side)side)] += sign;
    }
}

static void refresh_shape(struct cell *cell, int direction)
{
    int shift = SHAPE_BITS * direction;
    for (int side = BLACK; side <= WHITE; side++) {
        const struct shapes *goal = board.goal[side];
        int before = cell->shapes[side];
        int shape = goal->of_line[cell->line[direction][side]];
        int after = (before & ~(SHAPE_MASK << shift)) | shape << shift;
        if (after == before)
            continue;
        cell->shapes[side] = (uint16_t)after;
        board.total[side] += goal->worth_of_set[after] - goal->worth_of_set[before];
        board.count[side][goal->threat_of_set[before]]--;
        board.count[side][goal->threat_of_set[after]]++;
    }
}

/* A cell that is not free keeps its lines but not its shapes; this makes up for it. */
static void refresh_cell(struct cell *cell)
{
    for (int side = BLACK; side <= WHITE; side++) {
        int set = 0;
        for (int direction = 0; direction < 4; direction++)
            set |= board.goal[side]->of_line[cell->line[direction][side]] << (SHAPE_BITS * direction);
        cell->shapes[side] = (uint16_t)set;
    }
}

/* ---- lines ---- */

static int digit_for(int content, enum side side)
{
    if (content == FREE)
        return 0;
    return content == WALL ? board.goal[side]->wall : content == (int)side ? 1 : 2;
}

/* Adds a cell's content to the lines of all cells that see it, or takes it out of them. */
static void add_to_lines(int at, int sign)
{
    int content = board.cell[at].content;
    int digit[2] = {sign * digit_for(content, BLACK), sign * digit_for(content, WHITE)};
    const int *power = board.goal[BLACK]->power; /* both goals of a rule have the same base */
    for (int direction = 0; direction < 4; direction++) {
        for (int offset = -REACH; offset <= REACH; offset++) {
            if (offset == 0)
                continue;
            struct cell *cell = &board.cell[at + offset * DIRECTIONS[direction]];
            int weight = power[digit_of(-offset)];
            cell->line[direction][BLACK] += (uint32_t)(weight * digit[BLACK]);
            cell->line[direction][WHITE] += (uint32_t)(weight * digit[WHITE]);
            if (cell->content == FREE)
                refresh_shape(cell, direction);
        }
    }
}

/* Reads the lines of one cell from the board. */
static void read_lines(int at)
{
    struct cell *cell = &board.cell[at];
    memset(cell->line, 0, sizeof cell->line);
    for (int side = BLACK; side <= WHITE; side++)
        for (int direction = 0; direction < 4; direction++)
            for (int offset = -REACH; offset <= REACH; offset++) {
                if (offset == 0)
                    continue;
                int content = board.cell[at + offset * DIRECTIONS[direction]].content;
                int weight = board.goal[side]->power[digit_of(offset)];
                cell->line[direction][side] += (uint32_t)(weight * digit_for(content, (enum side)side));
            }
}

/* Reads everything that follows from what lies on the cells. */
static void read_board(void)
{
    memset(board.total, 0, sizeof board.total);
    memset(board.count, 0, sizeof board.count);
    for (int y = 0; y < board.height; y++)
        for (int x = 0; x < board.width; x++) {
            int at = cell_at(x, y);
            read_lines(at);
            if (board.cell[at].content != FREE)
                continue;
            refresh_cell(&board.cell[at]);
            count_cell(at, 1);
        }
}

/* ---- the frontier: free cells near a stone and the middle, in no particular order ---- */

static void frontier_add(int at)
{
    board.cell[at].frontier_place = (int16_t)board.frontier_size;
    board.frontier[board.frontier_size++] = (int16_t)at;
}

static void frontier_remove(int at)
{
    int last = board.frontier[--board.frontier_size];
    int place = board.cell[at].frontier_place;
    board.frontier[place] = (int16_t)last;
    board.cell[last].frontier_place = (int16_t)place;
}

static void stone_came_near(int at)
{
    if (board.cell[at].stones_near++ == 0 && board.cell[at].content == FREE)
        frontier_add(at);
}

static void stone_went_away(int at)
{
    if (--board.cell[at].stones_near == 0 && board.cell[at].content == FREE)
        frontier_remove(at);
}

static void tell_neighbours(int at, void (*tell)(int))
{
    for (int dy = -NEAR; dy <= NEAR; dy++)
        for (int dx = -NEAR; dx <= NEAR; dx++)
            if (dx != 0 || dy != 0)
                tell(at + dy * STRIDE + dx);
}

/* ---- the board itself ---- */

void board_start(int width, int height)
{
    struct board *b = &board;
    b->width = width;
    b->height = height;
    b->stones = 0;
    b->free_cells = width * height;
    b->hash = 0;
    b->frontier_size = 0;
    memset(b->cell, 0, sizeof b->cell);
    for (int at = 0; at < CELLS; at++)
        b->cell[at].content = WALL;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            b->cell[cell_at(x, y)].content = FREE;
    stone_came_near(cell_at(width / 2, height / 2)); /* after a stone in a corner, too, it is the best */
    read_board();
}

void board_set_rule(enum rule rule)
{
    enum goal goal = rule == STANDARD              ? EXACTLY_FIVE
                     : rule == STANDARD_CARO       ? CARO
                     : rule == CARO_WITH_OVERLINES ? CARO_OR_MORE
                                                   : FIVE_OR_MORE;
    board.rule = rule;
    board.goal[BLACK] = shapes_for(rule == RENJU ? RENJU_BLACK : goal);
    board.goal[WHITE] = shapes_for(goal);
    read_board();
}

/* Makes a free cell something else. */
static void fill(int at, enum content content)
{
    struct cell *cell = &board.cell[at];
    count_cell(at, -1);
    if (cell->stones_near > 0)
        frontier_remove(at);
    cell->content = (uint8_t)content;
    board.free_cells--;
    add_to_lines(at, 1);
}

void board_put(int at, enum side side)
{
    fill(at, (enum content)side);
    board.stones++;
    board.hash ^= stone_hash[side][at];
    tell_neighbours(at, stone_came_near);
}

void board_take(int at)
{
    struct cell *cell = &board.cell[at];
    tell_neighbours(at, stone_went_away);
    add_to_lines(at, -1);
    board.hash ^= stone_hash[cell->content][at];
    board.stones--;
    board.free_cells++;
    cell->content = FREE;
    if (cell->stones_near > 0)
        frontier_add(at);
    refresh_cell(cell);
    count_cell(at, 1);
}

void board_block(int at)
{
    fill(at, WALL);
}

uint64_t board_key(enum side side)
{
    return side == BLACK ? board.hash : board.hash ^ WHITE_TO_MOVE;
}

int board_find(enum side side, enum threat threat)
{
    for (int i = 0; i < board.frontier_size; i++)
        if (board_threat(board.frontier[i], side) == threat)
            return board.frontier[i];
    return NO_CELL;
}

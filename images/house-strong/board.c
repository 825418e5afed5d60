/*
 * Rule: a line of eleven cells is a number in base three, and two tables turn numbers into shapes.
 *
 * Around every cell and in each of the four directions lie ten cells: five on either side, which is
 * as far as a five through the cell, and a sixth stone that would spoil an exact five, can reach.
 * Read as ten digits (0 free, 1 mine, 2 not mine: opponent or wall) they are a number below 3^10,
 * and a table says which shape my stone on the cell would make. A stone put on the board adds its
 * digit to forty such numbers; taken away again, it subtracts it.
 */
#include "board.h"

#include <string.h>

enum { REACH = 5, DIGITS = 2 * REACH, LINES = 59049 /* 3^10 */, SHAPE_BITS = 4, SHAPE_SETS = 1 << 16 };
enum { NEAR = 2 }; /* a stone that makes or stops a four is never farther than this from another */

struct board board;
const int DIRECTIONS[4] = {1, STRIDE, STRIDE + 1, STRIDE - 1};

static int power_of_three[DIGITS];
static uint8_t line_shape[2][LINES]; /* freestyle, exact */
static uint8_t set_threat[SHAPE_SETS];
static int16_t set_worth[SHAPE_SETS];
static uint64_t stone_hash[2][CELLS];
static const uint64_t FOE_TO_MOVE = 0xc2b2ae3d27d4eb4fu;

/* What a stone is worth for the shape it makes, and for the threat it is. Tried out in matches of the
 * agent against itself; small changes make no great difference. */
static const int SHAPE_WORTH[] = {0, 1, 2, 4, 8, 12, 26, 30, 60, 120};
static const int THREAT_WORTH[THREATS] = {0, 10, 80, 0, 120, 200, 400};

/* ---- tables ---- */

/* The digit of the cell that lies `offset` steps from the middle (-5..-1, 1..5). */
static int digit_of(int offset)
{
    return offset < 0 ? offset + REACH : offset + REACH - 1;
}

static int content_of(int line, int offset)
{
    return line / power_of_three[digit_of(offset)] % 3;
}

/* How many stones in a row the middle stone would be part of. */
static int run_length(int line)
{
    int run = 1;
    for (int offset = 1; offset <= REACH && content_of(line, offset) == 1; offset++)
        run++;
    for (int offset = -1; offset >= -REACH && content_of(line, offset) == 1; offset--)
        run++;
    return run;
}

/* The shape of a line follows from the shapes of the lines one more stone leads to. Only fives
 * through the middle stone count, so every shape is one that this stone takes part in. */
static enum shape shape_of(int line, bool exact, const uint8_t *shape_after)
{
    int run = run_length(line);
    if (exact ? run == 5 : run >= 5)
        return FIVE;
    int ways_to_five = 0;
    int best = DEAD;
    for (int digit = 0; digit < DIGITS; digit++) {
        if (line / power_of_three[digit] % 3 != 0)
            continue;
        int next = shape_after[line + power_of_three[digit]];
        ways_to_five += next == FIVE;
        best = next > best ? next : best;
    }
    if (ways_to_five > 0)
        return ways_to_five > 1 ? OPEN_FOUR : FOUR;
    return best > OPEN_ONE ? (enum shape)(best - 2) : DEAD;
}

/* One more stone makes the number larger, so going down finds all successors done. */
static void fill_line_shapes(void)
{
    for (int exact = 0; exact < 2; exact++)
        for (int line = LINES - 1; line >= 0; line--)
            line_shape[exact][line] = (uint8_t)shape_of(line, exact, line_shape[exact]);
}

static enum threat threat_of(const int *shapes_made)
{
    int fours = shapes_made[FOUR];
    if (shapes_made[FIVE])
        return FIVE_THREAT;
    if (shapes_made[OPEN_FOUR] || fours > 1)
        return OPEN_FOUR_THREAT;
    if (fours)
        return shapes_made[OPEN_THREE] ? FOUR_THREE_THREAT : FOUR_THREAT;
    if (shapes_made[OPEN_THREE] > 1)
        return DOUBLE_THREE_THREAT;
    return shapes_made[OPEN_THREE] ? OPEN_THREE_THREAT : NO_THREAT;
}

/* Four shapes, four bits each, are a set; numbers with a nibble beyond FIVE never occur. */
static void fill_set_tables(void)
{
    for (int set = 0; set < SHAPE_SETS; set++) {
        int made[1 << SHAPE_BITS] = {0};
        int worth = 0;
        for (int direction = 0; direction < 4; direction++) {
            int shape = set >> (SHAPE_BITS * direction) & 15;
            made[shape]++;
            worth += shape <= FIVE ? SHAPE_WORTH[shape] : 0;
        }
        set_threat[set] = (uint8_t)threat_of(made);
        set_worth[set] = (int16_t)(worth + THREAT_WORTH[set_threat[set]]);
    }
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void board_prepare(void)
{
    int power = 1;
    for (int digit = 0; digit < DIGITS; digit++, power *= 3)
        power_of_three[digit] = power;
    fill_line_shapes();
    fill_set_tables();
    uint64_t seed = 5;
    for (int at = 0; at < CELLS; at++)
        for (int side = OWN; side <= FOE; side++)
            stone_hash[side][at] = next_random(&seed);
}

/* ---- what the free cells add up to ---- */

static void count_cell(const struct cell *cell, int sign)
{
    for (int side = OWN; side <= FOE; side++) {
        board.total[side] += sign * set_worth[cell->shapes[side]];
        board.count[side][set_threat[cell->shapes[side]]] += sign;
    }
}

static void refresh_shape(struct cell *cell, int direction)
{
    int shift = SHAPE_BITS * direction;
    for (int side = OWN; side <= FOE; side++) {
        int before = cell->shapes[side];
        int shape = line_shape[board.exact][cell->line[direction][side]];
        int after = (before & ~(15 << shift)) | shape << shift;
        if (after == before)
            continue;
        cell->shapes[side] = (uint16_t)after;
        board.total[side] += set_worth[after] - set_worth[before];
        board.count[side][set_threat[before]]--;
        board.count[side][set_threat[after]]++;
    }
}

/* A cell that is not free keeps its lines but not its shapes; this makes up for it. */
static void refresh_cell(struct cell *cell)
{
    for (int side = OWN; side <= FOE; side++) {
        int set = 0;
        for (int direction = 0; direction < 4; direction++)
            set |= line_shape[board.exact][cell->line[direction][side]] << (SHAPE_BITS * direction);
        cell->shapes[side] = (uint16_t)set;
    }
}

/* Adds a cell's content, as digits for either side, to the lines of all cells that see it. */
static void add_to_lines(int at, const int digit_for[2], int sign)
{
    for (int direction = 0; direction < 4; direction++) {
        for (int offset = -REACH; offset <= REACH; offset++) {
            if (offset == 0)
                continue;
            struct cell *cell = &board.cell[at + offset * DIRECTIONS[direction]];
            int power = sign * power_of_three[digit_of(-offset)];
            cell->line[direction][OWN] = (uint16_t)(cell->line[direction][OWN] + power * digit_for[OWN]);
            cell->line[direction][FOE] = (uint16_t)(cell->line[direction][FOE] + power * digit_for[FOE]);
            if (cell->content == FREE)
                refresh_shape(cell, direction);
        }
    }
}

/* ---- the frontier: free cells near a stone, in no particular order ---- */

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

static void see_walls(int at)
{
    for (int direction = 0; direction < 4; direction++)
        for (int offset = -REACH; offset <= REACH; offset++) {
            if (board.cell[at + offset * DIRECTIONS[direction]].content != WALL)
                continue;
            uint16_t digits = (uint16_t)(2 * power_of_three[digit_of(offset)]);
            board.cell[at].line[direction][OWN] += digits;
            board.cell[at].line[direction][FOE] += digits;
        }
}

void board_start(int width, int height)
{
    bool exact = board.exact;
    memset(&board, 0, sizeof board);
    board.width = width;
    board.height = height;
    board.free_cells = width * height;
    for (int at = 0; at < CELLS; at++)
        board.cell[at].content = WALL;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            board.cell[cell_at(x, y)].content = FREE;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            see_walls(cell_at(x, y));
    board_set_exact(exact);
}

void board_set_exact(bool exact)
{
    board.exact = exact;
    memset(board.total, 0, sizeof board.total);
    memset(board.count, 0, sizeof board.count);
    for (int at = 0; at < CELLS; at++) {
        if (board.cell[at].content != FREE)
            continue;
        refresh_cell(&board.cell[at]);
        count_cell(&board.cell[at], 1);
    }
}

void board_put(int at, enum side side)
{
    struct cell *cell = &board.cell[at];
    const int digit_for[2] = {side == OWN ? 1 : 2, side == FOE ? 1 : 2};
    count_cell(cell, -1);
    if (cell->stones_near > 0)
        frontier_remove(at);
    cell->content = (uint8_t)side;
    board.free_cells--;
    board.hash ^= stone_hash[side][at];
    add_to_lines(at, digit_for, 1);
    tell_neighbours(at, stone_came_near);
}

void board_take(int at)
{
    struct cell *cell = &board.cell[at];
    enum side side = (enum side)cell->content;
    const int digit_for[2] = {side == OWN ? 1 : 2, side == FOE ? 1 : 2};
    tell_neighbours(at, stone_went_away);
    add_to_lines(at, digit_for, -1);
    board.hash ^= stone_hash[side][at];
    board.free_cells++;
    cell->content = FREE;
    if (cell->stones_near > 0)
        frontier_add(at);
    refresh_cell(cell);
    count_cell(cell, 1);
}

void board_block(int at)
{
    static const int WALL_DIGITS[2] = {2, 2};
    struct cell *cell = &board.cell[at];
    count_cell(cell, -1);
    if (cell->stones_near > 0)
        frontier_remove(at);
    cell->content = WALL;
    board.free_cells--;
    add_to_lines(at, WALL_DIGITS, 1);
}

enum threat board_threat(int at, enum side side)
{
    return (enum threat)set_threat[board.cell[at].shapes[side]];
}

int board_worth(int at, enum side side)
{
    return set_worth[board.cell[at].shapes[side]];
}

uint64_t board_key(enum side side)
{
    return side == OWN ? board.hash : board.hash ^ FOE_TO_MOVE;
}

int board_find(enum side side, enum threat threat)
{
    for (int i = 0; i < board.frontier_size; i++)
        if (board_threat(board.frontier[i], side) == threat)
            return board.frontier[i];
    return NO_CELL;
}

/*
 * Rule: the board knows at every moment what a stone of either side would make on every free cell,
 * so that search and evaluation only look things up.
 */
#ifndef BOARD_H
#define BOARD_H

#include "shapes.h"

#include <stdbool.h>
#include <stdint.h>

/* Cells lie row by row in one array. PAD cells of wall to the left of each row are also the wall to
 * the right of the row above, so no line of eleven cells around a cell ever leaves the array. */
enum { MIN_SIDE = 5, MAX_SIDE = 60, PAD = 5, STRIDE = MAX_SIDE + PAD };
enum { CELLS = (MAX_SIDE + 2 * PAD) * STRIDE + PAD, NO_CELL = 0 };

enum side { BLACK, WHITE };
enum content { BLACK_STONE = BLACK, WHITE_STONE = WHITE, FREE, WALL };

/* The rules, numbered as Gomocup's INFO rule. */
enum rule { FREESTYLE = 0, STANDARD = 1, RENJU = 4, CARO_WITH_OVERLINES = 8, STANDARD_CARO = 9 };

/* One cell. `line` and `shapes` are kept for either side; see shapes.h. */
struct cell {
    uint32_t line[4][2];
    uint16_t shapes[2];
    int16_t frontier_place;
    uint8_t content;
    uint8_t stones_near;
};

struct board {
    int width, height;
    enum rule rule;
    const struct shapes *goal[2]; /* what each side plays for */
    int stones;
    int free_cells;
    uint64_t hash;            /* of the stones, not of who is to move */
    int total[2];             /* sum of the worth of all free cells for a side */
    int count[2][THREATS];    /* free cells with that threat for a side */
    int frontier_size;        /* free cells within two steps of a stone, and the middle */
    int16_t frontier[CELLS];
    struct cell cell[CELLS];
};

extern struct board board;
extern const int DIRECTIONS[4];

void board_prepare(void); /* once, before anything else; the rule is freestyle then */
void board_start(int width, int height);
void board_set_rule(enum rule rule); /* at any time */
void board_put(int at, enum side side);
void board_take(int at);
void board_block(int at); /* makes a free cell a wall for the rest of the game */

/* Some cell with that threat, or NO_CELL; the counts tell whether there is one. Not for NO_THREAT. */
int board_find(enum side side, enum threat threat);
uint64_t board_key(enum side side); /* of the position with `side` to move */

static inline enum threat board_threat(int at, enum side side)
{
    return (enum threat)board.goal[side]->threat_of_set[board.cell[at].shapes[side]];
}

static inline int board_worth(int at, enum side side)
{
    return board.goal[side]->worth_of_set[board.cell[at].shapes[side]];
}

static inline enum shape board_shape(int at, enum side side, int direction)
{
    return (enum shape)(board.cell[at].shapes[side] >> (SHAPE_BITS * direction) & SHAPE_MASK);
}

/* Whose turn it is where stones alternate. */
static inline enum side board_turn(void) { return board.stones % 2 == 0 ? BLACK : WHITE; }

static inline enum side other(enum side side) { return side == BLACK ? WHITE : BLACK; }
static inline bool makes_four(enum threat threat) { return threat >= FOUR_THREAT; }
static inline bool is_free(int at) { return at != NO_CELL && board.cell[at].content == FREE; }

static inline int cell_at(int x, int y) { return (y + PAD) * STRIDE + x + PAD; }
static inline int cell_x(int at) { return at % STRIDE - PAD; }
static inline int cell_y(int at) { return at / STRIDE - PAD; }

static inline bool is_on_board(int x, int y)
{
    return x >= 0 && y >= 0 && x < board.width && y < board.height;
}

#endif

/*
 * Rule: the board knows at every moment what a stone of either side would make on every free cell,
 * so that search and evaluation only look things up.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>

/* Cells lie row by row in one array. PAD cells of wall to the left of each row are also the wall to
 * the right of the row above, so no line of eleven cells around a cell ever leaves the array. */
enum { MIN_SIDE = 5, MAX_SIDE = 60, PAD = 5, STRIDE = MAX_SIDE + PAD };
enum { CELLS = (MAX_SIDE + 2 * PAD) * STRIDE + PAD, NO_CELL = 0 };

enum side { OWN, FOE };
enum content { OWN_STONE = OWN, FOE_STONE = FOE, FREE, WALL };

/* What a stone on a cell makes in one direction. Two steps apart is one stone apart: a line that is
 * OPEN_THREE now can become OPEN_FOUR with the next stone. */
enum shape { DEAD, ONE, OPEN_ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE };

/* What a stone on a cell threatens, all four directions taken together. */
enum threat {
    NO_THREAT,
    OPEN_THREE_THREAT,
    DOUBLE_THREE_THREAT,
    FOUR_THREAT,
    FOUR_THREE_THREAT,
    OPEN_FOUR_THREAT, /* or two fours: either way the next stone makes five */
    FIVE_THREAT,
    THREATS
};

/* One cell. `line` and `shapes` are kept for either side; see board.c. */
struct cell {
    uint16_t line[4][2];
    uint16_t shapes[2];
    int16_t frontier_place;
    uint8_t content;
    uint8_t stones_near;
};

struct board {
    int width, height;
    bool exact;               /* only exactly five wins (INFO rule 1) */
    int free_cells;
    uint64_t hash;            /* of the stones, not of who is to move */
    int total[2];             /* sum of the worth of all free cells for a side */
    int count[2][THREATS];    /* free cells with that threat for a side */
    int frontier_size;        /* free cells within two steps of a stone */
    int16_t frontier[CELLS];
    struct cell cell[CELLS];
};

extern struct board board;
extern const int DIRECTIONS[4];

void board_prepare(void); /* once, before anything else */
void board_start(int width, int height);
void board_set_exact(bool exact);
void board_put(int at, enum side side);
void board_take(int at);
void board_block(int at); /* makes a free cell a wall for the rest of the game */

enum threat board_threat(int at, enum side side);
int board_worth(int at, enum side side);
uint64_t board_key(enum side side); /* of the position with `side` to move */

/* Some cell with that threat, or NO_CELL; the counts tell whether there is one. Not for NO_THREAT. */
int board_find(enum side side, enum threat threat);

static inline enum side other(enum side side) { return side == OWN ? FOE : OWN; }
static inline bool makes_four(enum threat threat) { return threat >= FOUR_THREAT; }

static inline int cell_at(int x, int y) { return (y + PAD) * STRIDE + x + PAD; }
static inline int cell_x(int at) { return at % STRIDE - PAD; }
static inline int cell_y(int at) { return at / STRIDE - PAD; }

#endif

/*
 * Rule: the shape of a line follows from the shapes of the lines that one more stone leads to.
 *
 * Around every cell and in each of the four directions lie ten cells: five on either side, which is as
 * far as a five through the cell, and a sixth stone that would spoil an exact five, can reach. Read as
 * ten digits they are a number, and a table says which shape my stone on the cell would make.
 *
 * A wall is as good as an opponent's stone, so three digits do. Only caro tells them apart: there a
 * five between two opponent's stones is none, and a five at the edge is one.
 */
#include "shapes.h"

#include <stdbool.h>
#include <stddef.h>

enum { LINES_OF_THREE = 59049 /* 3^10 */, LINES_OF_FOUR = 1 << 20 /* 4^10 */, SETS = 1 << 16 };

/* What a stone is worth for the shape it makes, and for the threat it is. Tried out in matches of the
 * agent against itself; small changes make no great difference. */
static const int SHAPE_WORTH[SHAPES] = {0, 1, 2, 4, 8, 12, 26, 30, 60, 120, 0, 0};
static const int THREAT_WORTH[THREATS] = {0, 0, 10, 10, 80, 0, 120, 200, 400};

static uint8_t plain_lines[LINES_OF_THREE], exact_lines[LINES_OF_THREE], renju_lines[LINES_OF_THREE];
static uint8_t caro_lines[2][LINES_OF_FOUR];
static uint8_t threats[2][SETS]; /* of all goals but renju's Black, and of that one */
static int16_t worths[2][SETS];
static int powers_of_three[DIGITS], powers_of_four[DIGITS];

static struct shapes tables[GOALS] = {
    [FIVE_OR_MORE] = {3, 2, powers_of_three, plain_lines, threats[0], worths[0]},
    [EXACTLY_FIVE] = {3, 2, powers_of_three, exact_lines, threats[0], worths[0]},
    [RENJU_BLACK] = {3, 2, powers_of_three, renju_lines, threats[1], worths[1]},
    [CARO] = {4, 3, powers_of_four, caro_lines[0], threats[0], worths[0]},
    [CARO_OR_MORE] = {4, 3, powers_of_four, caro_lines[1], threats[0], worths[0]},
};
static uint8_t *const LINES[GOALS] = {plain_lines, exact_lines, renju_lines, caro_lines[0], caro_lines[1]};

/* ---- one line ---- */

static int content_of(const struct shapes *shapes, int line, int offset)
{
    return line / shapes->power[digit_of(offset)] % shapes->base;
}

/* How far my stones go on from the middle stone in one direction, +1 or -1. */
static int arm(const struct shapes *shapes, int line, int direction)
{
    int length = 0;
    while (length < REACH && content_of(shapes, line, (length + 1) * direction) == 1)
        length++;
    return length;
}

static bool ends_in_opponent(const struct shapes *shapes, int line, int direction, int length)
{
    return length < REACH && content_of(shapes, line, (length + 1) * direction) == 2;
}

static bool is_five(enum goal goal, int line)
{
    const struct shapes *shapes = &tables[goal];
    int left = arm(shapes, line, -1), right = arm(shapes, line, 1);
    int run = left + 1 + right;
    if (run != 5)
        return run > 5 && (goal == FIVE_OR_MORE || goal == CARO_OR_MORE);
    if (goal != CARO && goal != CARO_OR_MORE)
        return true;
    return !ends_in_opponent(shapes, line, -1, left) || !ends_in_opponent(shapes, line, 1, right);
}

static int run_length(const struct shapes *shapes, int line)
{
    return arm(shapes, line, -1) + 1 + arm(shapes, line, 1);
}

/* Whether some stone of mine makes five. */
static bool can_make_five(const struct shapes *shapes, int line)
{
    for (int digit = 0; digit < DIGITS; digit++)
        if (line / shapes->power[digit] % shapes->base == 0 &&
            shapes->of_line[line + shapes->power[digit]] == FIVE)
            return true;
    return false;
}

/* Whether a five is left wherever the opponent takes one. In caro, the stone that takes one five can
 * spoil the other from its end. */
static bool fives_outlast_a_block(const struct shapes *shapes, int line)
{
    for (int digit = 0; digit < DIGITS; digit++) {
        int power = shapes->power[digit];
        if (line / power % shapes->base == 0 && shapes->of_line[line + power] == FIVE &&
            !can_make_five(shapes, line + 2 * power))
            return false;
    }
    return true;
}

static enum shape four_of(enum goal goal, int line)
{
    const struct shapes *shapes = &tables[goal];
    if (!fives_outlast_a_block(shapes, line))
        return FOUR;
    if (goal == RENJU_BLACK && run_length(shapes, line) != 4)
        return DOUBLE_FOUR; /* two ways to five, but not from the two ends of one row of four */
    return OPEN_FOUR;
}

/* Only fives through the middle stone count, so every shape is one that this stone takes part in. */
static enum shape shape_of(enum goal goal, int line)
{
    const struct shapes *shapes = &tables[goal];
    if (is_five(goal, line))
        return FIVE;
    if (goal == RENJU_BLACK && run_length(shapes, line) > 5)
        return OVERLINE;
    int best = DEAD;
    for (int digit = 0; digit < DIGITS; digit++) {
        if (line / shapes->power[digit] % shapes->base != 0)
            continue;
        int next = shapes->of_line[line + shapes->power[digit]];
        if (next > FIVE)
            next = next == DOUBLE_FOUR ? FOUR : DEAD;
        best = next > best ? next : best;
    }
    if (best == FIVE)
        return four_of(goal, line);
    return best > OPEN_ONE ? (enum shape)(best - 2) : DEAD;
}

/* ---- four lines ---- */

static enum threat threat_of(const int *made)
{
    int fours = made[FOUR];
    if (made[FIVE])
        return FIVE_THREAT;
    if (made[OPEN_FOUR] || fours > 1)
        return OPEN_FOUR_THREAT;
    if (fours)
        return made[OPEN_THREE] ? FOUR_THREE_THREAT : FOUR_THREAT;
    if (made[OPEN_THREE] > 1)
        return DOUBLE_THREE_THREAT;
    return made[OPEN_THREE] ? OPEN_THREE_THREAT : NO_THREAT;
}

/* A five comes before every foul; two fours and six in a row are fouls whatever else is made. */
static enum threat threat_of_renju_black(const int *made)
{
    if (made[FIVE])
        return FIVE_THREAT;
    if (made[FOUR] + made[OPEN_FOUR] + 2 * made[DOUBLE_FOUR] > 1 || made[OVERLINE])
        return FORBIDDEN;
    return made[OPEN_THREE] > 1 ? DOUBTFUL : threat_of(made);
}

static void fill_sets(bool renju_black)
{
    for (int set = 0; set < SETS; set++) {
        int made[1 << SHAPE_BITS] = {0};
        int worth = 0;
        for (int direction = 0; direction < 4; direction++) {
            int shape = set >> (SHAPE_BITS * direction) & SHAPE_MASK;
            made[shape]++;
            worth += shape < SHAPES ? SHAPE_WORTH[shape] : 0;
        }
        enum threat threat = renju_black ? threat_of_renju_black(made) : threat_of(made);
        threats[renju_black][set] = (uint8_t)threat;
        worths[renju_black][set] = (int16_t)(threat == FORBIDDEN ? 0 : worth + THREAT_WORTH[threat]);
    }
}

static void fill_powers(void)
{
    for (int digit = 0, three = 1; digit < DIGITS; digit++, three *= 3) {
        powers_of_three[digit] = three;
        powers_of_four[digit] = 1 << 2 * digit;
    }
}

/* One more stone makes the number larger, so going down finds all successors done. */
static void fill_lines(enum goal goal)
{
    int lines = tables[goal].base == 3 ? LINES_OF_THREE : LINES_OF_FOUR;
    for (int line = lines - 1; line >= 0; line--)
        LINES[goal][line] = (uint8_t)shape_of(goal, line);
}

const struct shapes *shapes_for(enum goal goal)
{
    static bool powers_are_filled, sets_are_filled[2], lines_are_filled[GOALS];
    bool renju_black = goal == RENJU_BLACK;
    if (!powers_are_filled)
        fill_powers();
    if (!sets_are_filled[renju_black])
        fill_sets(renju_black);
    if (!lines_are_filled[goal])
        fill_lines(goal);
    powers_are_filled = sets_are_filled[renju_black] = lines_are_filled[goal] = true;
    return &tables[goal];
}

/*
 * Rule: lay three stones, or answer three with a colour, a stone or two, or five with a colour or a stone.
 *
 * The rows of SWAP2BOARD have no third field: stones alternate, Black first, and White is to move.
 */
#include "swap2.h"

#include "../house-five/board.h"
#include "../house-five/clock.h"
#include "../house-five/lines.h"
#include "../house-five/opening.h"
#include "../house-five/search.h"
#include "../house-gomocup/gomocup.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAID_FIRST = 3, LAID_LATER = 5, BALANCE_REACH = 4, MOST_CHOICES = 32 };
enum { EVEN = 40 }; /* a value so near to zero that the other may as well choose; TEMPO is 60 */

/* ---- answers ---- */

static void answer_cells(const int *cells, int count)
{
    for (int i = 0; i < count; i++)
        printf("%s%d,%d", i > 0 ? " " : "", cell_x(cells[i]), cell_y(cells[i]));
    gomocup_answer("");
}

static int best_move(enum side side, int64_t deadline)
{
    struct report report;
    return search_move(&(struct task){.side = side, .deadline = deadline}, &report);
}

/* Free cells not far from the middle, every second one as on a chessboard: enough kinds of position. */
static int scattered_cells(int *cells)
{
    int count = 0;
    for (int dy = -BALANCE_REACH; dy <= BALANCE_REACH; dy++)
        for (int dx = 0; dx <= BALANCE_REACH; dx++) {
            int x = board.width / 2 + dx, y = board.height / 2 + dy;
            if ((dx + dy) % 2 == 0 && count < MOST_CHOICES && is_on_board(x, y) && is_free(cell_at(x, y)))
                cells[count++] = cell_at(x, y);
        }
    return count;
}

/* Black in the middle, White beside it, and Black again where it is even. */
static void lay_three(void)
{
    int choices[MOST_CHOICES], laid[LAID_FIRST];
    laid[0] = cell_at(board.width / 2, board.height / 2);
    laid[1] = cell_at(board.width / 2, board.height / 2 - 1);
    board_put(laid[0], BLACK);
    board_put(laid[1], WHITE);
    laid[2] = opening_most_even(choices, scattered_cells(choices), BLACK, gomocup_deadline());
    answer_cells(laid, LAID_FIRST);
}

/* White's best fourth, and a fifth that leaves the choice between colours hard. */
static void lay_two(int64_t deadline)
{
    int choices[MOST_CHOICES], laid[2];
    int64_t now = milliseconds_now();
    laid[0] = best_move(WHITE, now + (deadline - now) / 4);
    board_put(laid[0], WHITE);
    laid[1] = opening_most_even(choices, scattered_cells(choices), BLACK, deadline);
    answer_cells(laid, 2);
}

static void stay_white(int64_t deadline)
{
    int move = best_move(WHITE, deadline);
    answer_cells(&move, 1);
}

/* The side that is worth more; with three stones on the board also neither, if it is all the same. */
static void choose(void)
{
    int64_t deadline = gomocup_deadline(), now = milliseconds_now();
    int value = opening_value(WHITE, now + (deadline - now) / 2);
    if (board.stones == LAID_FIRST && abs(value) <= EVEN)
        lay_two(deadline);
    else if (value < 0)
        gomocup_answer("SWAP");
    else
        stay_white(deadline);
}

/* ---- the command ---- */

static void answer_swap2(void)
{
    if (!gomocup_plays_rule())
        return;
    if (board.stones == 0)
        lay_three();
    else if (board.stones == LAID_FIRST || board.stones == LAID_LATER)
        choose();
    else
        gomocup_answer("ERROR swap2 has 0, 3 or 5 stones");
    gomocup_charge_match();
    board_start(board.width, board.height); /* what came of it will be told by BOARD */
}

/* One row, "x,y" or DONE. */
static void on_row(const char *line)
{
    if (!arguments(line, "DONE")) {
        int at = gomocup_parse_cell(line);
        if (is_free(at))
            board_put(at, board_turn());
    } else if (gomocup_has_started()) {
        answer_swap2();
    }
}

bool swap2_takes(const char *line)
{
    if (!arguments(line, "SWAP2BOARD"))
        return false;
    gomocup_read_rows(on_row);
    return true;
}

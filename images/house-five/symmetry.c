/*
 * Rule: of the same choices, the one with the lowest cell number stands for all.
 */
#include "symmetry.h"

#include <stdlib.h>

enum { SYMMETRIES = 8 };

/* The image of a cell of a square board: bit 0 swaps row and column, bits 1 and 2 mirror. */
static int image(int at, int symmetry)
{
    int last = board.width - 1, x = cell_x(at), y = cell_y(at);
    int across = symmetry & 1 ? y : x, down = symmetry & 1 ? x : y;
    return cell_at(symmetry & 2 ? last - across : across, symmetry & 4 ? last - down : down);
}

static bool keeps_all_stones(int symmetry)
{
    for (int y = 0; y < board.height; y++)
        for (int x = 0; x < board.width; x++) {
            int at = cell_at(x, y);
            if (board.cell[at].content != board.cell[image(at, symmetry)].content)
                return false;
        }
    return true;
}

static bool stands_for_all(int at, const bool *keeps)
{
    for (int symmetry = 1; symmetry < SYMMETRIES; symmetry++)
        if (keeps[symmetry] && image(at, symmetry) < at)
            return false;
    return true;
}

static bool is_within(int x, int y, int reach)
{
    return abs(x - board.width / 2) <= reach && abs(y - board.height / 2) <= reach;
}

int symmetry_choices(int *cells, int reach)
{
    bool keeps[SYMMETRIES] = {true};
    int count = 0;
    for (int symmetry = 1; symmetry < SYMMETRIES && board.width == board.height; symmetry++)
        keeps[symmetry] = keeps_all_stones(symmetry);
    for (int y = 0; y < board.height; y++)
        for (int x = 0; x < board.width; x++) {
            int at = cell_at(x, y);
            if (is_free(at) && is_within(x, y, reach) && stands_for_all(at, keeps))
                cells[count++] = at;
        }
    return count;
}

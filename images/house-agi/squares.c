/*
 * Rule: what is no square ends the list, so that "67596AINFINITE" is three squares and a word.
 */
#include "squares.h"

#include "../house-five/board.h"

#include <stdio.h>
#include <string.h>

static const char HEXADECIMAL[] = "0123456789ABCDEF";

static int digit(char character)
{
    const char *place = character == '\0' ? NULL : strchr(HEXADECIMAL, character);
    return place == NULL ? -1 : (int)(place - HEXADECIMAL);
}

static int read_square(const char *text)
{
    int row = digit(text[0]), column = row < 0 ? -1 : digit(text[1]);
    return row >= 0 && row < AGI_SIDE && column > 0 ? cell_at(column - 1, row) : NO_CELL;
}

int squares_read(const char **text, int *cells)
{
    int count = 0;
    for (;;) {
        *text += strspn(*text, " ");
        int cell = read_square(*text);
        if (cell == NO_CELL || count == MOST_SQUARES)
            return count;
        cells[count++] = cell;
        *text += 2;
    }
}

void squares_print(const int *cells, int count)
{
    for (int i = 0; i < count; i++)
        printf("%c%c", HEXADECIMAL[cell_y(cells[i])], HEXADECIMAL[cell_x(cells[i]) + 1]);
}

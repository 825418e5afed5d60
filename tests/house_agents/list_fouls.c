/*
 * Rule: for each line of moves as "h8i9j7" print the points that renju forbids Black, in order.
 */
#include "../../images/house-five/fouls.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 15, LONGEST = 4096 };

static void put_moves(const char *moves)
{
    char letter;
    int number, used;
    for (; sscanf(moves, "%c%d%n", &letter, &number, &used) == 2; moves += used)
        board_put(cell_at(letter - 'a', number - 1), board_turn());
}

int main(void)
{
    static char moves[LONGEST];
    board_prepare();
    board_set_rule(RENJU);
    while (fgets(moves, sizeof moves, stdin) != NULL) {
        board_start(SIDE, SIDE);
        put_moves(moves);
        for (int x = 0; x < SIDE; x++)
            for (int y = 0; y < SIDE; y++)
                if (is_free(cell_at(x, y)) && is_forbidden(cell_at(x, y), BLACK))
                    printf("%c%d ", 'a' + x, y + 1);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

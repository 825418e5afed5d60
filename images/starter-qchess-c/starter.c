// Rule: select a piece and move it at random.
// A starter: copy the folder and give choose_piece and choose_square your own ideas.
// Build: make (or: gcc -std=c11 -O2 -Wall -Wextra -static -o starter starter.c)
// Try:   judge match . house-qchess --policy qchess-2013
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 8, MAX_SQUARES = SIZE * SIZE };

typedef struct {
    int x, y; // (0, 0) is top left
} Square;

// ---- your agent: the position, and a choice for it. A process lives for one game: remember what you want ----

static char colour; // 'w' starts at the bottom and moves first, 'b' at the top
static char board[SIZE][SIZE + 1] = {
    "bbbbbbbb", "bbbbbbbb", "........", "........", "........", "........", "wwwwwwww", "wwwwwwww",
};
static Square selected; // what was announced last
static char kind[16];   // and the type that it has

// The square of the piece to select: one of `squares`, where your pieces stand. Replace this.
// Only the selection tells its type. If that cannot move, your turn is over.
static Square choose_piece(const Square squares[], int count) { return squares[rand() % count]; }

// Where to move the piece on `selected`, which is a `kind` now: one of `squares`. Replace this.
static Square choose_square(const Square squares[], int count) { return squares[rand() % count]; }

// Either side selected the piece on a square: of its two types, number 0 or 1 showed.
// On a light square (x + y even) it keeps that type; on a dark one it is open again after its turn.
static void hear_selection(Square square, int index, const char *type)
{
    (void)square, (void)index, (void)type;
}

static bool is_on_board(Square square)
{
    return square.x >= 0 && square.x < SIZE && square.y >= 0 && square.y < SIZE;
}

static char at(Square square) { return board[square.y][square.x]; }

static bool is_kind(const char *type) { return strcmp(kind, type) == 0; }

// Fills in where your pieces stand, and returns how many there are.
static int own_squares(Square squares[MAX_SQUARES])
{
    int count = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            if (board[y][x] == colour)
                squares[count++] = (Square){x, y};
    return count;
}

// Adds where a step leads when it is repeated: up to an own piece or onto an enemy's.
static int add_line(int dx, int dy, int most, Square squares[], int count)
{
    for (int n = 1; n <= most; n++) {
        Square square = {selected.x + dx * n, selected.y + dy * n};
        if (!is_on_board(square) || at(square) == colour)
            break;
        squares[count++] = square;
        if (at(square) != '.')
            break; // captured: no further
    }
    return count;
}

// Straight on while that is empty, two squares from the first row; captures to the side.
static int add_pawn_squares(Square squares[], int count)
{
    int forward = colour == 'w' ? -1 : 1, first_row = colour == 'w' ? 6 : 1;
    for (int dx = -1; dx <= 1; dx += 2) {
        Square side = {selected.x + dx, selected.y + forward};
        if (is_on_board(side) && at(side) != '.' && at(side) != colour)
            squares[count++] = side;
    }
    for (int n = 1; n <= (selected.y == first_row ? 2 : 1); n++) {
        Square ahead = {selected.x, selected.y + forward * n};
        if (!is_on_board(ahead) || at(ahead) != '.')
            break;
        squares[count++] = ahead;
    }
    return count;
}

// Fills in where the selected piece can move, onto empty squares and enemies, and returns how many there are.
static int legal_squares(Square squares[MAX_SQUARES])
{
    if (is_kind("pawn"))
        return add_pawn_squares(squares, 0);
    int count = 0;
    for (int dx = -1; dx <= 1; dx++)
        for (int dy = -1; dy <= 1; dy++) {
            bool is_straight = (dx == 0) != (dy == 0), is_diagonal = dx != 0 && dy != 0;
            if (is_kind("king") || is_kind("queen") || (is_straight && is_kind("rook")) ||
                (is_diagonal && is_kind("bishop")))
                count = add_line(dx, dy, is_kind("king") ? 1 : SIZE - 1, squares, count);
            if (is_diagonal && is_kind("knight")) {
                count = add_line(dx, 2 * dy, 1, squares, count);
                count = add_line(2 * dx, dy, 1, squares, count);
            }
        }
    return count;
}

// ---- the protocol: nothing below needs a change ----

// The next line, kept until the one after it; the end of the game and of stdin is the end of this program.
static const char *read_line(void)
{
    static char line[4096];
    if (!fgets(line, sizeof line, stdin) || strncmp(line, "QUIT", 4) == 0)
        exit(0);
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static void say(Square square)
{
    printf("%d %d\n", square.x, square.y);
    fflush(stdout); // or it would stay in this process
}

// Takes what is told: a move "x y -> x2 y2" or a selection "x y index type", of the player and of the enemy.
static void hear(const char *line)
{
    Square square, end;
    int index;
    if (sscanf(line, "%d %d -> %d %d", &square.x, &square.y, &end.x, &end.y) == 4) {
        if (is_on_board(square) && is_on_board(end)) {
            board[end.y][end.x] = at(square);
            board[square.y][square.x] = '.';
        }
    } else if (sscanf(line, "%d %d %d %15s", &square.x, &square.y, &index, kind) == 4) {
        selected = square;
        hear_selection(square, index, kind);
    }
}

// The game goes on from a position: a line for each piece, such as "white king ['king', 'king']at 3,7".
static void read_board(void)
{
    const char *line;
    for (int y = 0; y < SIZE; y++)
        memset(board[y], '.', SIZE);
    while (strcmp(line = read_line(), "END BOARD") != 0) {
        const char *where = strstr(line, "at ");
        Square square;
        if (where && sscanf(where, "at %d,%d", &square.x, &square.y) == 2 && is_on_board(square))
            board[square.y][square.x] = line[0];
    }
}

int main(void)
{
    Square squares[MAX_SQUARES];
    srand(1);                // same draws of types, same game
    colour = read_line()[0]; // "white" or "black"
    while (true) {
        const char *line = read_line();
        if (strcmp(line, "SELECTION?") == 0)
            say(choose_piece(squares, own_squares(squares)));
        else if (strcmp(line, "MOVE?") == 0)
            say(choose_square(squares, legal_squares(squares)));
        else if (strcmp(line, "BOARD") == 0)
            read_board();
        else
            hear(line);
    }
}

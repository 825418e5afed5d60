// Rule: play any legal half-move at random.
// A starter: copy the folder and give SETUP and choose_move your own ideas.
// Build: make (or: gcc -std=c11 -O2 -Wall -Wextra -static -o starter starter.c)
// Try:   judge match . house-stratego --policy stratego-2012
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 10, MAX_MOVES = 40 * 4 * SIZE };

// Your 40 pieces as RED sees them, the back row first: one each of 1 2 s F, two 3, three 4, four each of
// 5 6 7, five 8, eight 9, six B. Don't lock pieces in behind bombs: without a legal move you lose (2012).
static const char *const SETUP[4] = {
    "8BFB887B95",
    "78B9s78B69",
    "6549B63754",
    "9236195499",
};

typedef struct {
    const char *name;
    int dx, dy;
} Direction;
static const Direction DIRECTIONS[4] = {{"UP", 0, -1}, {"DOWN", 0, 1}, {"LEFT", -1, 0}, {"RIGHT", 1, 0}};

typedef struct {
    int x, y;
    Direction direction;
    int steps; // more than 1 for a Scout only
} Move;

// ---- your agent: the position, and a move for it. A process lives for one game: remember what you want ----

static bool is_red;
// board[y][x]: a letter of your own, '#' an enemy, '+' a lake, '.' empty; row 0 is RED's back row.
static char board[SIZE][SIZE];

// Your move: one of `moves`, which are the legal ones and at least one. Replace this.
static Move choose_move(const Move moves[], int count) { return moves[rand() % count]; }

// What became of a half-move, yours and the enemy's in turn: "4 3 DOWN OK", "4 4 DOWN KILLS 3 7".
// Behind KILLS, DIES and BOTHDIE stand the attacker and the defender: this is how you learn ranks.
static void hear_confirmation(const char *line) { (void)line; }

// What stands on a square; beyond the edge is nothing to go to either, like a lake.
static char at(int x, int y) { return x >= 0 && x < SIZE && y >= 0 && y < SIZE ? board[y][x] : '+'; }

// 1 Marshal, 2 General ... 8 Miner, 9 Scout, s Spy; B (Bomb) and F (Flag) stay.
static bool is_movable(int x, int y) { return (at(x, y) >= '1' && at(x, y) <= '9') || at(x, y) == 's'; }

// Adds the moves of a piece in a direction: one step, or any number for a Scout until something is in its way.
static int add_moves(int x, int y, Direction direction, Move moves[], int count)
{
    int most = at(x, y) == '9' ? SIZE - 1 : 1;
    for (int steps = 1; steps <= most; steps++) {
        char content = at(x + direction.dx * steps, y + direction.dy * steps);
        if (content == '.' || content == '#')
            moves[count++] = (Move){x, y, direction, steps};
        if (content != '.')
            break; // nobody jumps
    }
    return count;
}

// Fills in all moves and returns how many there are.
static int legal_moves(Move moves[MAX_MOVES])
{
    int count = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            for (int i = 0; i < 4 && is_movable(x, y); i++)
                count = add_moves(x, y, DIRECTIONS[i], moves, count);
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

// One row of the board; what is missing of it is a lake.
static void read_row(char row[SIZE])
{
    const char *line = read_line();
    for (int x = 0; x < SIZE; x++)
        row[x] = *line ? *line++ : '+';
}

static void say_move(void)
{
    Move moves[MAX_MOVES];
    int count = legal_moves(moves);
    if (count == 0) {
        puts("NO_MOVE"); // under the rules of 2012 the game ends before that
    } else {
        Move move = choose_move(moves, count);
        printf("%d %d %s", move.x, move.y, move.direction.name);
        printf(move.steps == 1 ? "\n" : " %d\n", move.steps);
    }
    fflush(stdout); // or it would stay in this process
}

int main(void)
{
    srand(1); // the same game can be played again
    is_red = strncmp(read_line(), "RED", 3) == 0; // "RED opponent 10 10"
    for (int row = 0; row < 4; row++)
        puts(SETUP[is_red ? row : 3 - row]);
    fflush(stdout);
    const char *first = read_line(); // START for RED, who moves first
    if (!is_red)
        hear_confirmation(first);
    while (true) {
        for (int y = 0; y < SIZE; y++)
            read_row(board[y]);
        say_move();
        hear_confirmation(read_line());
        hear_confirmation(read_line());
    }
}

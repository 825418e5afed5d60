/*
 * Rule: take the last move back where that is still possible, else play the first move onto an empty
 * square, and attack only when nothing else is left, so that a benchmark measures the judge and two
 * of these agents never end a game.
 *
 * The manager says nothing more until it is answered, so what it wants stands at the very end of what
 * was read: ten rows of the board ask for a move, the line with our colour for the set-up, QUIT for
 * nothing. The confirmations before the board need no reading, for the board shows where all pieces are.
 *
 * No bomb of the set-up closes a square in. Therefore somebody can move for as long as a movable piece
 * is left; without one the game is over by the rules of 2012, and NO_MOVE is due by those of 2011.
 *
 * One read brings a request, one write takes the answer back: no stdio, no allocation, no clock.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 10, ROW_BYTES = SIDE + 1, BOARD_BYTES = SIDE * ROW_BYTES };
enum { SETUP_ROWS = 4, SETUP_BYTES = SETUP_ROWS * ROW_BYTES };
enum { INPUT_BYTES = 1 << 16, DIRECTIONS = 4 };

/* RED's rows from the top of the board, which is its back; BLUE's are the same from below. */
static const char SETUP[] = "FB8B8B8B8B\n"
                            "B877776666\n"
                            "5555444332\n"
                            "1s99999999\n";

static const struct direction {
    const char *word;
    int dx, dy;
} directions[DIRECTIONS] = {
    /* Opposites differ in the last bit. */
    {" DOWN\n", 0, 1},
    {" UP\n", 0, -1},
    {" LEFT\n", -1, 0},
    {" RIGHT\n", 1, 0},
};

struct move {
    int x, y, direction;
};

static struct move undo; /* takes our last move back */
static bool has_moved;

/* ---- answers ---- */

static void answer(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(STDOUT_FILENO, text, length);
        if (n <= 0)
            _exit(0); /* the manager has gone */
        text += n;
        length -= (size_t)n;
    }
}

static void answer_setup(bool is_red)
{
    char rows[SETUP_BYTES];
    for (int row = 0; row < SETUP_ROWS; row++) {
        int from_top = is_red ? row : SETUP_ROWS - 1 - row;
        memcpy(rows + row * ROW_BYTES, SETUP + from_top * ROW_BYTES, ROW_BYTES);
    }
    answer(rows, sizeof rows);
}

static void answer_move(struct move move)
{
    char text[16] = {(char)('0' + move.x), ' ', (char)('0' + move.y)};
    size_t length = strlen(directions[move.direction].word);
    memcpy(text + 3, directions[move.direction].word, length);
    answer(text, 3 + length);
}

/* ---- the board: ten rows as they were read ---- */

static char square(const char *board, int x, int y)
{
    if (x < 0 || x >= SIDE || y < 0 || y >= SIDE)
        return '+'; /* nobody leaves the board, as nobody enters a lake */
    return board[y * ROW_BYTES + x];
}

static bool is_movable(char piece)
{
    return (piece >= '1' && piece <= '9') || piece == 's';
}

/* Whether the move takes one of our pieces to a square of this content: empty or an enemy's. */
static bool leads_to(const char *board, struct move move, char content)
{
    struct direction to = directions[move.direction];
    return is_movable(square(board, move.x, move.y)) &&
           square(board, move.x + to.dx, move.y + to.dy) == content;
}

/* Finds the first move to a square of this content, in reading order. */
static bool find_move(const char *board, char content, struct move *move)
{
    for (move->y = 0; move->y < SIDE; move->y++)
        for (move->x = 0; move->x < SIDE; move->x++)
            for (move->direction = 0; move->direction < DIRECTIONS; move->direction++)
                if (leads_to(board, *move, content))
                    return true;
    return false;
}

static struct move opposite(struct move move)
{
    struct direction to = directions[move.direction];
    return (struct move){move.x + to.dx, move.y + to.dy, move.direction ^ 1};
}

static void move(const char *board)
{
    struct move next = undo;
    bool can_undo = has_moved && leads_to(board, undo, '.');
    if (!can_undo && !find_move(board, '.', &next) && !find_move(board, '#', &next)) {
        answer("NO_MOVE\n", 8);
        return;
    }
    has_moved = true;
    undo = opposite(next);
    answer_move(next);
}

/* ---- requests ---- */

static bool is_lake_row(const char *row)
{
    return row[2] == '+' && row[3] == '+' && row[6] == '+' && row[7] == '+';
}

/* The lakes tell a whole board: they stand on its fifth and sixth row and nowhere else. */
static bool ends_with_board(const char *input, size_t length)
{
    if (length < BOARD_BYTES)
        return false;
    const char *board = input + length - BOARD_BYTES;
    return is_lake_row(board + 4 * ROW_BYTES) && is_lake_row(board + 5 * ROW_BYTES);
}

static bool begins_with(const char *line, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static const char *last_line(const char *input, size_t length)
{
    const char *line = input + length - 1; /* its newline */
    while (line > input && line[-1] != '\n')
        line--;
    return line;
}

/* Serves what the input ends with, if that is a request; says whether it was one. */
static bool serve(const char *input, size_t length)
{
    static bool is_set_up;
    if (length == 0 || input[length - 1] != '\n')
        return false;
    const char *line = last_line(input, length);
    size_t line_length = (size_t)(input + length - line);
    if (begins_with(line, line_length, "QUIT"))
        _exit(0);
    if (is_set_up && ends_with_board(input, length)) {
        move(input + length - BOARD_BYTES);
        return true;
    }
    bool is_red = begins_with(line, line_length, "RED ");
    if (!is_set_up && (is_red || begins_with(line, line_length, "BLUE "))) {
        answer_setup(is_red);
        is_set_up = true;
        return true;
    }
    return false;
}

int main(void)
{
    static char input[INPUT_BYTES];
    size_t length = 0; /* bytes since the last request */
    for (;;) {
        if (length == sizeof input) {
            /* Confirmations of absurd length: only the end can still be part of a board. */
            memmove(input, input + length - BOARD_BYTES, BOARD_BYTES);
            length = BOARD_BYTES;
        }
        ssize_t n = read(STDIN_FILENO, input + length, sizeof input - length);
        if (n <= 0)
            return 0;
        length += (size_t)n;
        if (serve(input, length))
            length = 0;
    }
}

/*
 * Rule: select a piece whose type is known and that can step onto an empty square, the one that moved
 * last before all others, and step there; capture only when a selected piece can do nothing else. A
 * benchmark thus measures the judge, and two of these agents play as long as they are let.
 *
 * Known for sure are the king and whatever stands on a light square and was selected before, since only
 * dark squares open a piece again. Where no such piece can step, the pieces are selected in turn, so
 * that none that is stuck can hold the game up. Where to is decided after the announcement of the type,
 * from a board that is kept by the announcements of both sides, so no answer is ever illegal.
 *
 * One read brings a request, one write takes the answer back: no stdio, no allocation, no clock.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 8, SQUARES = SIDE * SIDE, INPUT_BYTES = 1 << 16, NOWHERE = -1 };
enum colour { NOBODY, WHITE, BLACK };
enum kind { UNKNOWN, PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };

static struct square {
    enum colour colour;
    enum kind kind; /* the type that was announced last, or UNKNOWN */
} board[SQUARES];   /* x + SIDE * y */

static enum colour own_colour;
static bool reading_board; /* between BOARD and END BOARD */
static int last_moved, last_selected;

/* ---- the board ---- */

static void place_officers(int y, enum colour colour)
{
    for (int x = 0; x < SIDE; x++)
        board[x + SIDE * y] = (struct square){colour, UNKNOWN};
    board[3 + SIDE * y].kind = KING; /* on this column for both colours */
}

static void set_up(void)
{
    memset(board, 0, sizeof board);
    place_officers(0, BLACK);
    place_officers(7, WHITE);
    for (int x = 0; x < SIDE; x++) {
        board[x + SIDE * 1].colour = BLACK;
        board[x + SIDE * 6].colour = WHITE;
    }
}

static bool is_light(int at)
{
    return (at % SIDE + at / SIDE) % 2 == 0;
}

static enum kind known_kind(int at)
{
    return is_light(at) || board[at].kind == KING ? board[at].kind : UNKNOWN;
}

static void move_piece(int from, int to)
{
    struct square piece = board[from];
    board[from] = (struct square){NOBODY, UNKNOWN};
    if (piece.kind == PAWN && to / SIDE == (piece.colour == WHITE ? 0 : SIDE - 1))
        piece.kind = QUEEN;
    board[to] = piece;
    if (piece.colour == own_colour)
        last_moved = to;
}

/* ---- where a piece of ours can go ---- */

static const struct moves {
    int count;
    bool slides;
    signed char steps[8][2];
} moves[] = {
    [KNIGHT] = {8, false, {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}},
    [BISHOP] = {4, true, {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}},
    [ROOK] = {4, true, {{0, 1}, {1, 0}, {0, -1}, {-1, 0}}},
    [QUEEN] = {8, true, {{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}}},
    [KING] = {8, false, {{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}}},
};

static int neighbour(int at, int dx, int dy)
{
    int x = at % SIDE + dx, y = at / SIDE + dy;
    return x >= 0 && x < SIDE && y >= 0 && y < SIDE ? x + SIDE * y : NOWHERE;
}

/* The first square with this colour on it (NOBODY: empty) that a pawn can reach. */
static int find_pawn_target(int at, enum colour wanted)
{
    int forward = own_colour == WHITE ? -1 : 1;
    int ahead = neighbour(at, 0, forward);
    if (wanted == NOBODY)
        return ahead != NOWHERE && board[ahead].colour == NOBODY ? ahead : NOWHERE;
    for (int dx = -1; dx <= 1; dx += 2) {
        int side = neighbour(at, dx, forward);
        if (side != NOWHERE && board[side].colour == wanted)
            return side;
    }
    return NOWHERE;
}

/* The first square with this colour on it (NOBODY: empty) that a piece of this type can reach. */
static int find_target(int at, enum kind kind, enum colour wanted)
{
    if (kind == UNKNOWN)
        return NOWHERE;
    if (kind == PAWN)
        return find_pawn_target(at, wanted);
    for (int i = 0; i < moves[kind].count; i++) {
        int dx = moves[kind].steps[i][0], dy = moves[kind].steps[i][1];
        int to = neighbour(at, dx, dy);
        while (to != NOWHERE && board[to].colour == NOBODY && wanted != NOBODY && moves[kind].slides)
            to = neighbour(to, dx, dy);
        if (to != NOWHERE && board[to].colour == wanted)
            return to;
    }
    return NOWHERE;
}

/* ---- answers ---- */

static void answer(int at)
{
    char text[] = {(char)('0' + at % SIDE), ' ', (char)('0' + at / SIDE), '\n'};
    if (write(STDOUT_FILENO, text, sizeof text) != sizeof text)
        _exit(0); /* the manager has gone */
}

static bool can_step(int at)
{
    return board[at].colour == own_colour && find_target(at, known_kind(at), NOBODY) != NOWHERE;
}

/* The first square from `start` on, round the board, that is fit; NOWHERE if none is. */
static int find_square(int start, bool (*is_fit)(int at))
{
    for (int i = 0; i < SQUARES; i++) {
        int at = (start + i) % SQUARES;
        if (is_fit(at))
            return at;
    }
    return NOWHERE;
}

static bool is_own(int at)
{
    return board[at].colour == own_colour;
}

static void select_piece(void)
{
    int at = find_square(last_moved, can_step);
    if (at == NOWHERE)
        at = find_square(last_selected + 1, is_own);
    answer(at);
}

static void move_selected(void)
{
    enum kind kind = board[last_selected].kind; /* as it was just announced */
    int to = find_target(last_selected, kind, NOBODY);
    if (to == NOWHERE)
        to = find_target(last_selected, kind, own_colour == WHITE ? BLACK : WHITE);
    answer(to);
}

/* ---- what the manager says ---- */

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* The type whose word a text begins with. */
static enum kind kind_of(const char *text)
{
    static const char *const names[] = {"unknown", "pawn", "knight", "bishop", "rook", "queen", "king"};
    enum kind kind = KING;
    while (kind > UNKNOWN && !begins_with(text, names[kind]))
        kind--;
    return kind;
}

/* The square of "x y" at the start of a text; NOWHERE where no square stands there. */
static int read_square(const char *text, char between)
{
    if (text[0] < '0' || text[0] > '7' || text[1] != between || text[2] < '0' || text[2] > '7')
        return NOWHERE;
    return text[0] - '0' + SIDE * (text[2] - '0');
}

/* One piece of a position that is gone on from: "black king ['king', 'king']at 3,0". */
static void on_board_line(const char *line)
{
    size_t length = strlen(line);
    int at = length < strlen("white ") ? NOWHERE : read_square(line + length - 3, ',');
    if (at == NOWHERE)
        return; /* the empty line */
    const char *type = line + strlen("white "); /* as long as "black " */
    board[at] = (struct square){begins_with(line, "white") ? WHITE : BLACK, kind_of(type)};
}

/* "x y -> x2 y2", or "x y index type". */
static void on_announcement(const char *line)
{
    int from = read_square(line, ' ');
    if (from == NOWHERE)
        return; /* the words of an illegal answer: nothing has changed */
    if (begins_with(line + 3, " -> ")) {
        move_piece(from, read_square(line + 7, ' '));
        return;
    }
    board[from].kind = kind_of(strrchr(line, ' ') + 1);
    if (board[from].colour == own_colour)
        last_selected = from;
}

static void on_line(const char *line)
{
    if (begins_with(line, "SELECTION?")) {
        select_piece();
    } else if (begins_with(line, "MOVE?")) {
        move_selected();
    } else if (begins_with(line, "QUIT")) {
        _exit(0);
    } else if (begins_with(line, "END BOARD")) {
        reading_board = false;
    } else if (reading_board) {
        on_board_line(line);
    } else if (begins_with(line, "BOARD")) {
        memset(board, 0, sizeof board);
        reading_board = true;
    } else if (begins_with(line, "white") || begins_with(line, "black")) {
        own_colour = line[0] == 'w' ? WHITE : BLACK;
        set_up();
    } else {
        on_announcement(line);
    }
}

/* Serves every whole line in the buffer and returns how many bytes they took. */
static size_t serve_lines(char *input, size_t length)
{
    size_t line = 0;
    for (size_t i = 0; i < length; i++) {
        if (input[i] != '\n')
            continue;
        input[i] = '\0';
        on_line(input + line);
        line = i + 1;
    }
    return line;
}

int main(void)
{
    static char input[INPUT_BYTES];
    size_t length = 0; /* bytes of a line that has not ended yet */
    for (;;) {
        if (length == sizeof input)
            length = 0; /* no line is this long: forget it */
        ssize_t n = read(STDIN_FILENO, input + length, sizeof input - length);
        if (n <= 0)
            return 0;
        length += (size_t)n;
        size_t served = serve_lines(input, length);
        length -= served;
        memmove(input, input + served, length);
    }
}

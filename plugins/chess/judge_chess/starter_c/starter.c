// A chess engine for UCI: an alpha-beta search that counts material. Begin yours from it.
// Build: make (or: gcc -std=c11 -O2 -Wall -Wextra -static -o starter starter.c)
// Try:   judge check . --policy chess.toml
//
// The board has 120 squares, ten per row, with a border of '#'. Capitals are white.
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SQUARES = 120, NORTH = -10, EAST = 1, SOUTH = 10, WEST = -1 };
enum { MATE = 30000, MAX_DEPTH = 60, MAX_MOVES = 256, MAX_LINE = 1 << 16 };
#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

typedef struct {
    char squares[SQUARES];
    bool castles[SQUARES]; // the rooks that may castle
    bool is_white;         // the side to move
    int passed;            // the square that a pawn has just passed, or 0
} Board;

typedef struct {
    int from, to; // castling goes to the rook
    char promotion; // 'q', 'r', 'b', 'n' or 0
} Move;

static const int KNIGHT[] = {-21, -19, -12, -8, 8, 12, 19, 21, 0};
static const int DIAGONAL[] = {-11, -9, 9, 11, 0};
static const int STRAIGHT[] = {NORTH, EAST, SOUTH, WEST, 0};
static const int ALL[] = {-11, -9, 9, 11, NORTH, EAST, SOUTH, WEST, 0};

static bool is_chess960;
static double deadline;
static bool is_over; // the time
static long nodes;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static const int *steps_of(char kind)
{
    return kind == 'N' ? KNIGHT : kind == 'B' ? DIAGONAL : kind == 'R' ? STRAIGHT : ALL;
}

static int value_of(char piece)
{
    switch (toupper(piece)) {
    case 'P': return 100;
    case 'N': return 320;
    case 'B': return 330;
    case 'R': return 500;
    case 'Q': return 900;
    default: return 0;
    }
}

static bool owns(char piece, bool is_white) { return is_white ? isupper(piece) : islower(piece); }

static char piece_of(char kind, bool is_white) { return is_white ? kind : (char)tolower(kind); }

static int square(const char *name) { return 20 + 10 * ('8' - name[1]) + name[0] - 'a' + 1; }

static int king_of(const Board *board, bool is_white)
{
    return (int)((const char *)memchr(board->squares, is_white ? 'K' : 'k', SQUARES) - board->squares);
}

// The rook of a letter of the castling field (K, Q, or a column), or 0.
static int rook_of(const Board *board, char right)
{
    bool is_white = isupper(right);
    int first = is_white ? 91 : 21, king = king_of(board, is_white);
    char rook = piece_of('R', is_white);
    switch (toupper(right)) {
    case 'K':
        for (int at = first + 7; at > king; at--)
            if (board->squares[at] == rook)
                return at;
        return 0;
    case 'Q':
        for (int at = first; at < king; at++)
            if (board->squares[at] == rook)
                return at;
        return 0;
    default:
        return isalpha(right) ? first + toupper(right) - 'A' : 0;
    }
}

static void read_fen(Board *board, const char *fen)
{
    char rows[100], turn[8], castling[16], passed[8];
    memset(board, 0, sizeof *board);
    memset(board->squares, '#', SQUARES);
    if (sscanf(fen, "%99s %7s %15s %7s", rows, turn, castling, passed) != 4)
        return;
    int at = 21, row = 0;
    for (const char *letter = rows; *letter; letter++) {
        if (*letter == '/')
            at = 21 + 10 * ++row;
        else if (isdigit((unsigned char)*letter))
            for (int count = *letter - '0'; count > 0; count--)
                board->squares[at++] = '.';
        else
            board->squares[at++] = *letter;
    }
    board->is_white = turn[0] == 'w';
    for (const char *right = castling; *right; right++)
        board->castles[rook_of(board, *right)] = true;
    board->castles[0] = false;
    board->passed = passed[0] == '-' ? 0 : square(passed);
}

static bool is_attacked(const Board *board, int at, bool by_white)
{
    const char *squares = board->squares;
    int forward = by_white ? NORTH : SOUTH;
    char pawn = piece_of('P', by_white);
    if (squares[at - forward - 1] == pawn || squares[at - forward + 1] == pawn)
        return true;
    for (const char *kind = "NBRQK"; *kind; kind++) {
        char piece = piece_of(*kind, by_white);
        for (const int *step = steps_of(*kind); *step; step++) {
            int to = at + *step;
            while (squares[to] == '.' && *kind != 'N' && *kind != 'K')
                to += *step;
            if (squares[to] == piece)
                return true;
        }
    }
    return false;
}

static bool is_check(const Board *board)
{
    return is_attacked(board, king_of(board, board->is_white), !board->is_white);
}

// The squares of king and rook after castling.
static void castled(int king, int rook, int *king_end, int *rook_end)
{
    int row = king / 10 * 10;
    *king_end = row + (rook > king ? 7 : 3);
    *rook_end = row + (rook > king ? 6 : 4);
}

static bool can_castle(const Board *board, int king, int rook)
{
    int king_end, rook_end;
    castled(king, rook, &king_end, &rook_end);
    int low = king < rook ? king : rook, high = king + rook - low;
    int first = king_end < rook_end ? king_end : rook_end, last = king_end + rook_end - first;
    for (int at = first < low ? first : low; at <= (last > high ? last : high); at++)
        if (board->squares[at] != '.' && at != king && at != rook)
            return false;
    int step = king_end >= king ? 1 : -1;
    for (int at = king; at != king_end + step; at += step)
        if (is_attacked(board, at, !board->is_white))
            return false;
    return true;
}

static int add(Move moves[], int count, int from, int to, char promotion)
{
    moves[count] = (Move){from, to, promotion};
    return count + 1;
}

static int add_pawn_move(Move moves[], int count, int from, int to, bool is_white)
{
    if (to / 10 != (is_white ? 2 : 9))
        return add(moves, count, from, to, 0);
    for (const char *promotion = "qrbn"; *promotion; promotion++)
        count = add(moves, count, from, to, *promotion);
    return count;
}

// Fills in all moves; some leave the king in check. Returns their number.
static int find_moves(const Board *board, Move moves[MAX_MOVES])
{
    const char *squares = board->squares;
    bool white = board->is_white;
    int count = 0, forward = white ? NORTH : SOUTH;
    for (int at = 21; at < 99; at++) {
        char piece = squares[at];
        if (!owns(piece, white))
            continue;
        if (toupper(piece) == 'P') {
            for (int side = -1; side <= 1; side += 2) {
                int to = at + forward + side;
                if (owns(squares[to], !white) || (to == board->passed && to))
                    count = add_pawn_move(moves, count, at, to, white);
            }
            if (squares[at + forward] == '.') {
                count = add_pawn_move(moves, count, at, at + forward, white);
                if (at / 10 == (white ? 8 : 3) && squares[at + 2 * forward] == '.')
                    count = add(moves, count, at, at + 2 * forward, 0);
            }
            continue;
        }
        bool slides = toupper(piece) != 'N' && toupper(piece) != 'K';
        for (const int *step = steps_of((char)toupper(piece)); *step; step++) {
            int to = at + *step;
            for (; squares[to] == '.' && slides; to += *step)
                count = add(moves, count, at, to, 0);
            if (squares[to] == '.' || owns(squares[to], !white))
                count = add(moves, count, at, to, 0);
        }
    }
    int king = king_of(board, white);
    for (int rook = king / 10 * 10; rook < king / 10 * 10 + 10; rook++)
        if (board->castles[rook] && can_castle(board, king, rook))
            count = add(moves, count, king, rook, 0);
    return count;
}

// Makes a move in `after`. Returns whether it is legal.
static bool play(const Board *board, Move move, Board *after)
{
    bool white = board->is_white;
    char piece = board->squares[move.from];
    *after = *board;
    after->passed = 0;
    after->squares[move.from] = '.';
    if (board->squares[move.to] == piece_of('R', white)) {
        int king_end, rook_end;
        castled(move.from, move.to, &king_end, &rook_end);
        after->squares[move.to] = '.';
        after->squares[king_end] = piece;
        after->squares[rook_end] = piece_of('R', white);
    } else {
        after->squares[move.to] = move.promotion ? piece_of((char)toupper(move.promotion), white) : piece;
        if (toupper(piece) == 'P') {
            if (move.to == board->passed)
                after->squares[move.to + (white ? SOUTH : NORTH)] = '.';
            if (abs(move.to - move.from) == 20)
                after->passed = (move.from + move.to) / 2;
        }
    }
    after->castles[move.from] = after->castles[move.to] = false;
    if (toupper(piece) == 'K')
        memset(after->castles + (white ? 91 : 21), 0, 8);
    if (is_check(after))
        return false;
    after->is_white = !white;
    return true;
}

// The move of a text in UCI notation.
static Move read_move(const Board *board, const char *text)
{
    Move move = {square(text), square(text + 2), isalpha((unsigned char)text[4]) ? text[4] : 0};
    if (toupper(board->squares[move.from]) == 'K' && abs(move.to - move.from) == 2) {
        int row = move.from / 10 * 10, step = move.to > move.from ? 1 : -1;
        for (int rook = move.from + step; rook > row && rook < row + 9; rook += step)
            if (board->castles[rook])
                return (Move){move.from, rook, 0};
    }
    return move;
}

static const char *write_move(const Board *board, Move move, char text[6])
{
    int to = move.to, rook_end;
    if (!is_chess960 && board->squares[to] == piece_of('R', board->is_white))
        castled(move.from, move.to, &to, &rook_end);
    text[0] = (char)('a' + move.from % 10 - 1);
    text[1] = (char)('8' - (move.from - 20) / 10);
    text[2] = (char)('a' + to % 10 - 1);
    text[3] = (char)('8' - (to - 20) / 10);
    text[4] = move.promotion;
    text[5] = 0;
    return text;
}

// ---- your engine: the value of a position, and the search for a move ----

// Material and the central files, for the side to move.
static int evaluate(const Board *board)
{
    int total = 0;
    for (int at = 21; at < 99; at++) {
        char piece = board->squares[at];
        if (!isalpha(piece))
            continue;
        int value = value_of(piece), row = at / 10 - 2;
        if (toupper(piece) != 'K')
            value += 4 - abs(at % 10 * 2 - 9) / 2;
        if (toupper(piece) == 'P')
            value += 2 * (isupper(piece) ? 7 - row : row);
        total += isupper(piece) ? value : -value;
    }
    return board->is_white ? total : -total;
}

// Sorts captures of large pieces to the front.
static void sort_moves(const Board *board, Move moves[], int count)
{
    for (int i = 1; i < count; i++) {
        Move move = moves[i];
        int value = value_of(board->squares[move.to]), j = i;
        for (; j > 0 && value_of(board->squares[moves[j - 1].to]) < value; j--)
            moves[j] = moves[j - 1];
        moves[j] = move;
    }
}

// The value of a position for the side to move.
static int search(const Board *board, int depth, int alpha, int beta, int ply)
{
    if (++nodes % 1024 == 0 && now() > deadline)
        is_over = true;
    if (is_over || depth == 0)
        return evaluate(board);
    Move moves[MAX_MOVES];
    int count = find_moves(board, moves), best = -2 * MATE;
    sort_moves(board, moves, count);
    for (int i = 0; i < count; i++) {
        Board after;
        if (!play(board, moves[i], &after))
            continue;
        int value = -search(&after, depth - 1, -beta, -alpha, ply + 1);
        if (value > best)
            best = value;
        if (best > alpha)
            alpha = best;
        if (alpha >= beta)
            break;
    }
    if (best == -2 * MATE)
        return is_check(board) ? ply - MATE : 0;
    return best;
}

// Searches deeper until the time is over, and prints the best move.
static void choose(const Board *board, double seconds)
{
    double begin = now();
    Move moves[MAX_MOVES];
    int count = 0, all = find_moves(board, moves);
    Board after;
    char text[6];
    deadline = begin + seconds;
    is_over = false;
    nodes = 0;
    for (int i = 0; i < all; i++)
        if (play(board, moves[i], &after))
            moves[count++] = moves[i];
    sort_moves(board, moves, count);
    for (int depth = 1; depth <= MAX_DEPTH && count > 0; depth++) {
        int alpha = -2 * MATE, best = 0;
        for (int i = 0; i < count && !is_over; i++) {
            play(board, moves[i], &after);
            int value = -search(&after, depth - 1, -2 * MATE, -alpha, 1);
            if (value > alpha && !is_over) {
                alpha = value;
                best = i;
            }
        }
        Move move = moves[best];
        memmove(moves + 1, moves, (size_t)best * sizeof *moves);
        moves[0] = move;
        if (is_over)
            break;
        printf("info depth %d score cp %d nodes %ld time %d pv %s\n", depth, alpha, nodes,
               (int)((now() - begin) * 1000), write_move(board, move, text));
        fflush(stdout);
        if (abs(alpha) > MATE - 100 || count == 1)
            break;
    }
    printf("bestmove %s\n", count > 0 ? write_move(board, moves[0], text) : "(none)");
    fflush(stdout);
}

// Counts the sequences of legal moves, and prints the number after each first move. Compare it with other engines.
static long perft(const Board *board, int depth, bool prints)
{
    Move moves[MAX_MOVES];
    long total = 0;
    int count = find_moves(board, moves);
    for (int i = 0; i < count; i++) {
        Board after;
        char text[6];
        if (!play(board, moves[i], &after))
            continue;
        long found = depth > 1 ? perft(&after, depth - 1, false) : 1;
        if (prints)
            printf("%s: %ld\n", write_move(board, moves[i], text), found);
        total += found;
    }
    return total;
}

// ---- UCI ----

// The number after a word of `go`, or `otherwise`.
static double number_after(const char *line, const char *word, double otherwise)
{
    const char *found = strstr(line, word);
    return found == NULL ? otherwise : strtod(found + strlen(word), NULL);
}

static void read_position(Board *board, char *line)
{
    char *moves = strstr(line, " moves "), *fen = strstr(line, "fen ");
    read_fen(board, fen != NULL ? fen + 4 : START);
    for (char *text = moves == NULL ? NULL : strtok(moves + 7, " \r\n"); text != NULL; text = strtok(NULL, " \r\n")) {
        Board before = *board;
        play(&before, read_move(&before, text), board);
    }
}

int main(void)
{
    static char line[MAX_LINE];
    Board board;
    read_fen(&board, START);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strncmp(line, "ucinewgame", 10) == 0) {
            continue;
        } else if (strncmp(line, "uci", 3) == 0) {
            puts("id name starter-uci-c\nid author judge");
            puts("option name UCI_Chess960 type check default false\nuciok");
        } else if (strncmp(line, "isready", 7) == 0) {
            puts("readyok");
        } else if (strncmp(line, "setoption name UCI_Chess960", 27) == 0) {
            is_chess960 = strstr(line, "true") != NULL;
        } else if (strncmp(line, "position", 8) == 0) {
            read_position(&board, line);
        } else if (strncmp(line, "go perft ", 9) == 0) {
            printf("Nodes searched: %ld\n", perft(&board, atoi(line + 9), true));
        } else if (strncmp(line, "go", 2) == 0) {
            double left = number_after(line, board.is_white ? "wtime" : "btime", 1e9);
            double ms = number_after(line, "movetime", 1e9) - 50;
            choose(&board, (ms < left / 40 ? ms : left / 40) / 1000);
        } else if (strncmp(line, "quit", 4) == 0) {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}

/*
 * Rule: speak Gomocup on the pipes and never think past the limits that the manager announced.
 *
 * Boards of 5 to 60 cells a side, square or not; INFO rule 0 (five or more wins) and 1 (exactly five
 * wins). Any other rule is refused when a move is asked for, as the protocol wants: the manager
 * does not listen while it sends INFO.
 */
#include "board.h"
#include "clock.h"
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_BYTES = 1 << 14, NOT_TOLD = -1, UNLIMITED = 2147483647 };

/* Shares of the time, in per cent, and a margin for what happens outside of this program. */
enum { TURN_SHARE = 65, TURN_MARGIN_SHARE = 10, TURN_MARGIN_MS = 30, MATCH_SHARE = 4 };
enum { DEFAULT_TURN_MS = 1000 };

static int64_t turn_ms = NOT_TOLD;
static int64_t match_ms = NOT_TOLD;     /* what is left of the match */
static int64_t request_came;            /* when the bytes of the current request were read */
static int rule;
static bool started, reading_board;

/* ---- time ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long to think about one move. Zero or less: do not think, only look. */
static int64_t thinking_time(void)
{
    bool match_is_limited = match_ms != NOT_TOLD && match_ms < UNLIMITED;
    int64_t turn = turn_ms;
    if (turn == NOT_TOLD)
        turn = match_is_limited ? match_ms : DEFAULT_TURN_MS;
    int64_t time = turn * TURN_SHARE / 100;
    time = smaller(time, turn - turn * TURN_MARGIN_SHARE / 100 - TURN_MARGIN_MS);
    if (match_is_limited)
        time = smaller(time, match_ms * MATCH_SHARE / 100);
    return time;
}

/* For managers that announce timeout_match but no time_left. */
static void charge_match(void)
{
    if (match_ms != NOT_TOLD && match_ms < UNLIMITED)
        match_ms -= milliseconds_now() - request_came;
}

/* ---- answers ---- */

static void answer(const char *text)
{
    printf("%s\r\n", text);
    fflush(stdout);
}

static void answer_move(void)
{
    char report[LONGEST_REPORT];
    if (rule != 0 && rule != 1) {
        answer("ERROR only rules 0 and 1 are supported");
        return;
    }
    int move = search_move(request_came + thinking_time(), report);
    if (move == NO_CELL) {
        answer("ERROR no free cell");
        return;
    }
    board_put(move, OWN);
    printf("MESSAGE %s ms %d\r\n%d,%d\r\n", report, (int)(milliseconds_now() - request_came),
           cell_x(move), cell_y(move));
    fflush(stdout);
    charge_match();
}

static bool has_started(void)
{
    if (!started)
        answer("ERROR no START yet");
    return started;
}

/* ---- parsing ---- */

/* What follows the keyword, or NULL if the line is another command. */
static const char *arguments(const char *line, const char *keyword)
{
    size_t length = strlen(keyword);
    if (strncmp(line, keyword, length) != 0 || (line[length] != '\0' && line[length] != ' '))
        return NULL;
    return line + length;
}

/* The free or taken cell "x,y", or NO_CELL if there is no such cell. */
static int parse_cell(const char *text)
{
    int x, y;
    if (sscanf(text, "%d ,%d", &x, &y) != 2)
        return NO_CELL;
    if (x < 0 || y < 0 || x >= board.width || y >= board.height)
        return NO_CELL;
    return cell_at(x, y);
}

static bool is_free(int at)
{
    return at != NO_CELL && board.cell[at].content == FREE;
}

/* ---- commands ---- */

static void start(int width, int height)
{
    if (width < MIN_SIDE || width > MAX_SIDE || height < MIN_SIDE || height > MAX_SIDE) {
        answer("ERROR board sides must be 5 to 60");
        return;
    }
    board_start(width, height);
    search_forget();
    started = true;
    answer("OK");
}

static void on_start(const char *text)
{
    int side = atoi(text);
    start(side, side);
}

static void on_rectstart(const char *text)
{
    int width = 0, height = 0;
    sscanf(text, "%d ,%d", &width, &height);
    start(width, height);
}

static void on_turn(const char *text)
{
    int at = parse_cell(text);
    if (!is_free(at)) {
        answer("ERROR not a free cell");
        return;
    }
    board_put(at, FOE);
    answer_move();
}

static void on_takeback(const char *text)
{
    int at = parse_cell(text);
    if (at == NO_CELL || board.cell[at].content > FOE_STONE) {
        answer("ERROR no stone there");
        return;
    }
    board_take(at);
    answer("OK");
}

static void on_board(void)
{
    reading_board = true;
    if (started)
        board_start(board.width, board.height); /* the lines give a whole new position */
}

/* One line after BOARD: "x,y,content" or DONE, which asks for a move. */
static void on_board_line(const char *line)
{
    int content;
    if (arguments(line, "DONE")) {
        reading_board = false;
        if (has_started())
            answer_move();
        return;
    }
    int at = parse_cell(line);
    if (!is_free(at) || sscanf(line, "%*d ,%*d ,%d", &content) != 1)
        return;
    if (content == 1 || content == 2)
        board_put(at, content == 1 ? OWN : FOE);
    else
        board_block(at); /* 3: a stone that belongs to neither side any more */
}

static void on_info(const char *text)
{
    char key[32];
    long long value;
    if (sscanf(text, "%31s %lld", key, &value) != 2)
        return; /* a folder, or something this agent does not need */
    if (strcmp(key, "timeout_turn") == 0)
        turn_ms = value > 0 ? value : 0;
    else if (strcmp(key, "timeout_match") == 0)
        match_ms = value > 0 ? value : UNLIMITED;
    else if (strcmp(key, "time_left") == 0)
        match_ms = value > 0 ? value : 0;
    else if (strcmp(key, "max_memory") == 0)
        search_limit_memory(value);
    else if (strcmp(key, "rule") == 0 && value != rule) {
        rule = (int)value;
        board_set_exact(rule == 1);
        search_forget(); /* what was found under the other rule */
    }
}

static void on_restart(void)
{
    board_start(board.width, board.height);
    search_forget();
    answer("OK");
}

static void on_command(const char *line)
{
    const char *text;
    if ((text = arguments(line, "INFO"))) {
        on_info(text);
    } else if ((text = arguments(line, "TURN"))) {
        if (has_started())
            on_turn(text);
    } else if (arguments(line, "BEGIN")) {
        if (has_started())
            answer_move();
    } else if (arguments(line, "BOARD")) {
        on_board();
    } else if ((text = arguments(line, "START"))) {
        on_start(text);
    } else if ((text = arguments(line, "RECTSTART"))) {
        on_rectstart(text);
    } else if (arguments(line, "RESTART")) {
        if (has_started())
            on_restart();
    } else if ((text = arguments(line, "TAKEBACK"))) {
        if (has_started())
            on_takeback(text);
    } else if (arguments(line, "ABOUT")) {
        answer("name=\"house-strong\", version=\"1.0\", author=\"judge\"");
    } else if (arguments(line, "END")) {
        exit(0);
    } else {
        answer("UNKNOWN command");
    }
}

static void on_line(const char *line)
{
    if (*line == '\0')
        return; /* the gap between CR and LF, or an empty line */
    if (reading_board && !arguments(line, "END") && !arguments(line, "INFO"))
        on_board_line(line);
    else
        on_command(line);
}

/* Serves every whole line in the buffer and returns how many bytes they took. */
static size_t serve_lines(char *input, size_t length)
{
    size_t line = 0;
    for (size_t i = 0; i < length; i++) {
        if (input[i] != '\n' && input[i] != '\r')
            continue;
        input[i] = '\0';
        on_line(input + line);
        line = i + 1;
    }
    return line;
}

/* Reads the pipe itself, not through stdio, to know when a request came: its time is running. */
int main(void)
{
    static char input[INPUT_BYTES];
    size_t length = 0; /* bytes of a line that has not ended yet */
    board_prepare();
    for (;;) {
        if (length == sizeof input)
            length = 0; /* no request is this long: forget it */
        ssize_t n = read(STDIN_FILENO, input + length, sizeof input - length);
        if (n <= 0)
            return 0;
        request_came = milliseconds_now();
        length += (size_t)n;
        size_t served = serve_lines(input, length);
        length -= served;
        memmove(input, input + served, length);
    }
}

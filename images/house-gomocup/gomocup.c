/*
 * Rule: one command, one answer; what was not told has a careful default.
 */
#include "gomocup.h"

#include "../house-five/board.h"
#include "../house-five/clock.h"
#include "../house-five/lines.h"
#include "../house-five/search.h"
#include "../house-five/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_TOLD = -1, UNLIMITED = 2147483647 };

/* Shares of the time, in per cent, and a margin for what happens outside of this program. */
enum { TURN_SHARE = 65, TURN_MARGIN_SHARE = 10, TURN_MARGIN_MS = 30, MATCH_SHARE = 4 };
enum { DEFAULT_TURN_MS = 1000 };

static const struct brain *brain;
static int64_t turn_ms = NOT_TOLD;
static int64_t match_ms = NOT_TOLD; /* what is left of the match */
static int rule;
static enum side own_side; /* set when the first stone of a game is asked for or told */
static bool started;
static void (*take_row)(const char *line); /* who reads the rows that end with DONE; NULL outside of them */

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

int64_t gomocup_deadline(void)
{
    return lines_came + thinking_time();
}

/* For managers that announce timeout_match but no time_left. */
void gomocup_charge_match(void)
{
    if (match_ms != NOT_TOLD && match_ms < UNLIMITED)
        match_ms -= milliseconds_now() - lines_came;
}

/* ---- answers ---- */

void gomocup_answer(const char *text)
{
    printf("%s\r\n", text);
    fflush(stdout);
}

bool gomocup_plays_rule(void)
{
    for (int i = 0; i < brain->rule_count; i++)
        if (brain->rules[i] == rule)
            return true;
    gomocup_answer(brain->refusal);
    return false;
}

static void print_report(const struct report *report)
{
    printf("MESSAGE %s depth %d eval %d nodes %ld pv", report->how, report->depth, report->value,
           report->nodes);
    for (int i = 0; i < report->length; i++)
        printf(" %d,%d", cell_x(report->line[i]), cell_y(report->line[i]));
    printf(" ms %d\r\n", (int)(milliseconds_now() - lines_came));
}

static void answer_move(void)
{
    struct report report;
    if (!gomocup_plays_rule())
        return;
    int move = search_move(&(struct task){.side = own_side, .deadline = gomocup_deadline()}, &report);
    if (move == NO_CELL) {
        gomocup_answer("ERROR no free cell");
        return;
    }
    board_put(move, own_side);
    print_report(&report);
    printf("%d,%d\r\n", cell_x(move), cell_y(move));
    fflush(stdout);
    gomocup_charge_match();
}

bool gomocup_has_started(void)
{
    if (!started)
        gomocup_answer("ERROR no START yet");
    return started;
}

/* ---- commands ---- */

int gomocup_parse_cell(const char *text)
{
    int x, y;
    if (sscanf(text, "%d ,%d", &x, &y) != 2 || !is_on_board(x, y))
        return NO_CELL;
    return cell_at(x, y);
}

static void start(int width, int height)
{
    if (width < MIN_SIDE || width > MAX_SIDE || height < MIN_SIDE || height > MAX_SIDE) {
        gomocup_answer("ERROR board sides must be 5 to 60");
        return;
    }
    board_start(width, height);
    search_forget();
    started = true;
    gomocup_answer("OK");
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

static void on_begin(const char *text)
{
    (void)text;
    own_side = board_turn();
    answer_move();
}

static void on_turn(const char *text)
{
    int at = gomocup_parse_cell(text);
    if (!is_free(at)) {
        gomocup_answer("ERROR not a free cell");
        return;
    }
    if (board.stones == 0)
        own_side = WHITE;
    board_put(at, other(own_side));
    answer_move();
}

static void on_takeback(const char *text)
{
    int at = gomocup_parse_cell(text);
    if (at == NO_CELL || board.cell[at].content > WHITE_STONE) {
        gomocup_answer("ERROR no stone there");
        return;
    }
    board_take(at);
    gomocup_answer("OK");
}

static void on_restart(const char *text)
{
    (void)text;
    start(board.width, board.height);
}

/* Who has fewer stones moved second; so does who has more than the other and still is to move. */
static void take_sides(const int *owner)
{
    int stones[3] = {0, 0, 0};
    for (int at = 0; at < CELLS; at++)
        if (owner[at] == 1 || owner[at] == 2)
            stones[owner[at]]++;
    own_side = stones[1] == stones[2] ? BLACK : WHITE;
    for (int at = 0; at < CELLS; at++)
        if (owner[at] == 1 || owner[at] == 2)
            board_put(at, owner[at] == 1 ? own_side : other(own_side));
        else if (owner[at] != 0)
            board_block(at); /* 3: a stone that belongs to neither side any more */
}

/* One line after BOARD: "x,y,owner" or DONE, which asks for a move. Only then it is known who is Black. */
static void on_board_row(const char *line)
{
    static int owner[CELLS];
    if (!arguments(line, "DONE")) {
        int at = gomocup_parse_cell(line), owned_by;
        if (is_free(at) && sscanf(line, "%*d ,%*d ,%d", &owned_by) == 1 && owner[at] == 0)
            owner[at] = owned_by;
        return;
    }
    if (gomocup_has_started()) {
        take_sides(owner);
        answer_move();
    }
    memset(owner, 0, sizeof owner);
}

void gomocup_read_rows(void (*take)(const char *line))
{
    take_row = take;
    if (started)
        board_start(board.width, board.height); /* the lines give a whole new position */
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
        table_limit_memory(value);
    else if (strcmp(key, "rule") == 0 && value != rule) {
        rule = (int)value;
        board_set_rule((enum rule)rule); /* one that is not known is freestyle until it is refused */
        search_forget(); /* what was found under the other rule */
    }
}

/* ---- the conversation ---- */

struct command {
    const char *keyword;
    void (*serve)(const char *text);
};

static bool serve_one_of(const struct command *commands, const char *line)
{
    for (const struct command *command = commands; command->keyword != NULL; command++) {
        const char *text = arguments(line, command->keyword);
        if (text == NULL)
            continue;
        command->serve(text);
        return true;
    }
    return false;
}

static void on_board(const char *text)
{
    (void)text;
    gomocup_read_rows(on_board_row);
}

static void on_about(const char *text)
{
    (void)text;
    gomocup_answer(brain->about);
}

static void on_end(const char *text)
{
    (void)text;
    exit(0);
}

static const struct command AT_ANY_TIME[] = {{"INFO", on_info}, {"END", on_end}, {NULL, NULL}};
static const struct command BEFORE_START[] = {{"START", on_start}, {"RECTSTART", on_rectstart},
                                              {"BOARD", on_board}, {"ABOUT", on_about}, {NULL, NULL}};
static const struct command AFTER_START[] = {{"TURN", on_turn}, {"BEGIN", on_begin},
                                             {"RESTART", on_restart}, {"TAKEBACK", on_takeback},
                                             {NULL, NULL}};

static bool names_one_of(const struct command *commands, const char *line)
{
    while (commands->keyword != NULL && !arguments(line, commands->keyword))
        commands++;
    return commands->keyword != NULL;
}

static void on_row(const char *line)
{
    void (*take)(const char *) = take_row;
    if (arguments(line, "DONE"))
        take_row = NULL;
    take(line);
}

static void on_line(const char *line)
{
    if (serve_one_of(AT_ANY_TIME, line))
        return;
    if (take_row != NULL)
        on_row(line);
    else if (names_one_of(AFTER_START, line) && !gomocup_has_started())
        return;
    else if (!serve_one_of(AFTER_START, line) && !serve_one_of(BEFORE_START, line) &&
             (brain->extra == NULL || !brain->extra(line)))
        gomocup_answer("UNKNOWN command");
}

int gomocup_serve(const struct brain *served)
{
    const char *line;
    brain = served;
    board_prepare();
    while (lines_read())
        while ((line = lines_next()) != NULL)
            on_line(line);
    return 0;
}

/*
 * Rule: speak AGI on the pipes, listen while thinking, and spend a small share of the time that is left.
 *
 * An ISREADY is answered at once. Any other line ends the thinking as STOP does, for whoever sends it
 * wants something else, and is served when the answer is out.
 */
#include "../house-five/board.h"
#include "../house-five/clock.h"
#include "../house-five/lines.h"
#include "../house-five/search.h"
#include "procedure.h"
#include "squares.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_SHARE = 10 /* per cent */, LONGEST_THOUGHT_MS = 10000, DEFAULT_MS = 1000, MARGIN_MS = 30 };
static const int64_t UNLIMITED_MS = INT64_C(1) << 40;

static bool ponder_is_on = true;
static int64_t went; /* when the GO that is being thought about came */

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

/* ---- what is said while thinking ---- */

static void raise_case(char *line)
{
    for (; *line != '\0'; line++)
        *line = (char)toupper((unsigned char)*line);
}

static void quit(void)
{
    say("BYE");
    exit(0);
}

/* Serves what may be asked of a thinking engine; true if a line is there that ends the thinking. */
static bool is_wanted_elsewhere(void)
{
    for (;;) {
        char *line = lines_peek();
        if (line == NULL) {
            if (!lines_are_coming())
                return false;
            if (!lines_read())
                return true;
            continue;
        }
        raise_case(line);
        if (arguments(line, "QUIT"))
            quit();
        if (!arguments(line, "ISREADY"))
            return true;
        lines_next();
        say("READYOK");
    }
}

static void tell_depth(const struct report *report)
{
    int64_t ms = milliseconds_now() - went;
    printf("INFO DEPTH %d SCORE %d PV ", report->depth, report->value);
    squares_print(report->line, report->length);
    printf("\nINFO NPS %lld\n", (long long)report->nodes * 1000 / (ms > 0 ? ms : 1));
    fflush(stdout);
}

/* ---- thinking ---- */

static void answer(const struct decision *decision)
{
    printf("BESTMOVE ");
    if (decision->change)
        printf("CHANGE");
    squares_print(decision->points, decision->count);
    say("");
}

static void answer_best_move(const struct question *question)
{
    struct report report;
    int move = search_move(&(struct task){.side = board_turn(),
                                          .deadline = question->deadline,
                                          .only = question->only_count > 0 ? question->only : NULL,
                                          .only_count = question->only_count,
                                          .tell = tell_depth},
                           &report);
    if (move == NO_CELL)
        return; /* a full board: there is nothing to answer */
    printf("BESTMOVE ");
    squares_print(&move, 1);
    if (report.length > 1) {
        printf(" PONDER ");
        squares_print(report.line + 1, 1);
    }
    say("");
}

/* Fills the table of positions on the opponent's time; what it finds is not asked for. */
static void ponder(const struct question *question)
{
    struct report report;
    search_move(&(struct task){.side = board_turn(), .deadline = question->deadline}, &report);
}

/* When to have answered, if so much time is left for the whole game. */
static int64_t deadline_for(long long left_ms)
{
    int64_t time = left_ms * TIME_SHARE / 100;
    if (time > LONGEST_THOUGHT_MS)
        time = LONGEST_THOUGHT_MS;
    return went + (time < left_ms - MARGIN_MS ? time : 0);
}

/* ---- commands ---- */

/* The next word of a line, or an empty one at its end. */
static const char *next_word(const char **text, char word[16])
{
    int used = 0;
    word[0] = '\0';
    if (sscanf(*text, " %15[^ ]%n", word, &used) == 1)
        *text += used;
    return word;
}

static bool is(const char *word, const char *keyword)
{
    return strcmp(word, keyword) == 0;
}

static int keep_free(int *cells, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (is_free(cells[i]))
            cells[kept++] = cells[i];
    return kept;
}

/* GO [SEARCH squares] [PONDER] [TIME ms|INFINITE] */
static void on_go(const char *text)
{
    went = lines_came;
    struct question question = {.deadline = went + DEFAULT_MS};
    bool in_background = false;
    char word[16];
    while (*next_word(&text, word) != '\0') {
        if (is(word, "SEARCH"))
            question.only_count = keep_free(question.only, squares_read(&text, question.only));
        else if (is(word, "PONDER"))
            in_background = true;
        else if (is(word, "INFINITE"))
            question.deadline = went + UNLIMITED_MS;
        else if (isdigit((unsigned char)word[0]))
            question.deadline = deadline_for(atoll(word));
    }
    clock_watch(is_wanted_elsewhere);
    struct decision decision;
    if (in_background) {
        question.deadline = went + UNLIMITED_MS;
        if (ponder_is_on)
            ponder(&question);
    } else if (procedure_decides(&question, &decision)) {
        answer(&decision);
    } else {
        answer_best_move(&question);
    }
}

/* Puts stones, alternately and Black first; a square that is not free is left out. */
static void put_squares(const char **text)
{
    int cells[MOST_SQUARES];
    int count = squares_read(text, cells);
    for (int i = 0; i < count; i++)
        if (is_free(cells[i]))
            board_put(cells[i], board_turn());
}

/* POSITION [STATU squares] [MOVES squares] */
static void on_position(const char *text)
{
    char word[16];
    board_start(AGI_SIDE, AGI_SIDE);
    while (*next_word(&text, word) != '\0')
        put_squares(&text);
    if (board.stones > 0)
        return;
    search_forget();
    procedure_forget();
}

/* SETRULE [FORBIDDEN|UNFORBIDDEN] [FIRSTCHANGE|THIRDCHANGE] [FIVETWINE|FIVEMULITY]; what is left out is
 * FORBIDDEN, no change and one fifth. */
static void on_setrule(const char *text)
{
    enum rule rule = RENJU;
    char word[16];
    procedure = (struct procedure){NO_CHANGE, ONE_FIFTH};
    while (*next_word(&text, word) != '\0') {
        if (is(word, "UNFORBIDDEN"))
            rule = FREESTYLE;
        else if (is(word, "FIRSTCHANGE"))
            procedure.change = FIRST_CHANGE;
        else if (is(word, "THIRDCHANGE"))
            procedure.change = THIRD_CHANGE;
        else if (is(word, "FIVETWINE") || is(word, "TIVETWINE")) /* as the protocol itself has it once */
            procedure.fifths = TWO_FIFTHS;
        else if (is(word, "FIVEMULITY"))
            procedure.fifths = MANY_FIFTHS;
    }
    if (rule == board.rule)
        return;
    board_set_rule(rule);
    search_forget();
}

static void on_setoption(const char *text)
{
    char word[16];
    while (*next_word(&text, word) != '\0')
        if (is(word, "PONDER"))
            ponder_is_on = !is(next_word(&text, word), "OFF");
}

static void greet(void)
{
    say("ID NAME house-agi 1.0\nID AUTHOR judge\nOPTION OWNBOOK FALSE PONDER TRUE\nAGIOK");
}

/* Whatever is not known is left without an answer: AGI has no word for it. */
static void on_line(const char *line)
{
    const char *text;
    if (arguments(line, "AGI"))
        greet();
    else if (arguments(line, "ISREADY"))
        say("READYOK");
    else if (arguments(line, "QUIT"))
        quit();
    else if ((text = arguments(line, "GO")))
        on_go(text);
    else if ((text = arguments(line, "DOMOVE")))
        put_squares(&text);
    else if ((text = arguments(line, "POSITION")))
        on_position(text);
    else if ((text = arguments(line, "SETRULE")))
        on_setrule(text);
    else if ((text = arguments(line, "SETOPTION")))
        on_setoption(text);
}

int main(void)
{
    char *line;
    board_prepare();
    board_set_rule(RENJU);
    board_start(AGI_SIDE, AGI_SIDE);
    while (lines_read())
        while ((line = lines_next()) != NULL) {
            raise_case(line);
            on_line(line);
        }
    return 0;
}

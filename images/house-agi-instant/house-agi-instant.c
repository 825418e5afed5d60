/*
 * Rule: answer every GO at once with the free point nearest to the middle, ring by ring, so that a
 * benchmark measures the judge.
 *
 * Where the interface names the points to choose from, the first of them is the answer. A stone is
 * placed blindly: fives, fouls and changes of colour are nothing that this agent knows.
 *
 * One read brings one request, one write takes the answer back: no stdio, no allocation, no clock.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 15, POINTS = SIDE * SIDE, MIDDLE = SIDE / 2, NO_POINT = -1 };
enum { INPUT_BYTES = 1 << 14, OUTPUT_BYTES = 1 << 12 };

static bool taken[POINTS];
static int centre_out[POINTS];

static char output[OUTPUT_BYTES];
static size_t output_length;

/* ---- answers: gathered here, written once per read ---- */

static void flush_output(void)
{
    size_t done = 0;
    while (done < output_length) {
        ssize_t n = write(STDOUT_FILENO, output + done, output_length - done);
        if (n <= 0)
            _exit(0); /* the interface has gone */
        done += (size_t)n;
    }
    output_length = 0;
}

static void answer(const char *text)
{
    size_t length = strlen(text);
    if (output_length + length > OUTPUT_BYTES)
        flush_output();
    memcpy(output + output_length, text, length);
    output_length += length;
}

/* ---- points: the row 0 to E from the top, the column 1 to F from the left ---- */

static const char HEXADECIMAL[] = "0123456789ABCDEF";

static int digit(char character)
{
    const char *place = character == '\0' ? NULL : strchr(HEXADECIMAL, character);
    return place == NULL ? -1 : (int)(place - HEXADECIMAL);
}

/* The point at the start of the text, or NO_POINT. */
static int read_point(const char *text)
{
    int row = digit(text[0]), column = row < 0 ? -1 : digit(text[1]);
    return row >= 0 && row < SIDE && column > 0 ? row * SIDE + column - 1 : NO_POINT;
}

static void answer_point(int point)
{
    char text[] = "BESTMOVE ..\n";
    text[9] = HEXADECIMAL[point / SIDE];
    text[10] = HEXADECIMAL[point % SIDE + 1];
    answer(text);
}

static int ring_of(int point)
{
    int row = abs(point / SIDE - MIDDLE), column = abs(point % SIDE - MIDDLE);
    return row > column ? row : column;
}

static void order_points(void)
{
    int count = 0;
    for (int ring = 0; ring <= MIDDLE; ring++)
        for (int point = 0; point < POINTS; point++)
            if (ring_of(point) == ring)
                centre_out[count++] = point;
}

/* ---- commands ---- */

static void put_points(const char *text)
{
    int point;
    for (text += strspn(text, " "); (point = read_point(text)) != NO_POINT; text += 2)
        taken[point] = true;
}

static void position(const char *text)
{
    static const char *const LISTS[] = {"STATU ", "MOVES "};
    memset(taken, false, sizeof taken);
    for (int i = 0; i < 2; i++) {
        const char *list = strstr(text, LISTS[i]);
        if (list != NULL)
            put_points(list + strlen(LISTS[i]));
    }
}

static void go(const char *text)
{
    const char *listed = strstr(text, "SEARCH ");
    int first = listed == NULL ? NO_POINT : read_point(listed + strlen("SEARCH "));
    for (int i = 0; i < POINTS && first == NO_POINT; i++)
        if (!taken[centre_out[i]])
            first = centre_out[i];
    if (first != NO_POINT)
        answer_point(first);
}

/* What follows the keyword, or NULL if the line is another command. */
static const char *arguments(const char *line, const char *keyword)
{
    size_t length = strlen(keyword);
    if (strncmp(line, keyword, length) != 0 || (line[length] != '\0' && line[length] != ' '))
        return NULL;
    return line + length;
}

static void on_line(const char *line)
{
    const char *text;
    if (arguments(line, "AGI")) {
        answer("ID NAME house-agi-instant 1.0\nID AUTHOR judge\n"
               "OPTION OWNBOOK FALSE PONDER FALSE\nAGIOK\n");
    } else if (arguments(line, "ISREADY")) {
        answer("READYOK\n");
    } else if ((text = arguments(line, "GO"))) {
        go(text);
    } else if ((text = arguments(line, "DOMOVE"))) {
        put_points(text);
    } else if ((text = arguments(line, "POSITION"))) {
        position(text);
    } else if (arguments(line, "QUIT")) {
        answer("BYE\n");
        flush_output();
        _exit(0);
    }
}

/* Serves every whole line in the buffer and returns how many bytes they took. */
static size_t serve_lines(char *input, size_t length)
{
    size_t line = 0;
    for (size_t i = 0; i < length; i++) {
        input[i] = (char)toupper((unsigned char)input[i]);
        if (input[i] != '\n' && input[i] != '\r')
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
    order_points();
    for (;;) {
        if (length == sizeof input)
            length = 0; /* no request is this long: forget it */
        ssize_t n = read(STDIN_FILENO, input + length, sizeof input - length);
        if (n <= 0)
            return 0;
        length += (size_t)n;
        size_t served = serve_lines(input, length);
        length -= served;
        memmove(input, input + served, length);
        if (output_length > 0)
            flush_output();
    }
}

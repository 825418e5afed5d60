/*
 * Rule: take the next free cell of a fixed two-colour pattern that holds no five, so that a benchmark
 * measures the judge and two of these agents fill the whole board.
 *
 * A cell belongs to colour (x / 2 + y) mod 2. Walk along a row and the colour changes every second
 * cell; down a column, every cell; along either diagonal, every second cell again. No colour ever
 * has three in a line, so while both sides keep to their own colour nobody wins, under any rule.
 * Cells of one's own colour run out only where an opponent took some; then any free cell will do.
 *
 * `house-instant centre` takes the cells ring by ring from the middle on, as people open; alone it takes them row by
 * row.
 *
 * One read brings one request, one write takes the answer back: no stdio, no allocation, no clock.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIN_SIDE = 5, MAX_SIDE = 60, MAX_CELLS = MAX_SIDE * MAX_SIDE };
enum { INPUT_BYTES = 1 << 16, OUTPUT_BYTES = 1 << 12 };
enum content { FREE, OWN, OPPONENT, BLOCKED };

static int width, height;              /* 0 until START or RECTSTART */
static unsigned char cells[MAX_CELLS]; /* enum content */
static int own_stones, opponent_stones;
static int order[MAX_CELLS]; /* the cells as they are tried */
static bool from_centre;
static int next_cell[2]; /* for each colour: none of its cells before this place in the order is free */
static bool reading_board;

static char output[OUTPUT_BYTES];
static size_t output_length;

/* ---- answers: gathered here, written once per read ---- */

static void flush_output(void)
{
    size_t done = 0;
    while (done < output_length) {
        ssize_t n = write(STDOUT_FILENO, output + done, output_length - done);
        if (n <= 0)
            _exit(0); /* the manager has gone */
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

static char *append_number(char *end, int number)
{
    if (number >= 10)
        *end++ = (char)('0' + number / 10); /* coordinates are below 60: two digits do */
    *end++ = (char)('0' + number % 10);
    return end;
}

static void answer_move(int x, int y)
{
    char text[16], *end = append_number(text, x);
    *end++ = ',';
    end = append_number(end, y);
    memcpy(end, "\r\n", 3);
    answer(text);
}

/* ---- requests: a cursor over one line ---- */

static bool read_number(const char **cursor, int *number)
{
    const char *at = *cursor;
    while (*at == ' ')
        at++;
    if (*at < '0' || *at > '9')
        return false;
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        if (*number < 10000) /* far beyond any board; stops an overflow */
            *number = *number * 10 + (*at - '0');
    *cursor = at;
    return true;
}

static bool read_comma(const char **cursor)
{
    while (**cursor == ' ')
        ++*cursor;
    if (**cursor != ',')
        return false;
    ++*cursor;
    return true;
}

static bool read_pair(const char **cursor, int *first, int *second)
{
    return read_number(cursor, first) && read_comma(cursor) && read_number(cursor, second);
}

/* The cell index of "x,y", or -1 if that is not a cell of this board. */
static int read_cell(const char **cursor)
{
    int x, y;
    if (!read_pair(cursor, &x, &y) || x >= width || y >= height)
        return -1;
    return y * width + x;
}

/* What follows the keyword, or NULL if the line is another command. */
static const char *arguments(const char *line, const char *keyword)
{
    size_t length = strlen(keyword);
    if (strncmp(line, keyword, length) != 0 || (line[length] != '\0' && line[length] != ' '))
        return NULL;
    return line + length;
}

/* ---- the board ---- */

static int colour_of(int cell)
{
    return ((cell % width) / 2 + cell / width) & 1;
}

static void clear_board(void)
{
    memset(cells, FREE, sizeof cells);
    own_stones = opponent_stones = 0;
    next_cell[0] = next_cell[1] = 0;
}

static void put(int cell, enum content content)
{
    cells[cell] = (unsigned char)content;
    own_stones += content == OWN;
    opponent_stones += content == OPPONENT;
}

static void take(int cell)
{
    own_stones -= cells[cell] == OWN;
    opponent_stones -= cells[cell] == OPPONENT;
    cells[cell] = FREE;
    next_cell[0] = next_cell[1] = 0; /* the cell may lie before either mark */
}

/* The first free cell of a colour, or -1; what it passes is never looked at again. */
static int free_cell(int colour)
{
    int *next = &next_cell[colour];
    while (*next < width * height && (cells[order[*next]] != FREE || colour_of(order[*next]) != colour))
        ++*next;
    return *next < width * height ? order[*next] : -1;
}

/* How many rings a cell is away from the middle. */
static int ring_of(int cell)
{
    int across = abs(cell % width - width / 2), down = abs(cell / width - height / 2);
    return across > down ? across : down;
}

static void order_cells(void)
{
    int count = 0, cell_count = width * height;
    if (!from_centre) {
        for (; count < cell_count; count++)
            order[count] = count;
        return;
    }
    for (int ring = 0; count < cell_count; ring++)
        for (int cell = 0; cell < cell_count; cell++)
            if (ring_of(cell) == ring)
                order[count++] = cell;
}

/* ---- commands ---- */

static void move(void)
{
    /* Who is to move and has as many stones as the opponent moved first. */
    int colour = own_stones == opponent_stones ? 0 : 1;
    int cell = free_cell(colour);
    if (cell < 0)
        cell = free_cell(!colour);
    if (cell < 0) {
        answer("ERROR no free cell\r\n");
        return;
    }
    put(cell, OWN);
    answer_move(cell % width, cell / width);
}

static void start(int new_width, int new_height)
{
    if (new_width < MIN_SIDE || new_width > MAX_SIDE || new_height < MIN_SIDE || new_height > MAX_SIDE) {
        answer("ERROR board sides must be 5 to 60\r\n");
        return;
    }
    width = new_width;
    height = new_height;
    order_cells();
    clear_board();
    answer("OK\r\n");
}

static void on_start(const char *at)
{
    int side = 0;
    read_number(&at, &side);
    start(side, side);
}

static void on_rectstart(const char *at)
{
    int new_width = 0, new_height = 0;
    read_pair(&at, &new_width, &new_height);
    start(new_width, new_height);
}

static void on_turn(const char *at)
{
    int cell = read_cell(&at);
    if (cell < 0 || cells[cell] != FREE) {
        answer("ERROR not a free cell\r\n");
        return;
    }
    put(cell, OPPONENT);
    move();
}

static void on_takeback(const char *at)
{
    int cell = read_cell(&at);
    if (cell < 0 || cells[cell] == FREE) {
        answer("ERROR no stone there\r\n");
        return;
    }
    take(cell);
    answer("OK\r\n");
}

/* One line after BOARD: "x,y,content" or DONE, which asks for a move. */
static void on_board_line(const char *line)
{
    if (arguments(line, "DONE")) {
        reading_board = false;
        if (width == 0)
            answer("ERROR no START yet\r\n");
        else
            move();
        return;
    }
    int content, cell = read_cell(&line);
    if (cell >= 0 && cells[cell] == FREE && read_comma(&line) && read_number(&line, &content))
        put(cell, content == 1 ? OWN : content == 2 ? OPPONENT : BLOCKED);
}

static void on_restart(void)
{
    clear_board();
    answer("OK\r\n");
}

static bool has_started(void)
{
    if (width == 0)
        answer("ERROR no START yet\r\n");
    return width > 0;
}

static void on_command(const char *line)
{
    const char *at;
    if (arguments(line, "INFO"))
        return; /* no limit is tight for who does not think */
    if ((at = arguments(line, "TURN"))) {
        if (has_started())
            on_turn(at);
    } else if (arguments(line, "BEGIN")) {
        if (has_started())
            move();
    } else if (arguments(line, "BOARD")) {
        clear_board();
        reading_board = true;
    } else if ((at = arguments(line, "START"))) {
        on_start(at);
    } else if ((at = arguments(line, "RECTSTART"))) {
        on_rectstart(at);
    } else if (arguments(line, "RESTART")) {
        if (has_started())
            on_restart();
    } else if ((at = arguments(line, "TAKEBACK"))) {
        if (has_started())
            on_takeback(at);
    } else if (arguments(line, "ABOUT")) {
        answer("name=\"house-instant\", version=\"1.0\", author=\"judge\"\r\n");
    } else if (arguments(line, "END")) {
        flush_output(); /* answers to what came before END in the same read */
        _exit(0);
    } else {
        answer("UNKNOWN command\r\n");
    }
}

static void on_line(const char *line)
{
    if (*line == '\0')
        return; /* the gap between CR and LF, or an empty line */
    if (reading_board && !arguments(line, "END"))
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

int main(int argc, char **argv)
{
    static char input[INPUT_BYTES];
    from_centre = argc > 1 && strcmp(argv[1], "centre") == 0;
    size_t length = 0; /* bytes of a line that has not ended yet */
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

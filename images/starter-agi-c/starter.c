// Rule: make five, stop five, else lay a stone next to another at random.
// A starter: copy the folder and give choose_move your own ideas.
// Build: make (or: gcc -std=c11 -O2 -Wall -Wextra -static -o starter starter.c)
// Try:   judge match . house-agi-instant --policy agi-renju
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 15, MIDDLE = SIDE / 2, MAX_POINTS = SIDE * SIDE };
enum { FREE, BLACK, WHITE };

typedef struct {
    int row, column; // both from 0 at the top left
} Point;
static const Point DIRECTIONS[4] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};

// ---- your agent: the position, and a move for it ----

static int board[SIDE][SIDE]; // board[row][column]: FREE, BLACK or WHITE
static int stones;            // how many lie: the first, third, ... is black, so Black moves where this is even
static bool is_renju = true;  // FORBIDDEN in SETRULE: Black's fouls lose; otherwise five or more win
static int left_ms = 1000;    // milliseconds that you have for this move

static bool makes_five(Point point, int side);
static bool is_near(Point point);

// Your move: one of `points`, where you may play, at least one. Replace this.
static Point choose_move(const Point points[], int count)
{
    int colour = stones % 2 == 0 ? BLACK : WHITE, other = BLACK + WHITE - colour;
    for (int i = 0; i < count; i++)
        if (makes_five(points[i], colour))
            return points[i];
    for (int i = 0; i < count; i++)
        if (makes_five(points[i], other))
            return points[i];
    Point near[MAX_POINTS];
    int found = 0;
    for (int i = 0; i < count; i++)
        if (is_near(points[i]))
            near[found++] = points[i];
    return found > 0 ? near[rand() % found] : points[rand() % count];
}

// The other laid one stone (FIRSTCHANGE) or three (THIRDCHANGE), you are White: whether to be Black instead.
static bool wants_change(void) { return false; }

// You are White and four stones lie: which of `points`, the fifth stones that Black offers, may stay.
static Point choose_fifth(const Point points[], int count)
{
    (void)count;
    return points[0];
}

// What lies some steps from a point, against the direction where they are negative; beyond the edge lies no stone.
static int at(Point point, Point to, int steps)
{
    int row = point.row + to.row * steps, column = point.column + to.column * steps;
    return row >= 0 && row < SIDE && column >= 0 && column < SIDE ? board[row][column] : FREE;
}

// Whether a stone lies next to a point.
static bool is_near(Point point)
{
    for (int i = 0; i < 4; i++)
        if (at(point, DIRECTIONS[i], 1) != FREE || at(point, DIRECTIONS[i], -1) != FREE)
            return true;
    return false;
}

// How many stones of `side` follow each other from a point on; `sign` is 1 along the direction, -1 against it.
static int run(Point point, Point to, int sign, int side)
{
    int length = 0;
    while (at(point, to, sign * (length + 1)) == side)
        length++;
    return length;
}

// Whether a stone of `side` on a free point wins.
static bool makes_five(Point point, int side)
{
    bool is_exact = is_renju && side == BLACK;
    for (int i = 0; i < 4; i++) {
        int length = 1 + run(point, DIRECTIONS[i], 1, side) + run(point, DIRECTIONS[i], -1, side);
        if (length == 5 || (length > 5 && !is_exact))
            return true;
    }
    return false;
}

// Whether a black stone might be a foul of renju; if this says no, it is none.
// A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
// So this gives up fair points too: a stronger agent looks at the shapes themselves.
static bool may_be_foul(Point point)
{
    int lines = 0;
    for (int i = 0; i < 4; i++) {
        int found = 0;
        for (int n = 1; n <= 4; n++)
            found += (at(point, DIRECTIONS[i], n) == BLACK) + (at(point, DIRECTIONS[i], -n) == BLACK);
        if (found > 3)
            return true;
        lines += found > 1;
    }
    return lines > 1;
}

// Fills in the free points, without what may be a foul if that is to be heeded, and returns how many there are.
// The first stone goes to the middle, the second and third near it, as in renju's 26 openings.
static int free_points(Point points[MAX_POINTS], bool heeds_fouls)
{
    int count = 0, reach = stones < 3 ? stones : MIDDLE;
    for (int row = MIDDLE - reach; row <= MIDDLE + reach; row++)
        for (int column = MIDDLE - reach; column <= MIDDLE + reach; column++) {
            Point point = {row, column};
            bool is_safe = !heeds_fouls || makes_five(point, BLACK) || !may_be_foul(point);
            if (board[row][column] == FREE && is_safe)
                points[count++] = point;
        }
    return count;
}

// Fills in the free points; for Black in renju those that are surely allowed, while there are any. Returns how many.
static int legal_points(Point points[MAX_POINTS])
{
    int count = free_points(points, is_renju && stones % 2 == 0);
    return count > 0 ? count : free_points(points, false);
}

// ---- the protocol: nothing below needs a change but the name in ID ----

static int change_at;    // after how many stones White may take black; 0: never, or no more
static bool has_fifths;  // Black offers several fifth stones, White keeps one
static bool is_offering; // you are Black, and yours are asked for

// Writes an answer; without the flush it would stay in this process.
static void say(const char *answer)
{
    puts(answer);
    fflush(stdout);
}

static void say_move(Point point)
{
    printf("BESTMOVE %X%X\n", point.row, point.column + 1);
    fflush(stdout);
}

// Reads points: `786869` are three, a row 0 to E from the top and a column 1 to F from the left, each hexadecimal.
static int read_points(const char *text, Point points[MAX_POINTS])
{
    int count = 0;
    unsigned row, column;
    while (count < MAX_POINTS && sscanf(text + 2 * count, "%1x%1x", &row, &column) == 2 && row < SIDE && column > 0)
        points[count++] = (Point){row, column - 1};
    return count;
}

// Lays stones, in turn black and white.
static void lay(const char *text)
{
    Point points[MAX_POINTS];
    int count = read_points(text, points);
    for (int i = 0; i < count; i++)
        board[points[i].row][points[i].column] = stones++ % 2 == 0 ? BLACK : WHITE;
}

// SETRULE, whose words stand behind it.
static void set_rules(char *words[], int count)
{
    is_renju = has_fifths = false;
    change_at = 0; // the word of a change goes from the rules when that has been decided
    for (int i = 1; i < count; i++) {
        is_renju = is_renju || strcmp(words[i], "FORBIDDEN") == 0;
        has_fifths = has_fifths || strcmp(words[i], "FIVETWINE") == 0 || strcmp(words[i], "FIVEMULITY") == 0;
        if (strcmp(words[i], "FIRSTCHANGE") == 0)
            change_at = 1;
        if (strcmp(words[i], "THIRDCHANGE") == 0)
            change_at = 3;
    }
}

// GO TIME ms, or GO SEARCH points TIME ms: answer by a point, or CHANGE.
static void go(char *words[], int count)
{
    Point points[MAX_POINTS];
    if (count > 2)
        left_ms = atoi(words[count - 1]);
    if (count > 2 && strcmp(words[1], "SEARCH") == 0) {
        // The fifths are named to both: to Black those that may still be offered, to White those that were.
        bool is_choice = stones == 4 && !is_offering && has_fifths;
        int named = read_points(words[2], points);
        say_move(is_choice ? choose_fifth(points, named) : choose_move(points, named));
        return;
    }
    is_offering = stones == 4;
    if (change_at > 0 && stones == change_at && wants_change()) {
        say("BESTMOVE CHANGE");
        return;
    }
    int legal = legal_points(points);
    say_move(choose_move(points, legal));
}

// Other words, SETOPTION and STOP among them, mean nothing to who answers at once.
// Who thinks longer also reads on while it thinks: ISREADY and STOP may come then.
static void hear(char *words[], int count)
{
    if (strcmp(words[0], "AGI") == 0) {
        say("ID NAME starter\nOPTION OWNBOOK FALSE PONDER FALSE\nAGIOK");
    } else if (strcmp(words[0], "ISREADY") == 0) {
        say("READYOK");
    } else if (strcmp(words[0], "SETRULE") == 0) {
        set_rules(words, count);
    } else if (strcmp(words[0], "POSITION") == 0) {
        memset(board, FREE, sizeof board);
        stones = 0;
        for (int i = 2; i < count; i += 2) // behind STATU and MOVES
            lay(words[i]);
    } else if (strcmp(words[0], "DOMOVE") == 0 && count > 1) {
        lay(words[1]); // your own stones come so as well
    } else if (strcmp(words[0], "GO") == 0) {
        go(words, count);
    }
}

int main(void)
{
    char line[4096], *words[16];
    srand(1); // the same game can be played again
    while (fgets(line, sizeof line, stdin)) {
        int count = 0;
        for (char *letter = line; *letter; letter++)
            *letter = toupper((unsigned char)*letter);
        for (char *word = strtok(line, " \t\r\n"); word && count < 16; word = strtok(NULL, " \t\r\n"))
            words[count++] = word;
        if (count == 0)
            continue;
        if (strcmp(words[0], "QUIT") == 0) {
            say("BYE");
            return 0;
        }
        hear(words, count);
    }
    return 0;
}

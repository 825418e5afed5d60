// Rule: make five, stop five, else lay a stone next to another at random.
// A starter: copy the folder and give choose_move your own ideas.
// Build: make (or: gcc -std=c11 -O2 -Wall -Wextra -static -o starter starter.c)
// Try:   judge match . house-instant --policy gomocup-standard:fast
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SIDE = 5, MAX_SIDE = 60, MAX_POINTS = MAX_SIDE * MAX_SIDE };
enum { FREE, OWN, OTHER };               // as BOARD counts them; a 3 is a stone of nobody
enum { EXACT = 1, RENJU = 4, CARO = 8 }; // the bits of INFO rule; without any of them five or more win

typedef struct {
    int x, y; // column and row from 0
} Point;
static const Point DIRECTIONS[4] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};

// ---- your agent: the position, and a move for it ----

static int width, height;             // 0 before START
static int board[MAX_SIDE][MAX_SIDE]; // board[y][x]: FREE, OWN, OTHER or 3
static int rule;
static int turn_ms = 30000;  // milliseconds that you have for each move ...
static int left_ms = 180000; // ... and for all that follow

static bool makes_five(Point point, int side);
static bool is_near(Point point);

// Your move: one of `points`, where you may play, at least one. Replace this.
static Point choose_move(const Point points[], int count)
{
    for (int side = OWN; side <= OTHER; side++)
        for (int i = 0; i < count; i++)
            if (makes_five(points[i], side))
                return points[i];
    Point near[MAX_POINTS];
    int found = 0;
    for (int i = 0; i < count; i++)
        if (is_near(points[i]))
            near[found++] = points[i];
    return found > 0 ? near[rand() % found] : points[rand() % count];
}

// The first three stones of swap2: black, white, black. The other then chooses a colour.
static void choose_opening(Point stones[3])
{
    int x = width / 2, y = height / 2;
    stones[0] = (Point){x, y};
    stones[1] = (Point){x + 1, y};
    stones[2] = (Point){x - 1, y + 2};
}

// In swap2 three or five stones lie and you are white, to move: whether to be black instead.
static bool wants_swap(void) { return false; }

static bool has(Point point) { return point.x >= 0 && point.x < width && point.y >= 0 && point.y < height; }

// What lies some steps from a point, against the direction where they are negative; beyond the edge lies no stone.
static int at(Point point, Point to, int steps)
{
    Point there = {point.x + to.x * steps, point.y + to.y * steps};
    return has(there) ? board[there.y][there.x] : FREE;
}

// Whether a stone lies next to a point.
static bool is_near(Point point)
{
    for (int i = 0; i < 4; i++)
        if (at(point, DIRECTIONS[i], 1) != FREE || at(point, DIRECTIONS[i], -1) != FREE)
            return true;
    return false;
}

// Whether a side moved first. It is your turn: if both have as many stones, you did.
static bool is_black(int side)
{
    int lead = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            lead += (board[y][x] == OWN) - (board[y][x] == OTHER);
    return (side == OWN) == (lead == 0);
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
    int enemy = OWN + OTHER - side;
    for (int i = 0; i < 4; i++) {
        Point to = DIRECTIONS[i];
        int ahead = run(point, to, 1, side), behind = run(point, to, -1, side), length = 1 + ahead + behind;
        bool is_blocked = (rule & CARO) && at(point, to, ahead + 1) == enemy && at(point, to, -behind - 1) == enemy;
        if (length == 5 && !is_blocked)
            return true;
        if (length > 5 && !(rule & EXACT) && !((rule & RENJU) && is_black(side)))
            return true;
    }
    return false;
}

// Whether your stone might be a foul of Black's in renju; if this says no, it is none.
// A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
// So this gives up fair points too: a stronger agent looks at the shapes themselves.
static bool may_be_foul(Point point)
{
    int lines = 0;
    for (int i = 0; i < 4; i++) {
        int stones = 0;
        for (int n = 1; n <= 4; n++)
            stones += (at(point, DIRECTIONS[i], n) == OWN) + (at(point, DIRECTIONS[i], -n) == OWN);
        if (stones > 3)
            return true;
        lines += stones > 1;
    }
    return lines > 1;
}

// Fills in the free points, without what may be a foul if that is to be heeded, and returns how many there are.
static int free_points(Point points[MAX_POINTS], bool heeds_fouls)
{
    int count = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            Point point = {x, y};
            bool is_safe = !heeds_fouls || makes_five(point, OWN) || !may_be_foul(point);
            if (board[y][x] == FREE && is_safe)
                points[count++] = point;
        }
    return count;
}

// Fills in the free points; for Black in renju those that are surely allowed, while there are any. Returns how many.
static int legal_points(Point points[MAX_POINTS])
{
    int count = free_points(points, (rule & RENJU) && is_black(OWN));
    return count > 0 ? count : free_points(points, false);
}

// ---- the protocol: nothing below needs a change but the names in ABOUT ----

static const char *const ABOUT = "name=\"starter\", version=\"1.0\", author=\"me\", country=\"XY\"";
static const char *const UNREADABLE = "ERROR cannot read that";

// Reads the next line that says something, without what ends it; false at the end of stdin.
static bool read_line(char *line, int size)
{
    do {
        if (!fgets(line, size, stdin))
            return false;
        line[strcspn(line, "\r\n")] = '\0'; // lines may end with CR LF
    } while (line[0] == '\0');
    return true;
}

// Writes an answer; without the flush it would stay in this process.
static void say(const char *answer)
{
    puts(answer);
    fflush(stdout);
}

// Lays a stone. Returns what is wrong with it, or NULL.
static const char *put(Point point, int stone)
{
    if (!has(point) || board[point.y][point.x] != FREE)
        return "ERROR not a free point";
    board[point.y][point.x] = stone;
    return NULL;
}

static void move(void)
{
    Point points[MAX_POINTS];
    int count = legal_points(points);
    if (count == 0) {
        say("ERROR no free point");
        return;
    }
    Point point = choose_move(points, count);
    put(point, OWN);
    printf("%d,%d\n", point.x, point.y);
    fflush(stdout);
}

static void clear(void) { memset(board, FREE, sizeof board); }

static void start(int columns, int rows)
{
    if (columns < MIN_SIDE || rows < MIN_SIDE || columns > MAX_SIDE || rows > MAX_SIDE) {
        say("ERROR board sides must be 5 to 60");
        return;
    }
    width = columns;
    height = rows;
    clear();
    say("OK");
}

// Facts, which are never answered. There are also max_memory in bytes, and folder: a place for files.
static void hear_info(const char *rest)
{
    sscanf(rest, " rule %d", &rule);
    sscanf(rest, " timeout_turn %d", &turn_ms);
    sscanf(rest, " time_left %d", &left_ms);
}

// A whole position up to DONE, one stone a line, in place of the one before.
static void read_board(void)
{
    char row[64];
    const char *error = NULL;
    clear();
    while (read_line(row, sizeof row) && strcmp(row, "DONE") != 0) {
        Point point;
        int stone;
        const char *wrong = sscanf(row, "%d,%d,%d", &point.x, &point.y, &stone) == 3 ? put(point, stone) : UNREADABLE;
        if (!error)
            error = wrong; // and read on, so that no row is taken for a command
    }
    if (error)
        say(error);
    else
        move();
}

// The opening, up to DONE: lay three stones; answer three or five by SWAP, or as White by a stone.
static void read_swap2(void)
{
    char row[64];
    int count = 0;
    clear();
    while (read_line(row, sizeof row) && strcmp(row, "DONE") != 0) {
        Point point;
        if (sscanf(row, "%d,%d", &point.x, &point.y) == 2)
            put(point, count++ % 2 == 0 ? OTHER : OWN);
    }
    if (count == 0) {
        Point laid[3];
        choose_opening(laid);
        printf("%d,%d %d,%d %d,%d\n", laid[0].x, laid[0].y, laid[1].x, laid[1].y, laid[2].x, laid[2].y);
        fflush(stdout);
    } else if (wants_swap()) {
        say("SWAP");
    } else {
        move();
    }
}

static void turn(const char *rest)
{
    Point point;
    const char *error = sscanf(rest, "%d,%d", &point.x, &point.y) == 2 ? put(point, OTHER) : UNREADABLE;
    if (error)
        say(error);
    else
        move();
}

static void take_back(const char *rest)
{
    Point point;
    if (sscanf(rest, "%d,%d", &point.x, &point.y) != 2 || !has(point)) {
        say("ERROR not a point of the board");
        return;
    }
    board[point.y][point.x] = FREE;
    say("OK");
}

// Answers a command, if it asks for an answer.
static void answer(const char *line)
{
    char command[16] = "";
    int columns = 0, rows = 0; // and so too small where they cannot be read
    sscanf(line, "%15s", command);
    const char *rest = line + strlen(command);
    if (strcmp(command, "INFO") == 0) {
        hear_info(rest);
    } else if (strcmp(command, "ABOUT") == 0) {
        say(ABOUT);
    } else if (strcmp(command, "START") == 0) {
        sscanf(rest, "%d", &columns);
        start(columns, columns);
    } else if (strcmp(command, "RECTSTART") == 0) {
        sscanf(rest, "%d,%d", &columns, &rows);
        start(columns, rows);
    } else if (width == 0) {
        say("ERROR no START yet");
    } else if (strcmp(command, "RESTART") == 0) {
        start(width, height);
    } else if (strcmp(command, "BEGIN") == 0) {
        move();
    } else if (strcmp(command, "TURN") == 0) {
        turn(rest);
    } else if (strcmp(command, "BOARD") == 0) {
        read_board();
    } else if (strcmp(command, "SWAP2BOARD") == 0) {
        read_swap2();
    } else if (strcmp(command, "TAKEBACK") == 0) {
        take_back(rest);
    } else {
        say("UNKNOWN command");
    }
}

int main(void)
{
    char line[8192]; // a folder's name may be long
    srand(1);        // the same game can be played again
    while (read_line(line, sizeof line) && strcmp(line, "END") != 0)
        answer(line);
    return 0;
}

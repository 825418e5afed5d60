// Declarations that Piskvork's renju.cpp needs without its window, and a function for the tests. They compile it as other.cpp.
#include <algorithm>
using std::max;
using std::min;

struct Tsquare {
    int z, x, y;
    bool outside;
    bool blocked() const { return outside; }
};
typedef Tsquare *Psquare;

static const int LARGEST = 60;
static Tsquare squares[LARGEST][LARGEST];
int width, height, moves;
Psquare lastMove;
Psquare Square(int x, int y) { return &squares[x][y]; }

#include "other.cpp"

// `cells` has the board row by row: 0 free, 1 black, 2 white. Black's next stone is on x, y.
extern "C" int is_forbidden(int columns, int rows, const unsigned char *cells, int x, int y) {
    width = columns;
    height = rows;
    moves = 1; // odd: black has moved
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < rows; j++)
            squares[i][j] = Tsquare{cells[j * columns + i], i + 1, j + 1, false};
    lastMove = &squares[x][y];
    lastMove->z = 1;
    return checkforbid();
}

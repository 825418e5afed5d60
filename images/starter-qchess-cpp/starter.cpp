// Rule: select a piece and move it at random.
// A starter: copy the folder and give Player your own ideas.
// Build: make (or: g++ -std=c++17 -O2 -Wall -Wextra -static -o starter starter.cpp)
// Try:   judge match . house-qchess --policy qchess-2013
#include <array>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

constexpr int SIZE = 8;

struct Square {
    int x, y; // (0, 0) is top left
};

bool is_on_board(Square square)
{
    return square.x >= 0 && square.x < SIZE && square.y >= 0 && square.y < SIZE;
}

// Your agent. One object lives for one game, so what you want to remember goes into it.
struct Player {
    char colour = 'w'; // 'w' starts at the bottom and moves first, 'b' at the top
    std::array<std::string, SIZE> board{"bbbbbbbb", "bbbbbbbb", "........", "........",
                                        "........", "........", "wwwwwwww", "wwwwwwww"};
    Square selected{0, 0}; // what was announced last
    std::string kind;      // and the type that it has
    std::mt19937 dice{1};  // a seed of its own: same draws of types, same game

    // The square of the piece to select: one of `squares`, where your pieces stand. Replace this.
    // Only the selection tells its type. If that cannot move, your turn is over.
    Square choose_piece(const std::vector<Square> &squares) { return squares[dice() % squares.size()]; }

    // Where to move the piece on `selected`, which is a `kind` now: one of `squares`. Replace this.
    Square choose_square(const std::vector<Square> &squares) { return squares[dice() % squares.size()]; }

    // Either side selected the piece on a square: of its two types, number 0 or 1 showed.
    // On a light square (x + y even) it keeps that type; on a dark one it is open again after its turn.
    void hear_selection(Square, int, const std::string &) {}

    char at(Square square) const { return board[square.y][square.x]; }

    std::vector<Square> own_squares() const
    {
        std::vector<Square> squares;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                if (board[y][x] == colour)
                    squares.push_back({x, y});
        return squares;
    }

    // Where the selected piece can move: onto empty squares and enemies.
    std::vector<Square> legal_squares() const
    {
        std::vector<Square> squares;
        bool is_king = kind == "king", is_queen = kind == "queen";
        for (int dx = -1; dx <= 1; dx++)
            for (int dy = -1; dy <= 1; dy++) {
                bool is_straight = (dx == 0) != (dy == 0), is_diagonal = dx != 0 && dy != 0;
                if ((is_straight && kind == "rook") || (is_diagonal && kind == "bishop") || is_king || is_queen)
                    add_line(dx, dy, is_king ? 1 : SIZE - 1, squares);
                if (is_diagonal && kind == "knight") {
                    add_line(dx, 2 * dy, 1, squares);
                    add_line(2 * dx, dy, 1, squares);
                }
            }
        if (kind == "pawn")
            add_pawn_squares(squares);
        return squares;
    }

    // Where a step leads when it is repeated: up to an own piece or onto an enemy's.
    void add_line(int dx, int dy, int most, std::vector<Square> &squares) const
    {
        for (int n = 1; n <= most; n++) {
            Square square{selected.x + dx * n, selected.y + dy * n};
            if (!is_on_board(square) || at(square) == colour)
                return;
            squares.push_back(square);
            if (at(square) != '.')
                return; // captured: no further
        }
    }

    // Straight on while that is empty, two squares from the first row; captures to the side.
    void add_pawn_squares(std::vector<Square> &squares) const
    {
        int forward = colour == 'w' ? -1 : 1, first_row = colour == 'w' ? 6 : 1;
        for (int dx = -1; dx <= 1; dx += 2) {
            Square side{selected.x + dx, selected.y + forward};
            if (is_on_board(side) && at(side) != '.' && at(side) != colour)
                squares.push_back(side);
        }
        for (int n = 1; n <= (selected.y == first_row ? 2 : 1); n++) {
            Square ahead{selected.x, selected.y + forward * n};
            if (!is_on_board(ahead) || at(ahead) != '.')
                return;
            squares.push_back(ahead);
        }
    }
};

// ---- the protocol: nothing below needs a change ----

// The next line; the end of the game and of stdin is the end of this program.
std::string read_line()
{
    std::string line;
    if (!std::getline(std::cin, line) || line.compare(0, 4, "QUIT") == 0)
        std::exit(0);
    line.erase(line.find_last_not_of(" \r") + 1);
    return line;
}

void say(Square square)
{
    std::cout << square.x << ' ' << square.y << std::endl; // endl flushes: or it would stay in this process
}

// Takes what is told: a move "x y -> x2 y2" or a selection "x y index type", of the player and of the enemy.
void hear(Player &player, const std::string &line)
{
    std::istringstream words(line);
    Square square, end;
    std::string third;
    if (!(words >> square.x >> square.y >> third))
        return;
    if (third == "->" && words >> end.x >> end.y) {
        player.board.at(end.y).at(end.x) = player.board.at(square.y).at(square.x);
        player.board[square.y][square.x] = '.';
    } else if (words >> player.kind) {
        player.selected = square;
        player.hear_selection(square, std::stoi(third), player.kind);
    }
}

// The game goes on from a position: a line for each piece, such as "white king ['king', 'king']at 3,7".
void read_board(Player &player)
{
    player.board.fill(std::string(SIZE, '.'));
    for (std::string line = read_line(); line != "END BOARD"; line = read_line()) {
        size_t comma = line.rfind(',');
        if (comma != std::string::npos) // there is an empty line, too
            player.board.at(line.at(comma + 1) - '0').at(line.at(comma - 1) - '0') = line[0];
    }
}

int main()
{
    Player player;
    player.colour = read_line()[0]; // "white" or "black"
    while (true) {
        std::string line = read_line();
        if (line == "SELECTION?")
            say(player.choose_piece(player.own_squares()));
        else if (line == "MOVE?")
            say(player.choose_square(player.legal_squares()));
        else if (line == "BOARD")
            read_board(player);
        else
            hear(player, line);
    }
}

// Rule: play any legal half-move at random.
// A starter: copy the folder and give SETUP and Player your own ideas.
// Build: make (or: g++ -std=c++17 -O2 -Wall -Wextra -static -o starter starter.cpp)
// Try:   judge match . house-stratego --policy stratego-2012
#include <array>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

constexpr int SIZE = 10;

// Your 40 pieces as RED sees them, the back row first: one each of 1 2 s F, two 3, three 4, four each of
// 5 6 7, five 8, eight 9, six B. Don't lock pieces in behind bombs: without a legal move you lose (2012).
const std::vector<std::string> SETUP = {
    "8BFB887B95",
    "78B9s78B69",
    "6549B63754",
    "9236195499",
};

struct Direction {
    std::string name;
    int dx, dy;
};
const std::vector<Direction> DIRECTIONS = {{"UP", 0, -1}, {"DOWN", 0, 1}, {"LEFT", -1, 0}, {"RIGHT", 1, 0}};

struct Move {
    int x, y;
    Direction direction;
    int steps; // more than 1 for a Scout only
};

// Your agent. One object lives for one game, so what you want to remember goes into it.
struct Player {
    bool is_red = true;
    // board[y][x]: a letter of your own, '#' an enemy, '+' a lake, '.' empty; row 0 is RED's back row.
    std::array<std::string, SIZE> board;
    std::mt19937 dice{1}; // a seed of its own: the same game can be played again

    // Your move: one of `moves`, which are the legal ones and at least one. Replace this.
    Move choose_move(const std::vector<Move> &moves) { return moves[dice() % moves.size()]; }

    // What became of a half-move, yours and the enemy's in turn: "4 3 DOWN OK", "4 4 DOWN KILLS 3 7".
    // Behind KILLS, DIES and BOTHDIE stand the attacker and the defender: this is how you learn ranks.
    void hear_confirmation(const std::string &) {}

    // What stands on a square; beyond the edge is nothing to go to either, like a lake.
    char at(int x, int y) const
    {
        return x >= 0 && x < SIZE && y >= 0 && y < SIZE ? board[y][x] : '+';
    }

    // 1 Marshal, 2 General ... 8 Miner, 9 Scout, s Spy; B (Bomb) and F (Flag) stay.
    bool is_movable(int x, int y) const
    {
        return (at(x, y) >= '1' && at(x, y) <= '9') || at(x, y) == 's';
    }

    std::vector<Move> legal_moves() const
    {
        std::vector<Move> moves;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                if (is_movable(x, y))
                    for (const Direction &direction : DIRECTIONS)
                        add_moves(x, y, direction, moves);
        return moves;
    }

    // One step, or any number for a Scout until something is in its way.
    void add_moves(int x, int y, const Direction &direction, std::vector<Move> &moves) const
    {
        int most = at(x, y) == '9' ? SIZE - 1 : 1;
        for (int steps = 1; steps <= most; steps++) {
            char content = at(x + direction.dx * steps, y + direction.dy * steps);
            if (content == '.' || content == '#')
                moves.push_back({x, y, direction, steps});
            if (content != '.')
                return; // nobody jumps
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

// Writes an answer; endl flushes, or it would stay in this process.
void say(const std::string &line) { std::cout << line << std::endl; }

std::string answer(Player &player)
{
    std::vector<Move> moves = player.legal_moves();
    if (moves.empty())
        return "NO_MOVE"; // under the rules of 2012 the game ends before that
    Move move = player.choose_move(moves);
    std::string text = std::to_string(move.x) + ' ' + std::to_string(move.y) + ' ' + move.direction.name;
    return move.steps == 1 ? text : text + ' ' + std::to_string(move.steps);
}

int main()
{
    Player player;
    player.is_red = read_line().compare(0, 3, "RED") == 0; // "RED opponent 10 10"
    for (int row = 0; row < 4; row++)
        say(SETUP[player.is_red ? row : 3 - row]);
    std::string first = read_line(); // START for RED, who moves first
    if (!player.is_red)
        player.hear_confirmation(first);
    while (true) {
        for (std::string &row : player.board)
            row = read_line();
        say(answer(player));
        player.hear_confirmation(read_line());
        player.hear_confirmation(read_line());
    }
}

// Rule: make five, stop five, else lay a stone next to another at random.
// A starter: copy the folder and give Player your own ideas.
// Build: make (or: g++ -std=c++17 -O2 -Wall -Wextra -static -o starter starter.cpp)
// Try:   judge match . house-agi-instant --policy agi-renju
#include <algorithm>
#include <array>
#include <cctype>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

constexpr int SIDE = 15, MIDDLE = SIDE / 2;
enum Stone { FREE, BLACK, WHITE };

struct Point {
    int row, column; // both from 0 at the top left
};
constexpr std::array<Point, 4> DIRECTIONS{{{1, 0}, {0, 1}, {1, 1}, {1, -1}}};

// Your agent: the position, and a move for it.
struct Player {
    std::array<std::array<Stone, SIDE>, SIDE> board{}; // board[row][column]
    int count = 0; // how many stones lie: the first, third, ... is black, so Black moves where this is even
    // The words of SETRULE. FORBIDDEN: renju, Black's fouls lose. UNFORBIDDEN: five or more win.
    std::set<std::string> rules{"FORBIDDEN"};
    int left_ms = 1000;   // milliseconds that you have for this move
    std::mt19937 dice{1}; // a seed of its own: the same game can be played again

    // Your move: one of `points`, where you may play, at least one. Replace this.
    Point choose_move(const std::vector<Point> &points)
    {
        Stone colour = count % 2 == 0 ? BLACK : WHITE, other = count % 2 == 0 ? WHITE : BLACK;
        for (Stone side : {colour, other})
            for (Point point : points)
                if (makes_five(point, side))
                    return point;
        std::vector<Point> near;
        for (Point point : points)
            if (is_near(point))
                near.push_back(point);
        const auto &choice = near.empty() ? points : near;
        return choice[dice() % choice.size()];
    }

    // The other laid one stone (FIRSTCHANGE) or three (THIRDCHANGE), you are White: whether to be Black instead.
    bool wants_change() const { return false; }

    // You are White and four stones lie: which of `points`, the fifth stones that Black offers, may stay.
    Point choose_fifth(const std::vector<Point> &points) const { return points.front(); }

    // The free points; for Black in renju those that are surely allowed, while there are any.
    // The first stone goes to the middle, the second and third near it, as in renju's 26 openings.
    std::vector<Point> legal_points() const
    {
        std::vector<Point> free, safe;
        int reach = count < 3 ? count : MIDDLE;
        for (int row = MIDDLE - reach; row <= MIDDLE + reach; row++)
            for (int column = MIDDLE - reach; column <= MIDDLE + reach; column++)
                if (board[row][column] == FREE)
                    free.push_back({row, column});
        if (!has_rule("FORBIDDEN") || count % 2 != 0)
            return free;
        for (Point point : free)
            if (makes_five(point, BLACK) || !may_be_foul(point))
                safe.push_back(point);
        return safe.empty() ? free : safe;
    }

    // Whether a stone of `side` on a free point wins.
    bool makes_five(Point point, Stone side) const
    {
        bool is_exact = has_rule("FORBIDDEN") && side == BLACK;
        return std::any_of(DIRECTIONS.begin(), DIRECTIONS.end(), [&](Point to) {
            int length = 1 + run(point, to, side) + run(point, {-to.row, -to.column}, side);
            return length == 5 || (length > 5 && !is_exact);
        });
    }

    // How many stones of `side` follow each other from a point on.
    int run(Point point, Point to, Stone side) const
    {
        int length = 0;
        while (at(point, to, length + 1) == side)
            length++;
        return length;
    }

    // Whether a black stone might be a foul of renju; if this says no, it is none.
    // A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
    // So this gives up fair points too: a stronger agent looks at the shapes themselves.
    bool may_be_foul(Point point) const
    {
        int lines = 0;
        for (Point to : DIRECTIONS) {
            int stones = 0;
            for (int n = 1; n <= 4; n++)
                stones += (at(point, to, n) == BLACK) + (at(point, to, -n) == BLACK);
            if (stones > 3)
                return true;
            lines += stones > 1;
        }
        return lines > 1;
    }

    // Whether a stone lies next to a point.
    bool is_near(Point point) const
    {
        return std::any_of(DIRECTIONS.begin(), DIRECTIONS.end(),
                           [&](Point to) { return at(point, to, 1) != FREE || at(point, to, -1) != FREE; });
    }

    // What lies some steps from a point; beyond the edge lies no stone.
    Stone at(Point point, Point to, int steps) const
    {
        int row = point.row + to.row * steps, column = point.column + to.column * steps;
        return row >= 0 && row < SIDE && column >= 0 && column < SIDE ? board[row][column] : FREE;
    }

    bool has_rule(const std::string &word) const { return rules.count(word) > 0; }
};

// ---- the protocol: nothing below needs a change but the name in ID ----

void say(const std::string &line)
{
    std::cout << line << std::endl; // endl flushes: or it would stay in this process
}

// `786869` are three points: a row 0 to E from the top and a column 1 to F from the left, each hexadecimal.
std::vector<Point> points_of(const std::string &text)
{
    std::vector<Point> points;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        int row = std::stoi(text.substr(i, 1), nullptr, 16), column = std::stoi(text.substr(i + 1, 1), nullptr, 16);
        points.push_back({row, column - 1});
    }
    return points;
}

std::string text_of(Point point)
{
    const std::string digits = "0123456789ABCDEF";
    return {digits[point.row], digits[point.column + 1]};
}

// The words of the next line, in capitals; false at the end of stdin.
bool read_words(std::vector<std::string> &words)
{
    std::string line;
    if (!std::getline(std::cin, line))
        return false;
    for (char &letter : line)
        letter = std::toupper(static_cast<unsigned char>(letter));
    std::istringstream parts(line); // a CR at the end is blank space, too
    words.clear();
    for (std::string word; parts >> word;)
        words.push_back(word);
    return true;
}

// Hears AGI one line at a time and answers what asks for it.
struct Engine {
    Player player;
    bool is_offering = false; // you are Black, and your fifth stones are asked for

    // Other words, SETOPTION and STOP among them, mean nothing to who answers at once.
    // Who thinks longer also reads on while it thinks: ISREADY and STOP may come then.
    void hear(const std::vector<std::string> &words)
    {
        const std::string &word = words[0];
        if (word == "AGI")
            say("ID NAME starter\nOPTION OWNBOOK FALSE PONDER FALSE\nAGIOK");
        else if (word == "ISREADY")
            say("READYOK");
        else if (word == "SETRULE")
            player.rules = {words.begin() + 1, words.end()};
        else if (word == "POSITION")
            set_position(words);
        else if (word == "DOMOVE")
            lay(points_of(words.at(1))); // your own stones come so as well
        else if (word == "GO")
            say("BESTMOVE " + decide(words));
    }

    // All stones in order, behind STATU and MOVES; none where both are missing.
    void set_position(const std::vector<std::string> &words)
    {
        player.board = {};
        player.count = 0;
        for (size_t i = 2; i < words.size(); i += 2)
            lay(points_of(words[i]));
    }

    void lay(const std::vector<Point> &points)
    {
        for (Point point : points)
            player.board.at(point.row).at(point.column) = player.count++ % 2 == 0 ? BLACK : WHITE;
    }

    // The answer to `GO TIME ms` or `GO SEARCH points TIME ms`: a point, or CHANGE.
    std::string decide(const std::vector<std::string> &words)
    {
        if (words.size() > 2)
            player.left_ms = std::stoi(words.back());
        if (words.size() > 2 && words[1] == "SEARCH") {
            std::vector<Point> points = points_of(words[2]);
            // The fifths are named to both: to Black those that may still be offered, to White those that were.
            bool has_fifths = player.has_rule("FIVETWINE") || player.has_rule("FIVEMULITY");
            bool is_choice = player.count == 4 && !is_offering && has_fifths;
            return text_of(is_choice ? player.choose_fifth(points) : player.choose_move(points));
        }
        is_offering = player.count == 4;
        if (may_change() && player.wants_change())
            return "CHANGE";
        return text_of(player.choose_move(player.legal_points()));
    }

    // Whether you may take black. The word goes from the rules when that has been decided.
    bool may_change() const
    {
        return (player.count == 1 && player.has_rule("FIRSTCHANGE")) ||
               (player.count == 3 && player.has_rule("THIRDCHANGE"));
    }
};

int main()
{
    Engine engine;
    std::vector<std::string> words;
    while (read_words(words)) {
        if (words.empty())
            continue;
        if (words[0] == "QUIT") {
            say("BYE");
            return 0;
        }
        engine.hear(words);
    }
}

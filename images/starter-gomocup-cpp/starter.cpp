// Rule: make five, stop five, else lay a stone next to another at random.
// A starter: copy the folder and give Player your own ideas.
// Build: make (or: g++ -std=c++17 -O2 -Wall -Wextra -static -o starter starter.cpp)
// Try:   judge match . house-instant --policy gomocup-standard:fast
#include <algorithm>
#include <array>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int MIN_SIDE = 5, MAX_SIDE = 60;
enum Stone { FREE, OWN, OTHER };              // as BOARD counts them; a 3 is a stone of nobody
enum Rule { EXACT = 1, RENJU = 4, CARO = 8 }; // the bits of INFO rule; without any of them five or more win

struct Point {
    int x, y; // column and row from 0
};
constexpr std::array<Point, 4> DIRECTIONS{{{1, 0}, {0, 1}, {1, 1}, {1, -1}}};

// Your agent: the position, and a move for it.
struct Player {
    int width = 0, height = 0;
    std::vector<std::vector<int>> board; // board[y][x]: FREE, OWN, OTHER or 3
    int rule = 0;
    int turn_ms = 30000;  // milliseconds that you have for each move ...
    int left_ms = 180000; // ... and for all that follow
    std::mt19937 dice{1}; // a seed of its own: the same game can be played again

    // Your move: one of `points`, where you may play, at least one. Replace this.
    Point choose_move(const std::vector<Point> &points)
    {
        for (int side : {OWN, OTHER})
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

    // The first three stones of swap2: black, white, black. The other then chooses a colour.
    std::array<Point, 3> choose_opening() const
    {
        int x = width / 2, y = height / 2;
        return {{{x, y}, {x + 1, y}, {x - 1, y + 2}}};
    }

    // In swap2 three or five stones lie and you are white, to move: whether to be black instead.
    bool wants_swap() const { return false; }

    // The free points; for Black in renju those that are surely allowed, while there are any.
    std::vector<Point> legal_points() const
    {
        std::vector<Point> free, safe;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                if (board[y][x] == FREE)
                    free.push_back({x, y});
        if (!(rule & RENJU) || !is_black(OWN))
            return free;
        for (Point point : free)
            if (makes_five(point, OWN) || !may_be_foul(point))
                safe.push_back(point);
        return safe.empty() ? free : safe;
    }

    // Whether a side moved first. It is your turn: if both have as many stones, you did.
    bool is_black(int side) const
    {
        int lead = 0;
        for (const auto &row : board)
            for (int stone : row)
                lead += (stone == OWN) - (stone == OTHER);
        return (side == OWN) == (lead == 0);
    }

    // Whether a stone of `side` on a free point wins.
    bool makes_five(Point point, int side) const
    {
        for (Point to : DIRECTIONS) {
            int ahead = run(point, to, side), behind = run(point, {-to.x, -to.y}, side);
            int length = 1 + ahead + behind, enemy = OWN + OTHER - side;
            bool is_blocked = (rule & CARO) && at(point, to, ahead + 1) == enemy && at(point, to, -behind - 1) == enemy;
            if (length == 5 && !is_blocked)
                return true;
            if (length > 5 && !(rule & EXACT) && !((rule & RENJU) && is_black(side)))
                return true;
        }
        return false;
    }

    // How many stones of `side` follow each other from a point on.
    int run(Point point, Point to, int side) const
    {
        int length = 0;
        while (at(point, to, length + 1) == side)
            length++;
        return length;
    }

    // Whether your stone might be a foul of Black's in renju; if this says no, it is none.
    // A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
    // So this gives up fair points too: a stronger agent looks at the shapes themselves.
    bool may_be_foul(Point point) const
    {
        int lines = 0;
        for (Point to : DIRECTIONS) {
            int count = 0;
            for (int n = 1; n <= 4; n++)
                count += (at(point, to, n) == OWN) + (at(point, to, -n) == OWN);
            if (count > 3)
                return true;
            lines += count > 1;
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
    int at(Point point, Point to, int steps) const
    {
        Point there{point.x + to.x * steps, point.y + to.y * steps};
        return has(there) ? board[there.y][there.x] : FREE;
    }

    bool has(Point point) const { return point.x >= 0 && point.x < width && point.y >= 0 && point.y < height; }
};

// ---- the protocol: nothing below needs a change but the names in ABOUT ----

const std::string ABOUT = R"(name="starter", version="1.0", author="me", country="XY")";

// The next line that says something, without what ends it; empty at the end of stdin.
std::string read_line()
{
    std::string line;
    while (line.empty() && std::getline(std::cin, line))
        line.erase(line.find_last_not_of(" \t\r") + 1); // lines may end with CR LF
    return line;
}

// The lines up to DONE. All are read before anything else, so that none is taken for a command.
std::vector<std::string> read_rows()
{
    std::vector<std::string> rows;
    for (std::string line = read_line(); !line.empty() && line != "DONE"; line = read_line())
        rows.push_back(line);
    return rows;
}

// The numbers of `20`, `x,y` or `x,y,who`. Where one is missing, `at` of the vector throws.
std::vector<int> numbers(const std::string &text)
{
    std::vector<int> found;
    std::istringstream parts(text);
    for (int number; parts >> number; parts.ignore())
        found.push_back(number);
    return found;
}

Point point_of(const std::string &text)
{
    std::vector<int> found = numbers(text);
    return {found.at(0), found.at(1)};
}

std::string text_of(Point point) { return std::to_string(point.x) + ',' + std::to_string(point.y); }

// Answers Gomocup one command at a time; an exception's text goes behind ERROR.
struct Engine {
    Player player;

    // The answer to a command, or nothing where none is due.
    std::string answer(const std::string &line)
    {
        size_t blank = std::min(line.find(' '), line.size());
        std::string command = line.substr(0, blank), rest = line.substr(blank);
        if (command == "INFO")
            return info(rest);
        if (command == "ABOUT")
            return ABOUT;
        if (command == "START")
            return start(numbers(rest).at(0), numbers(rest).at(0));
        if (command == "RECTSTART")
            return start(point_of(rest).x, point_of(rest).y);
        if (player.board.empty())
            throw std::runtime_error("no START yet");
        if (command == "RESTART")
            return restart();
        if (command == "BEGIN")
            return move();
        if (command == "TURN")
            return turn(point_of(rest));
        if (command == "BOARD")
            return read_board(read_rows());
        if (command == "SWAP2BOARD")
            return read_swap2(read_rows());
        if (command == "TAKEBACK")
            return take_back(point_of(rest));
        return "UNKNOWN command";
    }

    // Facts, which are never answered. There are also max_memory in bytes, and folder: a place for files.
    std::string info(const std::string &rest)
    {
        std::istringstream words(rest);
        std::string key;
        int value;
        if (!(words >> key >> value))
            return "";
        if (key == "rule")
            player.rule = value;
        else if (key == "timeout_turn")
            player.turn_ms = value;
        else if (key == "time_left")
            player.left_ms = value;
        return "";
    }

    std::string start(int width, int height)
    {
        if (std::min(width, height) < MIN_SIDE || std::max(width, height) > MAX_SIDE)
            throw std::runtime_error("board sides must be 5 to 60");
        player.width = width;
        player.height = height;
        return restart();
    }

    std::string restart()
    {
        player.board.assign(player.height, std::vector<int>(player.width, FREE));
        return "OK";
    }

    std::string turn(Point point)
    {
        put(point, OTHER);
        return move();
    }

    // A whole position, one stone a line, in place of the one before.
    std::string read_board(const std::vector<std::string> &rows)
    {
        restart();
        for (const std::string &row : rows)
            put(point_of(row), numbers(row).at(2));
        return move();
    }

    // The opening: lay three stones; answer three or five by SWAP, or as White by a stone.
    std::string read_swap2(const std::vector<std::string> &rows)
    {
        restart();
        for (size_t number = 0; number < rows.size(); number++)
            put(point_of(rows[number]), number % 2 == 0 ? OTHER : OWN);
        if (!rows.empty())
            return player.wants_swap() ? "SWAP" : move();
        auto [first, second, third] = player.choose_opening();
        return text_of(first) + ' ' + text_of(second) + ' ' + text_of(third);
    }

    std::string take_back(Point point)
    {
        if (!player.has(point))
            throw std::runtime_error("not on the board");
        player.board[point.y][point.x] = FREE;
        return "OK";
    }

    std::string move()
    {
        std::vector<Point> points = player.legal_points();
        if (points.empty())
            throw std::runtime_error("no free point");
        Point point = player.choose_move(points);
        put(point, OWN);
        return text_of(point);
    }

    void put(Point point, int stone)
    {
        if (!player.has(point) || player.board[point.y][point.x] != FREE)
            throw std::runtime_error("not a free point");
        player.board[point.y][point.x] = stone;
    }
};

int main()
{
    Engine engine;
    for (std::string line = read_line(); !line.empty() && line != "END"; line = read_line()) {
        std::string answer;
        try {
            answer = engine.answer(line);
        } catch (const std::out_of_range &) {
            answer = "ERROR cannot read that";
        } catch (const std::runtime_error &error) {
            answer = std::string("ERROR ") + error.what();
        }
        if (!answer.empty())
            std::cout << answer << std::endl; // endl flushes: or it would stay in this process
    }
}

// A chess engine for UCI: an alpha-beta search that counts material. Begin yours from it.
// Build: make (or: g++ -std=c++17 -O2 -Wall -Wextra -static -o starter starter.cpp)
// Try:   judge check . --policy chess.toml
//
// The board has 120 squares, ten per row, with a border of '#'. Capitals are white.
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int NORTH = -10, EAST = 1, SOUTH = 10, WEST = -1;
constexpr int MATE = 30'000, MAX_DEPTH = 60;
const std::string START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const std::vector<int> KNIGHT = {-21, -19, -12, -8, 8, 12, 19, 21};
const std::vector<int> DIAGONAL = {-11, -9, 9, 11};
const std::vector<int> STRAIGHT = {NORTH, EAST, SOUTH, WEST};
const std::vector<int> ALL = {-11, -9, 9, 11, NORTH, EAST, SOUTH, WEST};

const std::vector<int> &steps_of(char kind)
{
    return kind == 'N' ? KNIGHT : kind == 'B' ? DIAGONAL : kind == 'R' ? STRAIGHT : ALL;
}

bool slides(char kind) { return kind == 'B' || kind == 'R' || kind == 'Q'; }

char kind_of(char piece) { return static_cast<char>(std::toupper(static_cast<unsigned char>(piece))); }

int value_of(char piece)
{
    switch (kind_of(piece)) {
    case 'P': return 100;
    case 'N': return 320;
    case 'B': return 330;
    case 'R': return 500;
    case 'Q': return 900;
    default: return 0;
    }
}

bool owns(char piece, bool is_white) { return is_white ? piece >= 'A' && piece <= 'Z' : piece >= 'a' && piece <= 'z'; }

char piece_of(char kind, bool is_white)
{
    return is_white ? kind : static_cast<char>(std::tolower(static_cast<unsigned char>(kind)));
}

int square(const std::string &name) { return 20 + 10 * ('8' - name.at(1)) + name.at(0) - 'a' + 1; }

std::string name(int at)
{
    return {static_cast<char>('a' + at % 10 - 1), static_cast<char>('8' - (at - 20) / 10)};
}

struct Move {
    int from = 0, to = 0; // castling goes to the rook
    char promotion = 0;   // 'q', 'r', 'b', 'n' or 0
};

class Board {
public:
    explicit Board(const std::string &fen)
    {
        squares.fill('#');
        std::istringstream words(fen);
        std::string rows, turn, castling, passed_name;
        words >> rows >> turn >> castling >> passed_name;
        int at = 21, row = 0;
        for (char letter : rows) {
            if (letter == '/')
                at = 21 + 10 * ++row;
            else if (letter >= '1' && letter <= '8')
                for (int count = letter - '0'; count > 0; --count)
                    squares.at(at++) = '.';
            else
                squares.at(at++) = letter;
        }
        is_white = turn == "w";
        for (char right : castling)
            if (right != '-')
                castles.at(rook_of(right)) = true;
        castles[0] = false;
        passed = passed_name == "-" ? 0 : square(passed_name);
    }

    bool is_check() const { return is_attacked(king(is_white), !is_white); }

    // All moves; some leave the king in check.
    std::vector<Move> moves() const
    {
        std::vector<Move> found;
        for (int at = 21; at < 99; ++at) {
            if (!owns(squares[at], is_white))
                continue;
            char kind = kind_of(squares[at]);
            if (kind == 'P') {
                add_pawn_moves(at, found);
                continue;
            }
            for (int step : steps_of(kind)) {
                int to = at + step;
                for (; squares[to] == '.' && slides(kind); to += step)
                    found.push_back({at, to, 0});
                if (squares[to] == '.' || owns(squares[to], !is_white))
                    found.push_back({at, to, 0});
            }
        }
        int from = king(is_white), row = from / 10 * 10;
        for (int rook = row; rook < row + 10; ++rook)
            if (castles[rook] && can_castle(from, rook))
                found.push_back({from, rook, 0});
        // Captures of large pieces come first.
        std::stable_sort(found.begin(), found.end(), [this](const Move &one, const Move &two) {
            return value_of(squares[one.to]) > value_of(squares[two.to]);
        });
        return found;
    }

    // The position after a move, or none if it leaves the king in check.
    std::optional<Board> play(const Move &move) const
    {
        Board after = *this;
        char piece = squares[move.from], rook = piece_of('R', is_white);
        after.passed = 0;
        after.squares[move.from] = '.';
        if (squares[move.to] == rook) {
            auto [king_end, rook_end] = castled(move.from, move.to);
            after.squares[move.to] = '.';
            after.squares[king_end] = piece;
            after.squares[rook_end] = rook;
        } else {
            after.squares[move.to] = move.promotion ? piece_of(kind_of(move.promotion), is_white) : piece;
            if (kind_of(piece) == 'P' && move.to == passed)
                after.squares[move.to + (is_white ? SOUTH : NORTH)] = '.';
            if (kind_of(piece) == 'P' && std::abs(move.to - move.from) == 20)
                after.passed = (move.from + move.to) / 2;
        }
        after.castles[move.from] = after.castles[move.to] = false;
        if (kind_of(piece) == 'K')
            std::fill_n(after.castles.begin() + (is_white ? 91 : 21), 8, false);
        if (after.is_check())
            return std::nullopt;
        after.is_white = !is_white;
        return after;
    }

    // The move of a text in UCI notation.
    Move read(const std::string &text) const
    {
        Move move{square(text.substr(0, 2)), square(text.substr(2, 2)), text.size() > 4 ? text[4] : '\0'};
        if (kind_of(squares.at(move.from)) == 'K' && std::abs(move.to - move.from) == 2) {
            int row = move.from / 10 * 10, step = move.to > move.from ? 1 : -1;
            for (int rook = move.from + step; rook > row && rook < row + 9; rook += step)
                if (castles[rook])
                    return {move.from, rook, 0};
        }
        return move;
    }

    std::string write(const Move &move, bool is_chess960) const
    {
        int to = move.to;
        if (!is_chess960 && squares[to] == piece_of('R', is_white))
            to = castled(move.from, move.to).first;
        return name(move.from) + name(to) + (move.promotion ? std::string(1, move.promotion) : "");
    }

    // Material and the central files, for the side to move.
    int evaluate() const
    {
        int total = 0;
        for (int at = 21; at < 99; ++at) {
            char piece = squares[at], kind = kind_of(piece);
            if (piece == '.' || piece == '#')
                continue;
            int row = at / 10 - 2;
            int value = value_of(piece) + (kind == 'K' ? 0 : 4 - std::abs(at % 10 * 2 - 9) / 2);
            if (kind == 'P')
                value += 2 * (owns(piece, true) ? 7 - row : row);
            total += owns(piece, true) ? value : -value;
        }
        return is_white ? total : -total;
    }

    bool is_white = true;

private:
    int king(bool white) const
    {
        return static_cast<int>(std::find(squares.begin(), squares.end(), white ? 'K' : 'k') - squares.begin());
    }

    // The rook of a letter of the castling field (K, Q, or a column), or 0.
    int rook_of(char right) const
    {
        bool white = owns(right, true);
        int first = white ? 91 : 21, from = king(white);
        char rook = piece_of('R', white);
        if (kind_of(right) == 'K') {
            for (int at = first + 7; at > from; --at)
                if (squares[at] == rook)
                    return at;
            return 0;
        }
        if (kind_of(right) == 'Q') {
            for (int at = first; at < from; ++at)
                if (squares[at] == rook)
                    return at;
            return 0;
        }
        return first + kind_of(right) - 'A';
    }

    bool is_attacked(int at, bool by_white) const
    {
        int forward = by_white ? NORTH : SOUTH;
        char pawn = piece_of('P', by_white);
        if (squares[at - forward - 1] == pawn || squares[at - forward + 1] == pawn)
            return true;
        for (char kind : {'N', 'B', 'R', 'Q', 'K'}) {
            char piece = piece_of(kind, by_white);
            for (int step : steps_of(kind)) {
                int to = at + step;
                while (squares[to] == '.' && slides(kind))
                    to += step;
                if (squares[to] == piece)
                    return true;
            }
        }
        return false;
    }

    void add_pawn_moves(int at, std::vector<Move> &found) const
    {
        int forward = is_white ? NORTH : SOUTH;
        auto add = [&](int to) {
            if (to / 10 == (is_white ? 2 : 9))
                for (char promotion : {'q', 'r', 'b', 'n'})
                    found.push_back({at, to, promotion});
            else
                found.push_back({at, to, 0});
        };
        for (int to : {at + forward - 1, at + forward + 1})
            if (owns(squares[to], !is_white) || (passed && to == passed))
                add(to);
        if (squares[at + forward] != '.')
            return;
        add(at + forward);
        if (at / 10 == (is_white ? 8 : 3) && squares[at + 2 * forward] == '.')
            add(at + 2 * forward);
    }

    // The squares of king and rook after castling.
    static std::pair<int, int> castled(int from, int rook)
    {
        int row = from / 10 * 10;
        return rook > from ? std::pair(row + 7, row + 6) : std::pair(row + 3, row + 4);
    }

    bool can_castle(int from, int rook) const
    {
        auto [king_end, rook_end] = castled(from, rook);
        auto [low, high] = std::minmax({from, rook, king_end, rook_end});
        for (int at = low; at <= high; ++at)
            if (squares[at] != '.' && at != from && at != rook)
                return false;
        int step = king_end >= from ? 1 : -1;
        for (int at = from; at != king_end + step; at += step)
            if (is_attacked(at, !is_white))
                return false;
        return true;
    }

    std::array<char, 120> squares{};
    std::array<bool, 120> castles{}; // the rooks that may castle
    int passed = 0;                  // the square that a pawn has just passed, or 0
};

// ---- your engine: the search for a move ----

class Search {
public:
    Search(const Board &root, double seconds, bool chess960)
        : board(root), begin(Clock::now()), end(begin + std::chrono::duration<double>(seconds)), is_chess960(chess960)
    {
    }

    // Searches deeper until the time is over, and prints the best move.
    void choose()
    {
        std::vector<Move> legal;
        for (const Move &move : board.moves())
            if (board.play(move))
                legal.push_back(move);
        for (int depth = 1; depth <= MAX_DEPTH && !legal.empty(); ++depth) {
            int alpha = -2 * MATE;
            auto best = legal.begin();
            for (auto move = legal.begin(); move != legal.end() && !is_over; ++move) {
                int value = -value_after(*board.play(*move), depth - 1, -2 * MATE, -alpha, 1);
                if (value > alpha && !is_over) {
                    alpha = value;
                    best = move;
                }
            }
            std::rotate(legal.begin(), best, best + 1);
            if (is_over)
                break;
            auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
            std::cout << "info depth " << depth << " score cp " << alpha << " nodes " << nodes << " time " << ms
                      << " pv " << board.write(legal.front(), is_chess960) << std::endl;
            if (std::abs(alpha) > MATE - 100 || legal.size() == 1)
                break;
        }
        std::cout << "bestmove " << (legal.empty() ? "(none)" : board.write(legal.front(), is_chess960)) << std::endl;
    }

private:
    // The value of a position for the side to move.
    int value_after(const Board &position, int depth, int alpha, int beta, int ply)
    {
        if (++nodes % 1024 == 0 && Clock::now() > end)
            is_over = true;
        if (is_over || depth == 0)
            return position.evaluate();
        int best = -2 * MATE;
        for (const Move &move : position.moves()) {
            std::optional<Board> after = position.play(move);
            if (!after)
                continue;
            best = std::max(best, -value_after(*after, depth - 1, -beta, -alpha, ply + 1));
            alpha = std::max(alpha, best);
            if (alpha >= beta)
                break;
        }
        if (best == -2 * MATE)
            return position.is_check() ? ply - MATE : 0;
        return best;
    }

    Board board;
    Clock::time_point begin;
    std::chrono::time_point<Clock, std::chrono::duration<double>> end;
    bool is_chess960, is_over = false;
    long nodes = 0;
};

// Counts the sequences of legal moves, and prints the number after each first move. Compare it with other engines.
long perft(const Board &board, int depth, bool is_chess960, bool prints)
{
    long total = 0;
    for (const Move &move : board.moves()) {
        std::optional<Board> after = board.play(move);
        if (!after)
            continue;
        long found = depth > 1 ? perft(*after, depth - 1, is_chess960, false) : 1;
        if (prints)
            std::cout << board.write(move, is_chess960) << ": " << found << "\n";
        total += found;
    }
    return total;
}

// ---- UCI ----

Board read_position(std::istringstream &words)
{
    std::string word, fen;
    words >> word;
    if (word == "startpos") {
        fen = START;
        words >> word;
    } else {
        while (words >> word && word != "moves")
            fen += word + " ";
    }
    Board board(fen);
    while (words >> word)
        if (auto after = board.play(board.read(word)))
            board = *after;
    return board;
}

double seconds_for(const Board &board, std::istringstream &words)
{
    double left = std::numeric_limits<double>::max(), most = left;
    std::string word;
    double value = 0;
    while (words >> word)
        if (word == (board.is_white ? "wtime" : "btime") && words >> value)
            left = value;
        else if (word == "movetime" && words >> value)
            most = value - 50;
    return std::min({left / 40, most, 1e9}) / 1000;
}

} // namespace

int main()
{
    Board board(START);
    bool is_chess960 = false;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "uci")
            std::cout << "id name starter-uci-cpp\nid author judge\n"
                      << "option name UCI_Chess960 type check default false\nuciok" << std::endl;
        else if (word == "isready")
            std::cout << "readyok" << std::endl;
        else if (word == "setoption" && line.find("UCI_Chess960") != std::string::npos)
            is_chess960 = line.find("true") != std::string::npos;
        else if (word == "position")
            board = read_position(words);
        else if (line.rfind("go perft ", 0) == 0) {
            long found = perft(board, std::stoi(line.substr(9)), is_chess960, true);
            std::cout << "Nodes searched: " << found << std::endl;
        } else if (word == "go")
            Search(board, seconds_for(board, words), is_chess960).choose();
        else if (word == "quit")
            return 0;
    }
    return 0;
}

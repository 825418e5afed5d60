// Plays the first free square of a Gomocup board, in C++ of 2023: a member function that names its object.
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

struct Board {
    int size = 20;
    std::set<std::pair<int, int>> taken;

    std::string move(this Board &self) {
        for (int x = 0; x < self.size; x++)
            for (int y = 0; y < self.size; y++)
                if (self.taken.insert({x, y}).second)
                    return std::to_string(x) + "," + std::to_string(y);
        return "";
    }

    void take(this Board &self, const std::string &text) {
        int x, y;
        char comma;
        if (std::istringstream(text) >> x >> comma >> y)
            self.taken.insert({x, y});
    }
};

int main() {
    Board board;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string word, rest;
        words >> word >> rest;
        if (word == "START" || word == "RESTART") {
            board = Board{rest.empty() ? board.size : std::stoi(rest), {}};
            std::cout << "OK" << std::endl;
        } else if (word == "ABOUT") {
            std::cout << "name=\"clang\"" << std::endl;
        } else if (word == "TURN" || word == "BEGIN") {
            board.take(rest);
            std::cout << board.move() << std::endl;
        } else if (word == "BOARD") {
            while (std::getline(std::cin, line) && !line.starts_with("DONE"))
                board.take(line);
            std::cout << board.move() << std::endl;
        } else if (word == "END") {
            return 0;
        }
    }
}

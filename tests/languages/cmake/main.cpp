// Plays the first free square of a Gomocup board.
#include "board.h"

#include <iostream>
#include <optional>
#include <sstream>

int main() {
    std::optional<Board> board;
    board.emplace(20);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string word, rest;
        words >> word >> rest;
        if (word == "START" || word == "RESTART") {
            int size = rest.empty() ? board->size : std::stoi(rest);
            board.emplace(size);
            std::cout << "OK" << std::endl;
        } else if (word == "ABOUT") {
            std::cout << "name=\"cmake\"" << std::endl;
        } else if (word == "TURN" || word == "BEGIN") {
            board->take(rest);
            std::cout << board->move() << std::endl;
        } else if (word == "BOARD") {
            while (std::getline(std::cin, line) && !line.starts_with("DONE"))
                board->take(line);
            std::cout << board->move() << std::endl;
        } else if (word == "END") {
            return 0;
        }
    }
}

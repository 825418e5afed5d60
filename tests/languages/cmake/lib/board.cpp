#include "board.h"

#include <cstdio>

std::string Board::move() {
    for (int x = 0; x < size; x++)
        for (int y = 0; y < size; y++)
            if (taken.insert({x, y}).second)
                return std::to_string(x) + "," + std::to_string(y);
    return "";
}

void Board::take(const std::string &text) {
    int x, y;
    if (std::sscanf(text.c_str(), "%d,%d", &x, &y) == 2)
        taken.insert({x, y});
}

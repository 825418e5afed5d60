#pragma once
#include <set>
#include <string>
#include <utility>

class Board {
public:
    explicit Board(int size) : size(size) {}
    std::string move();
    void take(const std::string &text);
    const int size;

private:
    std::set<std::pair<int, int>> taken;
};

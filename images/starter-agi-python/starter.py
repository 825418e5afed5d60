#!/usr/bin/env python3
"""Rule: put a stone next to another, at random. A starter: copy the folder, give `Player` your own ideas.

Try it in its folder: `judge match . house-agi --policy agi-renju`
"""

import random
import sys

SIDE = 15
MIDDLE = (7, 7)
AROUND = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


class Player:
    """Your agent: the position, and a move for it. A point is (row, column), (0, 0) is in the corner top left."""

    def __init__(self):
        self.rules = {"FORBIDDEN"}
        """The words of SETRULE, such as THIRDCHANGE and FIVETWINE."""
        self.stones = []
        """All points in the order of play. Black laid the first, the third, ... and Black's fouls lose."""
        self.left_ms = 1000
        """Milliseconds that you have for this move and all that follow."""
        self.dice = random.Random(1)  # a seed of its own: the same game can be played again

    def choose_move(self, points):
        """Your move: one of `points`, which are free and at least one. Replace this.

        It is Black's move if the number of stones is even, with one exception: see `choose_fifth`.
        """
        near = [point for point in points if self.is_near(point)]
        return self.dice.choice(near or points)

    def wants_change(self):
        """Whether to change colours, once the other has laid one stone (FIRSTCHANGE) or three (THIRDCHANGE)."""
        return False

    def choose_fifth(self, points):
        """You are White and four stones lie: which of `points`, the fifths that Black offers, may stay."""
        return points[0]

    def is_near(self, point):
        row, column = point
        return any((row + dr, column + dc) in self.stones for dr, dc in AROUND)


# ---- the protocol: nothing below needs a change ----


class Engine:
    """Reads one line of AGI at a time and answers it."""

    def __init__(self):
        self.player = Player()
        self.asked = set()  # at how many stones the interface wanted a move of us

    def hear(self, line):
        word, *rest = line.upper().split() or [""]
        if word == "AGI":
            say("ID NAME starter 1.0", "OPTION OWNBOOK FALSE PONDER FALSE", "AGIOK")
        elif word == "ISREADY":
            say("READYOK")
        elif word == "SETRULE":
            self.player.rules = set(rest)
        elif word == "POSITION":
            self.player.stones = points_of("".join(rest[1::2]))  # behind STATU and MOVES
        elif word == "DOMOVE":
            self.player.stones += points_of(rest[0])
        elif word == "GO":
            say(f"BESTMOVE {self.decide(rest)}")

    def decide(self, words):
        """The answer to GO: a point, or CHANGE."""
        player, stones = self.player, len(self.player.stones)
        asked, self.asked = self.asked, self.asked | {stones}
        if words and words[-1].isdigit():
            player.left_ms = int(words[-1])
        if "SEARCH" in words:
            points = points_of(words[words.index("SEARCH") + 1])
            is_choice = (
                stones == 4 and stones not in asked and {"FIVETWINE", "FIVEMULITY"} & player.rules
            )
            return text_of(player.choose_fifth(points) if is_choice else player.choose_move(points))
        change = {"FIRSTCHANGE": 1, "THIRDCHANGE": 3} if stones - 1 not in asked else {}
        if any(change.get(rule) == stones for rule in player.rules) and player.wants_change():
            return "CHANGE"
        return text_of(player.choose_move(free_points(player.stones)))


def free_points(stones):
    """Where the next stone may lie: the first in the middle, the second and third near it (renju's 26 openings)."""
    reach = len(stones) if len(stones) < 3 else SIDE // 2
    rows = range(MIDDLE[0] - reach, MIDDLE[0] + reach + 1)
    return [(row, column) for row in rows for column in rows if (row, column) not in stones]


def points_of(text):
    """`786869` are three points: a row 0 to E from the top and a column 1 to F from the left, each hexadecimal."""
    return [(int(text[i], 16), int(text[i + 1], 16) - 1) for i in range(0, len(text), 2)]


def text_of(point):
    return f"{point[0]:X}{point[1] + 1:X}"


def say(*lines):
    """Write an answer; without the flush it would stay in this process."""
    print(*lines, sep="\n", flush=True)


def main():
    engine = Engine()
    for line in sys.stdin:
        if line.strip().upper() == "QUIT":
            say("BYE")
            return
        engine.hear(line)


if __name__ == "__main__":
    main()

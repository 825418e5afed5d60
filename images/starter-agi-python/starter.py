#!/usr/bin/env python3
"""Rule: make five, stop five, else lay a stone next to another at random.

A starter: copy the folder and give `Player` your own ideas.
Try it in its folder: `judge match . house-agi-instant --policy agi-renju`
"""

import random
import sys

SIDE = 15
MIDDLE = SIDE // 2
FREE, BLACK, WHITE = 0, 1, 2
DIRECTIONS = [(1, 0), (0, 1), (1, 1), (1, -1)]
AROUND = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


class Player:
    """Your agent: the position, and a move for it. A point is (row, column), both from 0 at the top left."""

    def __init__(self):
        self.board = [[FREE] * SIDE for _ in range(SIDE)]
        """`board[row][column]`: FREE, BLACK or WHITE."""
        self.count = 0
        """How many stones lie. The first, third, ... is black: Black moves where this is even."""
        self.rules = {"FORBIDDEN"}
        """The words of SETRULE. FORBIDDEN: renju, Black's fouls lose. UNFORBIDDEN: five or more win."""
        self.left_ms = 1000
        """Milliseconds that you have for this move."""
        self.dice = random.Random(1)  # a seed of its own: the same game can be played again

    def choose_move(self, points):
        """Your move: one of `points`, where you may play, at least one. Replace this."""
        sides = (BLACK, WHITE) if self.count % 2 == 0 else (WHITE, BLACK)
        for side in sides:
            for point in points:
                if self.makes_five(point, side):
                    return point
        near = [point for point in points if self.is_near(point)]
        return self.dice.choice(near or points)

    def wants_change(self):
        """The other laid one stone (FIRSTCHANGE) or three (THIRDCHANGE), you are White: whether to be Black instead."""
        return False

    def choose_fifth(self, points):
        """You are White and four stones lie: which of `points`, the fifth stones that Black offers, may stay."""
        return points[0]

    def legal_points(self):
        """The free points; for Black in renju those that are surely allowed, while there are any.

        The first stone goes to the middle, the second and third near it, as in renju's 26 openings.
        """
        reach = self.count if self.count < 3 else MIDDLE
        near = range(MIDDLE - reach, MIDDLE + reach + 1)
        free = [(row, column) for row in near for column in near if self.board[row][column] == FREE]
        if "FORBIDDEN" not in self.rules or self.count % 2:
            return free
        safe = [p for p in free if self.makes_five(p, BLACK) or not self.may_be_foul(p)]
        return safe or free

    def makes_five(self, point, side):
        """Whether a stone of `side` on a free point wins."""
        is_exact = "FORBIDDEN" in self.rules and side == BLACK
        for dr, dc in DIRECTIONS:
            length = 1 + self.run(point, dr, dc, side) + self.run(point, -dr, -dc, side)
            if length == 5 or (length > 5 and not is_exact):
                return True
        return False

    def run(self, point, dr, dc, side):
        """How many stones of `side` follow each other from a point on."""
        length = 0
        while self.at(point, dr, dc, length + 1) == side:
            length += 1
        return length

    def may_be_foul(self, point):
        """Whether a black stone might be a foul of renju; if this says no, it is none.

        A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
        So this gives up fair points too: a stronger agent looks at the shapes themselves.
        """
        steps = [n for n in range(-4, 5) if n != 0]
        counts = [sum(self.at(point, dr, dc, n) == BLACK for n in steps) for dr, dc in DIRECTIONS]
        return max(counts) > 3 or sum(count > 1 for count in counts) > 1

    def is_near(self, point):
        """Whether a stone lies next to a point."""
        return any(self.at(point, dr, dc, 1) for dr, dc in AROUND)

    def at(self, point, dr, dc, steps):
        """What lies some steps from a point; beyond the edge lies no stone."""
        row, column = point[0] + dr * steps, point[1] + dc * steps
        return self.board[row][column] if 0 <= row < SIDE and 0 <= column < SIDE else FREE


# ---- the protocol: nothing below needs a change but the name in ID ----


class Engine:
    """Hears AGI one line at a time and answers what asks for it."""

    def __init__(self):
        self.player = Player()
        self.is_offering = False  # you are Black, and your fifth stones are asked for

    def hear(self, line):
        """Other words, SETOPTION and STOP among them, mean nothing to who answers at once.

        Who thinks longer also reads on while it thinks: ISREADY and STOP may come then.
        """
        word, *rest = line.upper().split() or [""]
        if word == "AGI":
            say("ID NAME starter", "OPTION OWNBOOK FALSE PONDER FALSE", "AGIOK")
        elif word == "ISREADY":
            say("READYOK")
        elif word == "SETRULE":
            self.player.rules = set(rest)
        elif word == "POSITION":
            self.set_position(points_of("".join(rest[1::2])))  # behind STATU and MOVES
        elif word == "DOMOVE":
            self.lay(points_of(rest[0]))  # your own stones come so as well
        elif word == "GO":
            say(f"BESTMOVE {self.decide(rest)}")

    def set_position(self, points):
        self.player.board = [[FREE] * SIDE for _ in range(SIDE)]
        self.player.count = 0
        self.lay(points)

    def lay(self, points):
        for row, column in points:
            self.player.board[row][column] = BLACK if self.player.count % 2 == 0 else WHITE
            self.player.count += 1

    def decide(self, words):
        """The answer to `GO TIME ms` or `GO SEARCH points TIME ms`: a point, or CHANGE."""
        player = self.player
        if "TIME" in words:
            player.left_ms = int(words[-1])
        if "SEARCH" in words:
            points = points_of(words[1])
            # The fifths are named to both: to Black those that may still be offered, to White those that were.
            is_choice = player.count == 4 and not self.is_offering and self.has_fifths()
            return text_of((player.choose_fifth if is_choice else player.choose_move)(points))
        self.is_offering = player.count == 4
        if self.may_change() and player.wants_change():
            return "CHANGE"
        return text_of(player.choose_move(player.legal_points()))

    def may_change(self):
        """Whether you may take black. The word goes from the rules when that has been decided."""
        word = {1: "FIRSTCHANGE", 3: "THIRDCHANGE"}.get(self.player.count)
        return word in self.player.rules

    def has_fifths(self):
        return bool(self.player.rules & {"FIVETWINE", "FIVEMULITY"})


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

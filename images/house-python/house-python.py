#!/usr/bin/env python3
"""Rule: play the cell whose stone builds most of one's own fives and spoils most of the opponent's.

A five is a window of five cells in a line. While it holds stones of one side only it can still become
that side's five, and the more stones it holds, the more the next one is worth. The score of a free
cell is the sum over all windows through it, for both sides; the best score moves. There is no
look-ahead and no chance: the same position always gets the same answer.

The rest is the Gomocup protocol: read a line, answer it, flush.
"""

import sys
from itertools import takewhile

MIN_SIDE, MAX_SIDE = 5, 60
OWN, OPPONENT, NEITHER = 1, 2, 3  # as BOARD writes them
DIRECTIONS = (1, 0), (0, 1), (1, 1), (1, -1)
NEAR = [(dx, dy) for dx in range(-2, 3) for dy in range(-2, 3)]
FAR = [(k * dx, k * dy) for dx, dy in DIRECTIONS for k in range(-5, 6)]

# Worth of one more stone in a window that already holds 0..4 stones of one side. The steps are high, so
# that a five comes before the stopping of one, that before an open four, and so on.
ATTACK = (1, 20, 900, 40_000, 4_000_000)
DEFEND = (0, 15, 500, 12_000, 1_000_000)


class Board:
    """Stones by cell, and the scores of free cells as long as they hold."""

    def __init__(self, width, height, exact=False):
        self.width, self.height = width, height
        self.exact = exact  # rule 1: a line of six is no win
        self.stones, self.scores = {}, {}

    def has(self, cell):
        return 0 <= cell[0] < self.width and 0 <= cell[1] < self.height

    def put(self, cell, owner):
        self.stones[cell] = owner
        self.forget_scores(cell)

    def take(self, cell):
        del self.stones[cell]
        self.forget_scores(cell)

    def forget_scores(self, cell):
        """A stone counts for the cells up to five steps away in a line, and for no others."""
        for dx, dy in FAR:
            self.scores.pop((cell[0] + dx, cell[1] + dy), None)

    def candidates(self):
        """Free cells near a stone; all free cells if there is none."""
        near = {(x + dx, y + dy) for x, y in self.stones for dx, dy in NEAR}
        free = [cell for cell in near if self.has(cell) and cell not in self.stones]
        cells = ((x, y) for x in range(self.width) for y in range(self.height))
        return free or [cell for cell in cells if cell not in self.stones]

    def score(self, cell):
        if cell not in self.scores:
            self.scores[cell] = sum(self.line_score(cell, step) for step in DIRECTIONS)
        return self.scores[cell]

    def line_score(self, cell, step):
        """The worth of the five windows through a cell in one direction."""
        (x, y), (dx, dy) = cell, step
        line = [(x + k * dx, y + k * dy) for k in range(-5, 6)]
        owners = [self.stones.get(c, 0) if self.has(c) else None for c in line]
        return sum(self.window_score(owners, start) for start in range(1, 6))

    def window_score(self, owners, start):
        window = owners[start : start + 5]
        if None in window or NEITHER in window or (OWN in window and OPPONENT in window):
            return 0
        side = OPPONENT if OPPONENT in window else OWN
        if self.exact and side in (owners[start - 1], owners[start + 5]):
            return 0
        return (ATTACK if side == OWN else DEFEND)[window.count(side)]

    def best_cell(self):
        """The cell to play, or None on a full board. Of equals, the one nearest to the middle."""

        def rank(cell):
            off_centre = abs(2 * cell[0] - self.width) + abs(2 * cell[1] - self.height)
            return self.score(cell), -off_centre, cell

        return max(self.candidates(), key=rank, default=None)


class Agent:
    """Answers one request at a time with a line of text, or None where no answer is due."""

    def __init__(self):
        self.board = None
        self.rule = 0

    def answer(self, line, lines):
        command, _, rest = line.partition(" ")
        if command == "INFO":
            return self.info(*rest.split())
        if command == "ABOUT":
            return 'name="house-python", version="1.0", author="judge"'
        if command in ("START", "RECTSTART"):
            return self.start(*numbers(rest))
        if command == "BOARD":
            return self.read_board(list(takewhile(lambda line: line != "DONE", lines)))
        commands = {
            "BEGIN": self.move,
            "TURN": self.turn,
            "TAKEBACK": self.takeback,
            "RESTART": self.restart,
        }
        if command not in commands:
            return "UNKNOWN command"
        if self.board is None:
            return "ERROR no START yet"
        return commands[command](*numbers(rest))

    def info(self, key="", value="", *_):
        """Only the rule matters: a move takes milliseconds."""
        if key == "rule" and value.isdigit():
            self.rule = int(value)
            if self.board:
                self.board.exact = self.rule == 1
                self.board.scores.clear()

    def start(self, width, height=None):
        height = height or width
        if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE):
            return "ERROR board sides must be 5 to 60"
        self.board = Board(width, height, self.rule == 1)
        return "OK"

    def restart(self):
        return self.start(self.board.width, self.board.height)

    def turn(self, x, y):
        if not self.board.has((x, y)) or (x, y) in self.board.stones:
            return "ERROR not a free cell"
        self.board.put((x, y), OPPONENT)
        return self.move()

    def read_board(self, stones):
        """A whole new position, one stone a line."""
        if self.board is None:
            return "ERROR no START yet"
        self.restart()
        for x, y, owner in (numbers(line) for line in stones):
            self.board.put((x, y), owner)
        return self.move()

    def takeback(self, x, y):
        if (x, y) not in self.board.stones:
            return "ERROR no stone there"
        self.board.take((x, y))
        return "OK"

    def move(self):
        if self.rule not in (0, 1):
            return "ERROR only rules 0 and 1 are supported"
        cell = self.board.best_cell()
        if cell:
            self.board.put(cell, OWN)
        return f"{cell[0]},{cell[1]}" if cell else "ERROR no free cell"


def numbers(text):
    """The numbers of "20", "x,y" or "x,y,owner"; none of ""."""
    return [int(part) for part in text.split(",") if part]


def main():
    agent = Agent()
    sys.stdin.reconfigure(errors="replace")  # a folder's name may be bytes of any kind
    lines = filter(None, map(str.strip, sys.stdin))  # strip: lines may end with CR LF
    for line in takewhile(lambda line: line != "END", lines):
        try:
            answer = agent.answer(line, lines)
        except (ValueError, TypeError):  # no number, or not as many as the command has
            answer = "ERROR cannot read that"
        if answer is not None:
            print(answer, flush=True)


if __name__ == "__main__":
    main()

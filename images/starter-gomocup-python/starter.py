#!/usr/bin/env python3
"""Rule: make five, stop five, else lay a stone next to another at random.

A starter: copy the folder and give `Player` your own ideas.
Try it in its folder: `judge match . house-instant --policy gomocup-standard:fast`
"""

import random
import sys

MIN_SIDE, MAX_SIDE = 5, 60
FREE, OWN, OTHER = 0, 1, 2  # as BOARD counts them; a 3 is a stone of nobody
EXACT, RENJU, CARO = 1, 4, 8  # the bits of INFO rule; without any of them five or more win
DIRECTIONS = [(1, 0), (0, 1), (1, 1), (1, -1)]
AROUND = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]


class Player:
    """Your agent: the position, and a move for it. A point is (x, y), column and row from 0."""

    def __init__(self):
        self.width = self.height = 0
        self.board = []
        """`board[y][x]`: FREE, OWN, OTHER or 3."""
        self.rule = 0
        self.turn_ms = 30000
        """Milliseconds that you have for each move ..."""
        self.left_ms = 180000
        """... and for all that follow."""
        self.dice = random.Random(1)  # a seed of its own: the same game can be played again

    def choose_move(self, points):
        """Your move: one of `points`, where you may play, at least one. Replace this."""
        for side in (OWN, OTHER):
            for point in points:
                if self.makes_five(point, side):
                    return point
        near = [point for point in points if self.is_near(point)]
        return self.dice.choice(near or points)

    def choose_opening(self):
        """The first three stones of swap2: black, white, black. The other then chooses a colour."""
        x, y = self.width // 2, self.height // 2
        return [(x, y), (x + 1, y), (x - 1, y + 2)]

    def wants_swap(self):
        """In swap2 three or five stones lie and you are white, to move: whether to be black instead."""
        return False

    def legal_points(self):
        """The free points; for Black in renju those that are surely allowed, while there are any."""
        rows = enumerate(self.board)
        free = [(x, y) for y, row in rows for x, stone in enumerate(row) if stone == FREE]
        if not self.rule & RENJU or not self.is_black(OWN):
            return free
        safe = [p for p in free if self.makes_five(p, OWN) or not self.may_be_foul(p)]
        return safe or free

    def is_black(self, side):
        """Whether a side moved first. It is your turn: if both have as many stones, you did."""
        own_count, other_count = (sum(row.count(who) for row in self.board) for who in (OWN, OTHER))
        return (side == OWN) == (own_count == other_count)

    def makes_five(self, point, side):
        """Whether a stone of `side` on a free point wins."""
        is_exact = self.rule & EXACT or (self.rule & RENJU and self.is_black(side))
        for dx, dy in DIRECTIONS:
            ahead, behind = self.run(point, dx, dy, side), self.run(point, -dx, -dy, side)
            length = 1 + ahead + behind
            ends = self.at(point, dx, dy, ahead + 1), self.at(point, -dx, -dy, behind + 1)
            is_blocked = self.rule & CARO and ends == (OWN + OTHER - side,) * 2
            if (length == 5 and not is_blocked) or (length > 5 and not is_exact):
                return True
        return False

    def run(self, point, dx, dy, side):
        """How many stones of `side` follow each other from a point on."""
        length = 0
        while self.at(point, dx, dy, length + 1) == side:
            length += 1
        return length

    def may_be_foul(self, point):
        """Whether your stone might be a foul of Black's in renju; if this says no, it is none.

        A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
        So this gives up fair points too: a stronger agent looks at the shapes themselves.
        """
        steps = [n for n in range(-4, 5) if n != 0]
        counts = [sum(self.at(point, dx, dy, n) == OWN for n in steps) for dx, dy in DIRECTIONS]
        return max(counts) > 3 or sum(count > 1 for count in counts) > 1

    def is_near(self, point):
        """Whether a stone lies next to a point."""
        return any(self.at(point, dx, dy, 1) for dx, dy in AROUND)

    def at(self, point, dx, dy, steps):
        """What lies some steps from a point; beyond the edge lies no stone."""
        x, y = point[0] + dx * steps, point[1] + dy * steps
        return self.board[y][x] if self.has(x, y) else FREE

    def has(self, x, y):
        return 0 <= x < self.width and 0 <= y < self.height


# ---- the protocol: nothing below needs a change but the names in ABOUT ----

ABOUT = 'name="starter", version="1.0", author="me", country="XY"'


class Engine:
    """Answers Gomocup one command at a time."""

    def __init__(self, lines):
        self.lines = lines
        self.player = Player()
        self.commands = {
            "RESTART": self.restart,
            "BEGIN": self.move,
            "TURN": self.turn,
            "BOARD": self.read_board,
            "SWAP2BOARD": self.read_swap2,
            "TAKEBACK": self.take_back,
        }

    def answer(self, line):
        """The answer to a command, or None where none is due."""
        command, _, rest = line.partition(" ")
        if command == "INFO":
            return self.info(*rest.split()[:2])
        if command == "ABOUT":
            return ABOUT
        if command in ("START", "RECTSTART"):
            return self.start(*numbers(rest))
        if command not in self.commands:
            return "UNKNOWN command"
        if not self.player.board:
            return "ERROR no START yet"
        return self.commands[command](*numbers(rest))

    def info(self, key="", value=""):
        """Facts, which are never answered. There are also max_memory in bytes, and folder: a place for files."""
        if not value.lstrip("-").isdigit():
            return
        if key == "rule":
            self.player.rule = int(value)
        elif key == "timeout_turn":
            self.player.turn_ms = int(value)
        elif key == "time_left":
            self.player.left_ms = int(value)

    def start(self, width, height=0):
        height = height or width
        if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE):
            return f"ERROR board sides must be {MIN_SIDE} to {MAX_SIDE}"
        self.player.width, self.player.height = width, height
        return self.restart()

    def restart(self):
        player = self.player
        player.board = [[FREE] * player.width for _ in range(player.height)]
        return "OK"

    def turn(self, x, y):
        return self.put(x, y, OTHER) or self.move()

    def read_board(self):
        """A whole position, one stone a line, in place of the one before."""
        self.restart()
        errors = [self.put(*numbers(row)) for row in self.rows()]
        return next(filter(None, errors), None) or self.move()

    def read_swap2(self):
        """The opening: lay three stones; answer three or five by SWAP, or as White by a stone."""
        self.restart()
        rows = [numbers(row) for row in self.rows()]
        for number, (x, y) in enumerate(rows):
            self.put(x, y, OTHER if number % 2 == 0 else OWN)
        if not rows:
            return " ".join(f"{x},{y}" for x, y in self.player.choose_opening())
        return "SWAP" if self.player.wants_swap() else self.move()

    def take_back(self, x, y):
        if not self.player.has(x, y):
            return "ERROR not on the board"
        self.player.board[y][x] = FREE
        return "OK"

    def move(self):
        points = self.player.legal_points()
        if not points:
            return "ERROR no free point"
        x, y = self.player.choose_move(points)
        return self.put(x, y, OWN) or f"{x},{y}"

    def put(self, x, y, content):
        """Lay a stone. Returns what is wrong with it, or None."""
        if not self.player.has(x, y) or self.player.board[y][x] != FREE:
            return "ERROR not a free point"
        self.player.board[y][x] = content
        return None

    def rows(self):
        """The lines up to DONE. All are read before anything else, so that none is taken for a command."""
        return list(iter(self.lines.__next__, "DONE"))


def numbers(text):
    """The numbers of `20`, `x,y` or `x,y,who`; none of ``."""
    return [int(part) for part in text.split(",") if part.strip()]


def main():
    # A folder's name may be bytes of any kind; lines may end with CR LF.
    sys.stdin.reconfigure(encoding="latin-1")
    lines = filter(None, map(str.strip, sys.stdin))
    engine = Engine(lines)
    for line in lines:
        if line == "END":
            return
        try:
            answer = engine.answer(line)
        except (TypeError, ValueError):  # too few numbers, or none
            answer = "ERROR cannot read that"
        if answer is not None:
            print(answer, flush=True)  # without the flush it would stay in this process


if __name__ == "__main__":
    main()

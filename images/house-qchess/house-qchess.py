#!/usr/bin/env python3
"""Rule: select the piece whose best move is worth most on average over what it may become, then play that move.

A move is worth what it captures (a king more than all else), less what the piece has to lose where it
lands, plus what it had to lose where it stood. A promotion, a step towards the enemy's king and a threat
to it count for something, and going where the same piece went before costs a little. What is at risk is a
chance: an enemy in superposition attacks with each of its types as likely as it may become it. First types
are public; second ones that no announcement has shown yet are guessed from what is left of their pool.

There is no look-ahead; the only chance breaks ties, from a seed, so a game can be repeated.
"""

import random
import re
import sys
from collections import Counter
from itertools import takewhile

SIDE = 8
OFFICERS = ["rook", "knight", "bishop", "king", "queen", "bishop", "knight", "rook"]
POOL = Counter(pawn=8, bishop=2, knight=2, rook=2, queen=1)  # second types of each colour
WORTH = {"pawn": 1, "knight": 3, "bishop": 3, "rook": 5, "queen": 9, "king": 200}
STRAIGHT = [(0, 1), (1, 0), (0, -1), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
SLIDES = {"rook": STRAIGHT, "bishop": DIAGONAL, "queen": STRAIGHT + DIAGONAL}
LEAPS = {
    "king": STRAIGHT + DIAGONAL,
    "knight": [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)],
}
FORWARD = {"white": -1, "black": 1}
PAWN_ROW = {"white": 6, "black": 1}
FAR_ROW = {"white": 0, "black": 7}

PLACED = re.compile(r"(white|black) (\w+) \['(\w+)', '(\w+)'\] ?at (\d),(\d)")
SELECTED = re.compile(r"(\d) (\d) (-?\d) (\w+)")
MOVED = re.compile(r"(\d) (\d) -> (\d) (\d)")

PASS = -2.0  # a turn without a move: worse than any repetition
STEP = 0.05  # for a square nearer to the enemy's king
THREAT = 0.6  # for attacking it
REPEAT, MOST_REPEATS = 0.1, 10  # against going where the same piece went before, each time
SURE_OF_CLASSICAL = 12  # so many announcements without a second type, and there are none


class Piece:
    def __init__(self, colour, types, current):
        self.colour = colour
        self.types = types  # the first and the second type, None while nobody knows it
        self.current = current  # None while it may become either
        self.visits = Counter()  # how often it went to a square


class Board:
    """The pieces by square, as far as the announcements tell, and the chances of what they tell not."""

    def __init__(self):
        self.pieces = {}
        self.firsts_in_a_row = 0
        for x, kind in enumerate(OFFICERS):
            for colour in FORWARD:
                self.put(colour, kind, x, SIDE - 1 - FAR_ROW[colour])
                self.put(colour, "pawn", x, PAWN_ROW[colour])

    def put(self, colour, kind, x, y):
        known = kind if kind == "king" else None
        self.pieces[x, y] = Piece(colour, [kind, known], known)

    def place(self, colour, current, first, second, x, y):
        """One line of BOARD, the position of a game that is gone on from."""
        kinds = [None if kind == "unknown" else kind for kind in (first, second, current)]
        self.pieces[int(x), int(y)] = Piece(colour, kinds[:2], kinds[2])

    def select(self, x, y, index, kind):
        piece = self.pieces[x, y]
        piece.current = kind
        if kind != "king":
            piece.types[index] = kind
            self.firsts_in_a_row = self.firsts_in_a_row + 1 if index == 0 else 0
        if not self.targets((x, y), kind):
            self.release((x, y))  # nothing to move: its turn is over

    def release(self, square):
        """The piece there ends its turn: on a dark square it is open again, save the king."""
        piece = self.pieces[square]
        if sum(square) % 2 == 1 and piece.types[0] != piece.types[1]:
            piece.current = None

    def move(self, start, end):
        piece = self.pieces[end] = self.pieces.pop(start)
        piece.visits[end] += 1
        if piece.current == "pawn" and end[1] == FAR_ROW[piece.colour]:
            piece.types[piece.types.index("pawn")] = "queen"  # if both are pawns, either will do
            piece.current = "queen"
        self.release(end)

    def states(self, piece):
        """What a piece may be when it is selected: a chance for each type; they add up to 1."""
        first, second = piece.types
        if piece.current or self.firsts_in_a_row >= SURE_OF_CLASSICAL:
            return {piece.current or first: 1.0}
        guesses = Counter({second: 1}) if second else self.pool(piece.colour)
        states = dict.fromkeys([*guesses, first], 0.0)
        states[first] = 0.5
        for kind, count in guesses.items():
            states[kind] += 0.5 * count / guesses.total()
        return states

    def pool(self, colour):
        """The second types of a colour that were not shown yet; of captured pieces too, for nobody knows."""
        shown = Counter(piece.types[1] for piece in self.pieces.values() if piece.colour == colour)
        return POOL - shown or POOL

    def worth(self, piece):
        return sum(chance * WORTH[kind] for kind, chance in self.states(piece).items())

    def attacked(self, square, kind, colour):
        """The squares that a piece of this type would threaten, whoever stands there."""
        x, y = square
        if kind in SLIDES:
            for dx, dy in SLIDES[kind]:
                yield from self.slide(square, dx, dy)
            return
        steps = LEAPS.get(kind) or [(-1, FORWARD[colour]), (1, FORWARD[colour])]
        yield from ((x + dx, y + dy) for dx, dy in steps if is_on_board(x + dx, y + dy))

    def slide(self, square, dx, dy):
        x, y = square[0] + dx, square[1] + dy
        while is_on_board(x, y):
            yield x, y
            if (x, y) in self.pieces:
                return
            x, y = x + dx, y + dy

    def targets(self, square, kind):
        """Where the piece there may move as this type."""
        colour = self.pieces[square].colour
        ends = [end for end in self.attacked(square, kind, colour) if self.owner(end) != colour]
        if kind != "pawn":
            return ends
        (x, y), forward = square, FORWARD[colour]
        captures = [end for end in ends if end in self.pieces]
        return captures + self.free_ahead(x, y, forward, 2 if y == PAWN_ROW[colour] else 1)

    def free_ahead(self, x, y, forward, most):
        """The squares in front of a pawn as far as they are empty, `most` at the most."""
        ahead = [(x, y + forward * step) for step in range(1, most + 1)]
        return list(takewhile(lambda end: is_on_board(*end) and end not in self.pieces, ahead))

    def owner(self, square):
        return self.pieces[square].colour if square in self.pieces else None

    def risks(self, colour):
        """For each square the chance that an enemy could capture on it."""
        safe = dict.fromkeys([(x, y) for x in range(SIDE) for y in range(SIDE)], 1.0)
        for square, piece in self.pieces.items():
            if piece.colour != colour:
                for end, chance in self.reach(square, piece).items():
                    safe[end] *= 1 - min(1, chance)
        return {square: 1 - chance for square, chance in safe.items()}

    def reach(self, square, piece):
        """For each square the chance that this piece attacks it."""
        reach = Counter()
        for kind, chance in self.states(piece).items():
            for end in self.attacked(square, kind, piece.colour):
                reach[end] += chance
        return reach


class Player:
    """Chooses squares for one colour."""

    def __init__(self, colour):
        self.colour = colour
        self.board = Board()
        self.dice = random.Random(colour)
        self.selected = None

    def choose_piece(self):
        pieces = self.board.pieces.items()
        squares = [square for square, piece in pieces if piece.colour == self.colour]
        risks = self.board.risks(self.colour)
        return self.best(squares, lambda square: self.selection_value(square, risks))

    def selection_value(self, square, risks):
        """What the best move is worth, on average over the types that the piece may become."""
        states = self.board.states(self.board.pieces[square])
        return sum(chance * self.best_value(square, kind, risks) for kind, chance in states.items())

    def best_value(self, square, kind, risks):
        ends = self.board.targets(square, kind)
        return max((self.value(square, kind, end, risks) for end in ends), default=PASS)

    def choose_square(self):
        square, kind = self.selected, self.board.pieces[self.selected].current
        risks = self.board.risks(self.colour)
        ends = self.board.targets(square, kind)
        return self.best(ends, lambda end: self.value(square, kind, end, risks))

    def best(self, squares, value):
        """The square of most value; of equals, any."""
        return max(squares, key=lambda square: (value(square), self.dice.random()))

    def value(self, square, kind, end, risks):
        board, piece = self.board, self.board.pieces[square]
        value = board.worth(piece) * (risks[square] - risks[end])
        value -= REPEAT * min(piece.visits[end], MOST_REPEATS)
        if end in board.pieces:
            value += self.capture_value(end)
        if kind == "pawn" and end[1] == FAR_ROW[self.colour]:
            value += WORTH["queen"] - WORTH["pawn"]
        if kind != "king":
            value += self.hunt_value(square, kind, end)
        return value

    def hunt_value(self, square, kind, end):
        """How much nearer a move comes to the enemy's king."""
        king = self.king_of("black" if self.colour == "white" else "white")
        threat = THREAT * (king in self.board.attacked(end, kind, self.colour))
        return threat + STEP * (distance(square, king) - distance(end, king))

    def capture_value(self, square):
        """What is captured, and the end of its threat to one's own king."""
        piece = self.board.pieces[square]
        reach = self.board.reach(square, piece)
        return self.board.worth(piece) + WORTH["king"] * reach[self.king_of(self.colour)]

    def king_of(self, colour):
        pieces = self.board.pieces.items()
        return next(at for at, p in pieces if p.colour == colour and p.current == "king")

    def hear(self, line):
        """Take an announcement of either side."""
        if selected := SELECTED.fullmatch(line):
            x, y, index, kind = selected.groups()
            self.board.select(int(x), int(y), int(index), kind)
            if self.board.owner((int(x), int(y))) == self.colour:
                self.selected = int(x), int(y)
        elif moved := MOVED.fullmatch(line):
            x, y, x2, y2 = map(int, moved.groups())
            self.board.move((x, y), (x2, y2))
        elif placed := PLACED.fullmatch(line):
            self.board.place(*placed.groups())


def is_on_board(x, y):
    return 0 <= x < SIDE and 0 <= y < SIDE


def distance(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


def main():
    player = None
    for line in map(str.strip, sys.stdin):
        if line == "SELECTION?":
            print(*player.choose_piece(), flush=True)
        elif line == "MOVE?":
            print(*player.choose_square(), flush=True)
        elif line.startswith("QUIT"):
            break
        elif line in FORWARD:
            player = Player(line)
        elif line == "BOARD":
            player.board.pieces.clear()
        else:
            player.hear(line)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Rule: select a piece and move it at random.

A starter: copy the folder and give `Player` your own ideas.
Try it in its folder: `judge match . house-qchess --policy qchess-2013`
"""

import random
import sys

SIZE = 8
STRAIGHT = [(0, 1), (1, 0), (0, -1), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
KNIGHT = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
STEPS = {  # and how often a step may be repeated
    "rook": (STRAIGHT, 7),
    "bishop": (DIAGONAL, 7),
    "queen": (STRAIGHT + DIAGONAL, 7),
    "king": (STRAIGHT + DIAGONAL, 1),
    "knight": (KNIGHT, 1),
}


class Player:
    """Your agent. One object lives for one game, so what you want to remember goes into it."""

    def __init__(self, colour):
        self.colour = colour  # white starts at the bottom, rows 6 and 7, and moves first
        self.board = {(x, y): "black" for y in (0, 1) for x in range(SIZE)}
        self.board |= {(x, y): "white" for y in (6, 7) for x in range(SIZE)}
        """The colour of the piece on each square; empty squares are not in it. (0, 0) is top left."""
        self.selected = self.kind = None  # the square and the type that were announced last
        self.dice = random.Random(1)  # a seed of its own: same draws of types, same game

    def choose_piece(self, squares):
        """The square of the piece to select: one of `squares`, where your pieces stand. Replace this.

        Only the selection tells its type. If that cannot move, your turn is over.
        """
        return self.dice.choice(squares)

    def choose_square(self, squares):
        """Where to move the piece on `self.selected`, which is a `self.kind` now: one of `squares`. Replace this."""
        return self.dice.choice(squares)

    def hear_selection(self, square, index, kind):
        """Either side selected the piece on `square`: of its two types, number `index` (0 or 1) showed, a `kind`.

        On a light square (x + y even) it keeps that type; on a dark one it is open again after its turn.
        """

    def legal_squares(self, start, kind):
        """Where the piece on `start` can move as a `kind`: onto empty squares and enemies."""
        if kind == "pawn":
            return self.pawn_squares(*start)
        steps, most = STEPS[kind]
        return [square for dx, dy in steps for square in self.line(start, dx, dy, most)]

    def line(self, start, dx, dy, most):
        for n in range(1, most + 1):
            square = start[0] + dx * n, start[1] + dy * n
            if not is_on_board(*square) or self.board.get(square) == self.board[start]:
                return
            yield square
            if square in self.board:
                return  # captured: no further

    def pawn_squares(self, x, y):
        """Straight on while that is empty, two squares from the first row; captures to the side."""
        forward, first_row = (-1, 6) if self.board[x, y] == "white" else (1, 1)
        ahead = [(x, y + forward), (x, y + 2 * forward)][: 2 if y == first_row else 1]
        if not is_on_board(*ahead[0]) or ahead[0] in self.board:
            ahead = []
        sides = [(x - 1, y + forward), (x + 1, y + forward)]
        squares = [square for square in ahead if square not in self.board]
        colour = self.board[x, y]
        return squares + [side for side in sides if self.board.get(side, colour) != colour]


def is_on_board(x, y):
    return 0 <= x < SIZE and 0 <= y < SIZE


# ---- the protocol: nothing below needs a change ----


def read_line():
    """The next line; the end of the game and of stdin is the end of this program."""
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        sys.exit()
    return line.strip()


def say(square):
    """Write an answer; without the flush it would stay in this process."""
    print(*square, flush=True)


def hear(player, line):
    """Take what is told: a move `x y -> x2 y2` or a selection `x y index type`, of the player and of the enemy."""
    match line.split():
        case [x, y, "->", x2, y2]:
            player.board[int(x2), int(y2)] = player.board.pop((int(x), int(y)))
        case [x, y, index, kind]:
            player.selected, player.kind = (int(x), int(y)), kind
            player.hear_selection(player.selected, int(index), kind)


def read_board(player):
    """The game goes on from a position: a line for each piece, such as `white king ['king', 'king']at 3,7`."""
    player.board.clear()
    while (line := read_line()) != "END BOARD":
        if line:  # there is an empty one
            colour, *_, square = line.split()
            x, y = square.split(",")
            player.board[int(x), int(y)] = colour


def main():
    player = Player(read_line())  # `white` or `black`
    while True:
        line = read_line()
        if line == "SELECTION?":
            board = sorted(player.board.items())
            say(player.choose_piece([at for at, colour in board if colour == player.colour]))
        elif line == "MOVE?":
            say(player.choose_square(player.legal_squares(player.selected, player.kind)))
        elif line == "BOARD":
            read_board(player)
        else:
            hear(player, line)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Rule: play any legal half-move at random.

A starter: copy the folder and give SETUP and `Player` your own ideas.
Try it in its folder: `judge match . house-stratego --policy stratego-2012`
"""

import random
import sys

SIZE = 10
DIRECTIONS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
MOVABLE = "123456789s"  # 1 Marshal ... 8 Miner, 9 Scout, s Spy; B (Bomb) and F (Flag) stay

# Your 40 pieces as RED sees them, the back row first: one each of 1 2 s F, two 3, three 4, four each of
# 5 6 7, five 8, eight 9, six B. Don't lock pieces in behind bombs: without a legal move you lose (2012).
SETUP = [
    "8BFB887B95",
    "78B9s78B69",
    "6549B63754",
    "9236195499",
]


class Player:
    """Your agent. One object lives for one game, so what you want to remember goes into it."""

    def __init__(self, is_red):
        self.is_red = is_red
        self.board = []
        """`board[y][x]`: a letter of your own, `#` an enemy, `+` a lake, `.` empty; row 0 is RED's back row."""
        self.dice = random.Random(1)  # a seed of its own: the same game can be played again

    def choose_move(self, moves):
        """Your move: one of `moves`, which are the legal ones and at least one. Replace this."""
        return self.dice.choice(moves)

    def hear_confirmation(self, line):
        """What became of a half-move, yours and the enemy's in turn: `4 3 DOWN OK`, `4 4 DOWN KILLS 3 7`.

        Behind KILLS, DIES and BOTHDIE stand the attacker and the defender: this is how you learn ranks.
        """

    def legal_moves(self):
        """All moves, as (x, y, direction, steps)."""
        squares = [(x, y) for y in range(SIZE) for x in range(SIZE) if self.at(x, y) in MOVABLE]
        return [move for x, y in squares for name in DIRECTIONS for move in self.moves_of(x, y, name)]

    def moves_of(self, x, y, name):
        """One step, or any number for a Scout until something is in its way."""
        dx, dy = DIRECTIONS[name]
        for steps in range(1, SIZE if self.at(x, y) == "9" else 2):
            content = self.at(x + dx * steps, y + dy * steps)
            if content in ".#":
                yield x, y, name, steps
            if content != ".":
                return  # nobody jumps

    def at(self, x, y):
        """What stands on a square; beyond the edge is nothing to go to either, like a lake."""
        return self.board[y][x] if 0 <= x < SIZE and 0 <= y < SIZE else "+"


# ---- the protocol: nothing below needs a change ----


def read_line():
    """The next line; the end of the game and of stdin is the end of this program."""
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        sys.exit()
    return line.strip()


def say(*lines):
    """Write an answer; without the flush it would stay in this process."""
    print(*lines, sep="\n", flush=True)


def answer(player):
    moves = player.legal_moves()
    if not moves:
        return "NO_MOVE"  # under the rules of 2012 the game ends before that
    x, y, direction, steps = player.choose_move(moves)
    return f"{x} {y} {direction}" if steps == 1 else f"{x} {y} {direction} {steps}"


def main():
    player = Player(read_line().startswith("RED"))  # `RED opponent 10 10`
    say(*(SETUP if player.is_red else reversed(SETUP)))
    first = read_line()  # START for RED, who moves first
    if not player.is_red:
        player.hear_confirmation(first)
    while True:
        player.board = [read_line() for _ in range(SIZE)]
        say(answer(player))
        player.hear_confirmation(read_line())
        player.hear_confirmation(read_line())


if __name__ == "__main__":
    main()

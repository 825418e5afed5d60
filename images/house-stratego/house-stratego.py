#!/usr/bin/env python3
"""Rule: play the half-move with the best expected gain: beat what is known, try what is probably weaker, go forward.

A rank that a confirmation showed is remembered for as long as its piece lives. Of any other enemy the
agent knows only which pieces are still hidden, and that bombs and the flag never move. A move that does
not attack earns a little for each step towards an enemy worth attacking and loses a little each time it is
repeated. There is no look-ahead; the only chance breaks ties, from a seed, so a game can be repeated.

No bomb of the set-up closes a square in, so there is a move for as long as there is a movable piece.
"""

import random
import re
import sys
from collections import Counter, deque

SIZE = 10
RANKS = "123456789s"  # from strong to weak: all that can move
PIECES = RANKS + "BF"
ARMY = Counter(dict(zip(PIECES, (1, 1, 2, 3, 4, 4, 4, 5, 8, 1, 6, 1), strict=True)))
WORTH = dict(zip(PIECES, (20, 16, 12, 9, 7, 5, 4, 5, 2, 6, 4, 100), strict=True))
DIRECTIONS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}

# RED's rows from the top of the board, which is its back; BLUE's are the same from below.
SETUP = ["BFB8887B89", "8B75s739B7", "649B265495", "9369516949"]

# A confirmation repeats the reply as it was spoken, so blanks may be anywhere and more words behind it.
NUMBER = r"\s*([+-]?\d{1,9})"
CONFIRMED = re.compile(rf"{NUMBER}{NUMBER}\s*(UP|DOWN|LEFT|RIGHT)(?:{NUMBER})?")
FOUGHT = re.compile(r" (KILLS|DIES|BOTHDIE) (\S) (\S)$")

ESCAPE = 0.8  # how much of a piece's worth a flight saves: the enemy may have had other plans
ADVANCE = 0.1  # for one step nearer to an enemy worth attacking
REPEAT = 0.3  # against walking the same way for the n-th time


class Knowledge:
    """What the agent knows: the board of its last turn, ranks that were shown, who has moved, what is hidden."""

    def __init__(self, own_rows, is_red):
        enemy_rows = ["#" * SIZE] * len(own_rows)
        top, bottom = (own_rows, enemy_rows) if is_red else (enemy_rows, own_rows)
        self.board = [*top, "." * SIZE, "." * SIZE, *bottom]
        self.ranks = {}  # of enemies, by square
        self.movers = set()  # squares of enemies that have moved
        self.hidden = ARMY.copy()

    def at(self, x, y):
        return self.board[y][x] if 0 <= x < SIZE and 0 <= y < SIZE else "+"

    def see(self, board):
        """Take a new board; what was known of enemies that are gone is forgotten."""
        self.board = board
        self.ranks = {at: rank for at, rank in self.ranks.items() if self.at(*at) == "#"}
        self.movers = {at for at in self.movers if self.at(*at) == "#"}

    def hear(self, line):
        """Learn from a confirmation, such as `4 3 DOWN OK` or `0 4 LEFT 2 KILLS 9 s`."""
        match = CONFIRMED.match(line)
        if match is None:
            return  # a row of the board, START or NO_MOVE
        (dx, dy), steps = DIRECTIONS[match[3]], int(match[4] or 1)
        start = int(match[1]), int(match[2])
        end = start[0] + dx * steps, start[1] + dy * steps
        fight = FOUGHT.search(line)
        if self.at(*start) != "#":
            if fight:
                self.reveal(end, fight[3])
        elif fight:
            self.reveal(start, fight[2])
            self.move_enemy(start, end if fight[1] == "KILLS" else None)
        elif line.endswith(" OK"):
            if steps > 1:
                self.reveal(start, "9")  # only a scout goes so far
            self.move_enemy(start, end)

    def move_enemy(self, start, end):
        """An enemy leaves a square, for another one or (None) for good."""
        rank = self.ranks.pop(start, None)
        self.movers.discard(start)
        if end is not None:
            self.movers.add(end)
            self.ranks.pop(end, None)  # of one who died there since the last board
            if rank is not None:
                self.ranks[end] = rank

    def reveal(self, square, rank):
        if square not in self.ranks:
            self.ranks[square] = rank
            self.hidden[rank] = max(0, self.hidden[rank] - 1)

    def guesses(self, square):
        """What an enemy may be: how often each rank is still hidden, or the one that it is."""
        if square in self.ranks:
            return {self.ranks[square]: 1}
        can_be = RANKS if square in self.movers else PIECES
        return {rank: self.hidden[rank] for rank in can_be if self.hidden[rank]} or {"9": 1}


def gain(attacker, defender):
    """What an attack is worth: the enemy's loss less one's own (where rule sets differ, as in 2012)."""
    if defender == "F":
        return WORTH["F"]
    if defender == "B":
        return WORTH["B"] if attacker == "8" else -WORTH[attacker]
    if attacker == defender:
        return 0
    wins = (attacker == "s" and defender == "1") or RANKS.index(attacker) < RANKS.index(defender)
    return WORTH[defender] if wins else -WORTH[attacker]


class Player:
    """Chooses moves; a move is x, y, the name of a direction and the number of steps."""

    def __init__(self, known, seed):
        self.known = known
        self.dice = random.Random(seed)
        self.walked = Counter()  # how often a kind of piece went to a square

    def choose(self):
        """The best move as its line, or NO_MOVE (2011) where there is none."""
        moves = list(self.legal_moves())
        if not moves:
            return "NO_MOVE"
        gains = self.gains()
        best = max(moves, key=lambda move: (self.score(move, gains), self.dice.random()))
        x, y, name, steps = best
        self.walked[self.known.at(x, y), *end_of(best)] += 1
        return f"{x} {y} {name}" if steps == 1 else f"{x} {y} {name} {steps}"

    def gains(self):
        """By rank and by square of an enemy what the attack may be expected to gain."""
        squares = [(x, y) for x in range(SIZE) for y in range(SIZE)]
        enemies = [square for square in squares if self.known.at(*square) == "#"]
        return {rank: {at: self.expected_gain(rank, at) for at in enemies} for rank in RANKS}

    def expected_gain(self, rank, enemy):
        guesses = self.known.guesses(enemy)
        total = sum(gain(rank, other) * count for other, count in guesses.items())
        return total / sum(guesses.values())

    def legal_moves(self):
        for y in range(SIZE):
            for x in range(SIZE):
                rank = self.known.at(x, y)
                if rank not in RANKS:
                    continue
                for name, (dx, dy) in DIRECTIONS.items():
                    for steps in range(1, SIZE if rank == "9" else 2):
                        content = self.known.at(x + dx * steps, y + dy * steps)
                        if content in ".#":
                            yield x, y, name, steps
                        if content != ".":
                            break

    def score(self, move, gains):
        x, y, *_ = move
        rank, end = self.known.at(x, y), end_of(move)
        escape = ESCAPE * self.danger(rank, x, y)
        if self.known.at(*end) == "#":
            return escape + gains[rank][end]
        targets = [enemy for enemy, value in gains[rank].items() if value > 0]
        advance = ADVANCE * nearness((x, y), end, targets)
        repeated = REPEAT * self.walked[rank, *end]
        return escape - self.danger(rank, *end) + advance - repeated

    def danger(self, rank, x, y):
        """What a piece has to lose on a square: the worst that a known enemy beside it could do."""
        beside = [(x + dx, y + dy) for dx, dy in DIRECTIONS.values()]
        known = [self.known.ranks[square] for square in beside if square in self.known.ranks]
        beaten_by = [other for other in known if other in RANKS and gain(other, rank) > 0]
        return WORTH[rank] if beaten_by else 0


def distance(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def nearness(start, end, targets):
    """How far a move leads to its three nearest targets: the nearer they are, the more it counts."""
    near = sorted(targets, key=lambda target: distance(end, target))[:3]
    approaches = (1 if distance(end, at) < distance(start, at) else -1 for at in near)
    return sum(sign / (1 + distance(end, at)) for sign, at in zip(approaches, near, strict=True))


def end_of(move):
    x, y, name, steps = move
    dx, dy = DIRECTIONS[name]
    return x + dx * steps, y + dy * steps


def say(*lines):
    print(*lines, sep="\n", flush=True)


def main():
    first = sys.stdin.readline()  # `RED opponent 10 10`
    is_red = first.startswith("RED")
    rows = SETUP if is_red else SETUP[::-1]
    say(*rows)
    known = Knowledge(rows, is_red)
    player = Player(known, seed=first)
    last = deque(maxlen=SIZE)  # the lines read last, which may be a board
    for line in map(str.rstrip, sys.stdin):
        if line.startswith("QUIT"):
            break
        known.hear(line)
        last.append(line)
        # The lakes stand on the fifth and sixth row only, so they tell when a board is complete.
        if len(last) == SIZE and all(row[2:4] == row[6:8] == "++" for row in (last[4], last[5])):
            known.see(list(last))
            last.clear()
            say(player.choose())


if __name__ == "__main__":
    main()

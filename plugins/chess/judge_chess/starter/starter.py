"""A chess engine for UCI: an alpha-beta search that counts material. Begin yours from it.

The board is a list of 120 squares, ten per row, with a border of `#`. Capitals are white.
"""

import sys
import time

NORTH, EAST, SOUTH, WEST = -10, 1, 10, -1
STEPS = {
    "N": (-21, -19, -12, -8, 8, 12, 19, 21),
    "B": (-11, -9, 9, 11),
    "R": (NORTH, EAST, SOUTH, WEST),
    "Q": (-11, -9, 9, 11, NORTH, EAST, SOUTH, WEST),
    "K": (-11, -9, 9, 11, NORTH, EAST, SOUTH, WEST),
}
VALUES = {"P": 100, "N": 320, "B": 330, "R": 500, "Q": 900, "K": 0}
MATE = 30_000
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class TimeOverError(Exception):
    """The search must stop."""


def square(name):
    return 20 + 10 * (8 - int(name[1])) + ord(name[0]) - ord("a") + 1


def name(at):
    return "abcdefgh"[at % 10 - 1] + str(8 - (at - 20) // 10)


class Board:
    """A position. `rooks` maps the rooks that may castle to their owner's colour."""

    def __init__(self, fen):
        rows, turn, castling, passed = fen.split()[:4]
        self.squares = ["#"] * 120
        for y, row in enumerate(rows.split("/")):
            at = 21 + 10 * y
            for letter in row:
                count = int(letter) if letter.isdigit() else 1
                for _ in range(count):
                    self.squares[at] = "." if letter.isdigit() else letter
                    at += 1
        self.is_white = turn == "w"
        self.rooks = frozenset(rook for right in castling if (rook := self.rook_of(right)))
        self.passed = 0 if passed == "-" else square(passed)

    def rook_of(self, right):
        """The rook of a letter of the castling field."""
        first = 91 if right.isupper() else 21
        king = self.king(right.isupper())
        if right.upper() == "K":
            corners = range(first + 7, king, -1)
        elif right.upper() == "Q":
            corners = range(first, king)
        else:
            corners = [first + ord(right.upper()) - ord("A")] if right != "-" else []
        rook = "R" if right.isupper() else "r"
        return next((at for at in corners if self.squares[at] == rook), 0)

    def king(self, is_white):
        return self.squares.index("K" if is_white else "k")

    def copy(self):
        other = object.__new__(Board)
        other.squares = self.squares[:]
        other.is_white, other.rooks, other.passed = self.is_white, self.rooks, self.passed
        return other

    def owns(self, piece, is_white):
        return piece.isupper() if is_white else piece.islower()

    def is_attacked(self, at, by_white):
        squares = self.squares
        forward = NORTH if by_white else SOUTH
        pawn = "P" if by_white else "p"
        if squares[at - forward - 1] == pawn or squares[at - forward + 1] == pawn:
            return True
        for kind, steps in STEPS.items():
            piece = kind if by_white else kind.lower()
            for step in steps:
                to = at + step
                while squares[to] == "." and kind in "BRQ":
                    to += step
                if squares[to] == piece:
                    return True
        return False

    def moves(self):
        """Moves as (from, to, promotion); castling goes to the rook. The king may be left in check."""
        squares, white = self.squares, self.is_white
        forward, last, first = (NORTH, 2, 8) if white else (SOUTH, 9, 3)
        for at in range(21, 99):
            piece = squares[at]
            if not self.owns(piece, white):
                continue
            if piece in "Pp":
                targets = [at + forward + side for side in (-1, 1)]
                targets = [to for to in targets if self.owns(squares[to], not white) or to == self.passed]
                if squares[at + forward] == ".":
                    targets.append(at + forward)
                    if at // 10 == first and squares[at + 2 * forward] == ".":
                        targets.append(at + 2 * forward)
                for to in targets:
                    for promotion in "qrbn" if to // 10 == last else ("",):
                        yield at, to, promotion
                continue
            for step in STEPS[piece.upper()]:
                to = at + step
                while squares[to] == "." and piece in "BRQbrq":
                    yield at, to, ""
                    to += step
                if squares[to] == "." or self.owns(squares[to], not white):
                    yield at, to, ""
        king = self.king(white)
        for rook in self.rooks:
            if self.owns(squares[rook], white) and self.can_castle(king, rook):
                yield king, rook, ""

    def castled(self, king, rook):
        """The squares of king and rook after castling."""
        row = king // 10 * 10
        return (row + 7, row + 6) if rook > king else (row + 3, row + 4)

    def can_castle(self, king, rook):
        ends = self.castled(king, rook)
        touched = range(min(king, rook, *ends), max(king, rook, *ends) + 1)
        if any(self.squares[at] != "." for at in touched if at not in (king, rook)):
            return False
        step = 1 if ends[0] >= king else -1
        return not any(self.is_attacked(at, not self.is_white) for at in range(king, ends[0] + step, step))

    def play(self, move):
        """The position after a move; None if it leaves the king in check."""
        at, to, promotion = move
        after = self.copy()
        squares, piece = after.squares, self.squares[at]
        after.passed = 0
        if self.squares[to] == ("R" if self.is_white else "r"):
            rook = squares[to]
            squares[at] = squares[to] = "."
            king_end, rook_end = self.castled(at, to)
            squares[king_end], squares[rook_end] = piece, rook
        else:
            squares[at], squares[to] = ".", piece
            if piece in "Pp":
                if to == self.passed:
                    squares[to + (SOUTH if self.is_white else NORTH)] = "."
                if abs(to - at) == 20:
                    after.passed = (at + to) // 2
                if promotion:
                    squares[to] = promotion.upper() if self.is_white else promotion
        gone = {at, to}
        if piece in "Kk":
            gone |= {rook for rook in self.rooks if self.owns(self.squares[rook], self.is_white)}
        after.rooks = self.rooks - gone
        if after.is_attacked(after.king(self.is_white), not self.is_white):
            return None
        after.is_white = not self.is_white
        return after

    def find(self, text):
        """The move of a text in UCI notation."""
        at, to, promotion = square(text[:2]), square(text[2:4]), text[4:]
        if self.squares[at] in "Kk" and abs(to - at) == 2:
            side = [
                rook for rook in self.rooks if self.owns(self.squares[rook], self.is_white) and (rook > at) == (to > at)
            ]
            to = side[0] if side else to
        return at, to, promotion

    def write(self, move, chess960):
        at, to, promotion = move
        if not chess960 and self.squares[to] == ("R" if self.is_white else "r"):
            to = self.castled(at, to)[0]
        return name(at) + name(to) + promotion

    def score(self):
        """Material and the central files, for the side that moves."""
        total = 0
        for at in range(21, 99):
            piece = self.squares[at]
            if piece in ".#":
                continue
            value = VALUES[piece.upper()] + (4 - abs(at % 10 * 2 - 9) // 2) * (piece not in "Kk")
            value += 2 * (7 - (at // 10 - 2) if piece == "P" else at // 10 - 2 if piece == "p" else 0)
            total += value if piece.isupper() else -value
        return total if self.is_white else -total


def search(board, depth, alpha, beta, deadline, ply=0):
    """The value of a position for the side that moves."""
    if time.monotonic() > deadline:
        raise TimeOverError
    if depth == 0:
        return board.score()
    best = -MATE * 2
    for move in ordered(board):
        after = board.play(move)
        if after is None:
            continue
        best = max(best, -search(after, depth - 1, -beta, -alpha, deadline, ply + 1))
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    if best == -MATE * 2:
        return ply - MATE if board.is_attacked(board.king(board.is_white), not board.is_white) else 0
    return best


def ordered(board):
    """Captures of large pieces first."""
    return sorted(board.moves(), key=lambda move: -VALUES.get(board.squares[move[1]].upper(), 0) - bool(move[2]))


def choose(board, budget, chess960):
    """Search deeper until the time is over."""
    begin = time.monotonic()
    legal = [move for move in ordered(board) if board.play(move)]
    best = legal[0] if legal else None
    for depth in range(1, 30):
        scored = []
        try:
            alpha = -MATE * 2
            for move in legal:
                value = -search(board.play(move), depth - 1, -MATE * 2, -alpha, begin + budget, 1)
                scored.append((value, move))
                alpha = max(alpha, value)
        except TimeOverError:
            break
        value, best = max(scored, key=lambda pair: pair[0])
        legal.sort(key=lambda move: move != best)
        ms = round((time.monotonic() - begin) * 1000)
        print(f"info depth {depth} score cp {value} time {ms} pv {board.write(best, chess960)}", flush=True)
        if abs(value) > MATE - 100 or len(legal) == 1:
            break
    print(f"bestmove {board.write(best, chess960) if best else '(none)'}", flush=True)


def main():
    board, chess960 = Board(START), False
    for line in sys.stdin:
        words = line.split() or [""]
        if words[0] == "uci":
            print("id name starter-uci\nid author judge")
            print("option name UCI_Chess960 type check default false\nuciok", flush=True)
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[0] == "setoption" and words[2:3] == ["UCI_Chess960"]:
            chess960 = words[-1] == "true"
        elif words[0] == "position":
            first, _, moves = line.partition(" moves ")
            board = Board(START if words[1] == "startpos" else first.split(None, 2)[2])
            for text in moves.split():
                board = board.play(board.find(text))
        elif words[0] == "go":
            limits = dict(zip(words[1::2], words[2::2], strict=False))
            left = int(limits.get("wtime" if board.is_white else "btime", 10**9))
            budget = min(left / 40, int(limits.get("movetime", 10**9)) - 50)
            choose(board, max(5, budget) / 1000, chess960)
        elif words[0] == "quit":
            break


main()

"""A Go engine for GTP 2 that chooses moves by simple rules. Begin yours from it.

The board is a list with a border of `#`. It plays until only its own eyes are left, so it captures all dead stones.
"""

import sys
import time

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
COMMANDS = (
    "protocol_version name version list_commands known_command boardsize clear_board komi time_settings time_left play"
    " genmove quit"
)


class Board:
    def __init__(self, size):
        self.size = size
        self.stride = size + 1
        self.cells = ["#"] * self.stride + ([*"." * size, "#"]) * size + ["#"] * self.stride
        self.seen = {"".join(self.cells)}

    def points(self):
        return [at for at, cell in enumerate(self.cells) if cell != "#"]

    def near(self, at):
        return at - 1, at + 1, at - self.stride, at + self.stride

    def group(self, start):
        """The stones of a group, and its liberties."""
        colour, stones, liberties, todo = self.cells[start], {start}, set(), [start]
        while todo:
            for at in self.near(todo.pop()):
                if self.cells[at] == ".":
                    liberties.add(at)
                elif self.cells[at] == colour and at not in stones:
                    stones.add(at)
                    todo.append(at)
        return stones, liberties

    def place(self, at, colour):
        """Place a stone; returns the captured stones, or None if it is illegal. Call `undo` with the result."""
        if self.cells[at] != ".":
            return None
        self.cells[at] = colour
        captured = []
        for other in self.near(at):
            if self.cells[other] not in (".", "#", colour):
                stones, liberties = self.group(other)
                if not liberties:
                    captured += stones
                    for each in stones:
                        self.cells[each] = "."
        if self.group(at)[1] and "".join(self.cells) not in self.seen:
            return captured
        self.undo(at, colour, captured)
        return None

    def undo(self, at, colour, captured):
        self.cells[at] = "."
        for each in captured:
            self.cells[each] = "w" if colour == "b" else "b"

    def is_eye(self, at, colour):
        """Whether all neighbours and enough corners belong to `colour`."""
        if any(self.cells[other] not in ("#", colour) for other in self.near(at)):
            return False
        corners = [
            self.cells[at + step] for step in (-self.stride - 1, 1 - self.stride, self.stride - 1, self.stride + 1)
        ]
        lost = sum(cell not in ("#", ".", colour) for cell in corners)
        return lost + ("#" in corners) < 2

    def name(self, at):
        return LETTERS[at % self.stride] + str(self.size + 1 - at // self.stride)

    def point(self, name):
        return (self.size + 1 - int(name[1:])) * self.stride + LETTERS.index(name[0].upper())


def value(board, at, colour, last):
    """How good a move is; None if it is illegal or fills an eye."""
    if board.cells[at] != "." or board.is_eye(at, colour):
        return None
    rivals = {}
    rescued = 0
    for other in board.near(at):
        cell = board.cells[other]
        if cell not in (".", "#"):
            stones, liberties = board.group(other)
            if len(liberties) == 1 and cell == colour:
                rescued += len(stones)
            if cell != colour:
                rivals[min(stones)] = len(stones), len(liberties)
    captured = board.place(at, colour)
    if captured is None:
        return None
    stones, liberties = board.group(at)
    board.undo(at, colour, captured)
    result = 12.0 * len(captured)
    if len(liberties) == 1:
        result -= 8 * len(stones)
    elif rescued:
        result += 9 * rescued
    result += sum(2 + count for count, left in rivals.values() if left == 2 and len(liberties) > 1)
    row, column = divmod(at, board.stride)
    edge = min(row - 1, column, board.size - row, board.size - 1 - column)
    result += (-2.0, 0.0, 2.0, 2.5)[min(edge, 3)]
    result += min(len(liberties), 5) * 0.5
    if last is not None:
        distance = abs(row - last // board.stride) + abs(column - last % board.stride)
        result += max(0.0, 4.0 - distance) * 0.8
    return result


def choose(board, colour, last, deadline):
    """The best move; None: pass."""
    best, move = None, None
    for at in board.points():
        found = value(board, at, colour, last)
        if found is not None and (best is None or found > best):
            best, move = found, at
        if time.monotonic() > deadline and move is not None:
            break
    return move


class Engine:
    def __init__(self):
        self.board = Board(19)
        self.last = None
        self.seconds = 1.0

    def run(self, name, words):
        """The answer to a command. ValueError, IndexError and KeyError become errors of GTP."""
        if name == "protocol_version":
            return "2"
        if name == "name":
            return "starter-gtp"
        if name == "version":
            return "1"
        if name == "list_commands":
            return "\n".join(COMMANDS.split())
        if name == "known_command":
            return str(words[0] in COMMANDS.split()).lower()
        if name == "boardsize":
            if not 2 <= int(words[0]) <= len(LETTERS):
                raise ValueError("unacceptable size")
            self.board, self.last = Board(int(words[0])), None
        elif name == "clear_board":
            self.board, self.last = Board(self.board.size), None
        elif name == "komi":
            float(words[0])
        elif name == "time_left":
            self.seconds = float(words[1]) / (int(words[2]) or 30)
        elif name == "play":
            self.play(words[0][0].lower(), words[1])
        elif name == "genmove":
            colour = words[0][0].lower()
            at = choose(self.board, colour, self.last, time.monotonic() + self.seconds / 2)
            move = "pass" if at is None else self.board.name(at)
            self.play(colour, move)
            return move
        elif name not in ("quit", "time_settings"):
            raise ValueError("unknown command")
        return ""

    def play(self, colour, move):
        if move.lower() == "pass":
            self.last = None
            return
        at = self.board.point(move)
        if self.board.place(at, colour) is None:
            raise ValueError("illegal move")
        self.board.seen.add("".join(self.board.cells))
        self.last = at


def main():
    engine = Engine()
    for line in sys.stdin:
        words = line.partition("#")[0].split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if not words:
            continue
        try:
            print(f"={number} {engine.run(words[0], words[1:])}\n", flush=True)
        except (ValueError, IndexError, KeyError) as error:
            print(f"?{number} {error}\n", flush=True)
        if words[0] == "quit":
            return


if __name__ == "__main__":
    main()

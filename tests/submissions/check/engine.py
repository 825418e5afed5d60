"""A sound AGI engine: the house agent in Python, whose main loop speaks AGI instead."""

from judge.base.resources import IMAGES

_RULES = (IMAGES / "house-python" / "house-python.py").read_text(encoding="utf-8").partition("class Agent:")[0]
_MAIN = """
def squares(text):
    digits = [int(digit, 16) for digit in text]
    return [(column - 1, row) for row, column in zip(digits[::2], digits[1::2])]


def best(stones):
    board = Board(15, 15)
    for number, cell in enumerate(stones):
        board.put(cell, OWN if number % 2 == len(stones) % 2 else OPPONENT)
    return board.best_cell()


def main():
    stones = []
    for line in map(str.strip, sys.stdin):
        word, _, rest = line.partition(" ")
        if word == "AGI":
            print("ID NAME sound one\\nAGIOK", flush=True)
        elif word == "ISREADY":
            print("READYOK", flush=True)
        elif word == "POSITION":
            stones = squares(rest.removeprefix("MOVES "))
        elif word == "DOMOVE":
            stones += squares(rest)
        elif word == "GO":
            ms = int(rest.split()[-1])
            THINK
            x, y = best(stones)
            print(f"BESTMOVE {y:X}{x + 1:X}", flush=True)
        elif word == "QUIT":
            break


if __name__ == "__main__":
    main()
"""


def thinking(code: str) -> str:
    """An engine that runs `code` (with `ms`, the time that it is told) before it decides."""
    return _RULES.replace("import sys\n", "import sys\nimport time\n") + _MAIN.replace("THINK", code)

"""An agent that plays Connect Four: it wins and blocks where one disc does it, and plays the middle else."""

import sys

COLUMNS, ROWS = 7, 6


def wins(played: list[int], column: int) -> bool:
    """Whether a disc in this column makes four in a line for whoever is to move."""
    side, heights = len(played) % 2, [0] * COLUMNS
    discs: dict[tuple[int, int], int] = {}
    for number, each in enumerate([*played, column]):
        discs[each, heights[each]] = number % 2
        heights[each] += 1
    x, y = column, heights[column] - 1
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
        count = 1
        for sign in (1, -1):
            step = 1
            while discs.get((x + sign * step * dx, y + sign * step * dy)) == side:
                count, step = count + 1, step + 1
        if count >= 4:
            return True
    return False


def choose(played: list[int]) -> int:
    """The best column by one look ahead."""
    free = [c for c in (3, 2, 4, 1, 5, 0, 6) if played.count(c) < ROWS]
    for column in free:
        if wins(played, column):
            return column
    for column in free:
        # A move of the opponent's, were it to play here in its turn.
        others = [c for c in free if c != column] or [column]
        if any(wins([*played, other], column) for other in others[-1:] if other != column):
            return column
    return free[0]


for line in sys.stdin:
    words = line.split()
    if words[:1] == ["PLAY"]:
        print(choose([int(word) - 1 for word in words[1:]]) + 1, flush=True)
    elif words[:1] == ["END"]:
        break

"""A GTP engine that plays five in a row: it extends its own rows and blocks those of the opponent."""

import sys

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
COMMANDS = ["protocol_version", "name", "list_commands", "boardsize", "clear_board", "play", "genmove", "quit"]


def run(line, stones, at, dx, dy):
    """The length of the row of `line`'s colour through `at`."""
    count = 1
    for sign in (1, -1):
        x, y = at[0] + sign * dx, at[1] + sign * dy
        while stones.get((x, y)) == line:
            count, x, y = count + 1, x + sign * dx, y + sign * dy
    return count


def choose(size, stones, colour):
    def value(at):
        rows = [
            max(run(line, stones, at, dx, dy) for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)))
            for line in (colour, "bw"[colour == "b"])
        ]
        return max(2 * rows[0] + 1, 2 * rows[1]), -abs(at[0] - size // 2) - abs(at[1] - size // 2)

    return max(((x, y) for x in range(size) for y in range(size) if (x, y) not in stones), key=value)


def main():
    size, stones = 19, {}
    for text in sys.stdin:
        number, name, *words = text.split()
        answer = ""
        if name == "protocol_version":
            answer = "2"
        elif name == "name":
            answer = "five"
        elif name == "list_commands":
            answer = "\n".join(COMMANDS)
        elif name == "boardsize":
            size = int(words[0])
        elif name == "clear_board":
            stones = {}
        elif name == "play":
            stones[LETTERS.index(words[1][0]), int(words[1][1:])] = words[0][0]
        elif name == "genmove":
            x, y = choose(size, {(x, y - 1): colour for (x, y), colour in stones.items()}, words[0][0])
            stones[x, y + 1] = words[0][0]
            answer = f"{LETTERS[x]}{y + 1}"
        elif name != "quit":
            answer = None
        said = f"?{number} unknown command" if answer is None else f"={number} {answer}"
        sys.stdout.write(f"{said}\n\n")
        sys.stdout.flush()
        if name == "quit":
            return


main()

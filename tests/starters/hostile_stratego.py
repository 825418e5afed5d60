"""Answers every board with the next of all bytes and of the line ends of other encodings, which `replies` lists."""

import sys

ODD = [bytes([byte]) for byte in range(256) if byte != 10]
ODD += [text.encode() for text in ("\x85", "\u2028", "\u2029", "\x1b[2J", "\ufeff")]
ODD += [b"\r\r", b"\r\0", b"\rQUIT\r", b"QUIT", b" QUIT", b"QUIT \rSTART\r"]
SETUP = [b"8BFB887B95", b"78B9s78B69", b"6549B63754", b"9236195499"]


def replies() -> list[bytes]:
    """Alone, in the middle of a line, and at its end."""
    return [line for odd in ODD for line in (odd, b"0 3 DOWN" + odd + b" 1 QUIT", b"0 3 DOWN 1" + odd)]


def main() -> None:
    """Count the rows of boards: a confirmation has other characters."""
    rows, lines, is_set_up = 0, iter(replies()), False
    while line := sys.stdin.buffer.readline():
        text = line.strip()
        if text.startswith(b"QUIT"):
            break
        if not is_set_up:
            is_red = text.startswith(b"RED")
            answer = SETUP if is_red else SETUP[::-1]
            sys.stdout.buffer.write(b"".join(row + b"\n" for row in answer))
            is_set_up = True
        elif len(text) == 10 and not set(text) - set(b".+#123456789sBF"):
            rows += 1
            if rows % 10 == 0:
                sys.stdout.buffer.write(next(lines, b"0 3 DOWN") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

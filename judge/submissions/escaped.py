"""What a stranger's upload or its build has said, made fit to be read: bounded, in plain lines, nothing to obey."""

from judge.sandbox.run_in_box import Talk

LINE_CHARACTERS = 400
"""More of a line of a log is cut off."""


def plain(text: str, most: int = 300) -> str:
    """Hostile text as one line of at most `most` characters, all of them printable."""
    line = "".join(c if c.isprintable() else _escape(c) for c in text[: most + 1])
    return line if len(line) <= most else f"{line[: most - 3]}..."


def log_of(talk: Talk) -> str:
    """A log: its first and its last part, and in between how much was left out."""
    first, last = _lines(bytes(talk.first)), _lines(bytes(talk.last))
    if not talk.omitted_bytes:
        return _text(_lines(bytes(talk.first + talk.last)))
    return _text([*first, f"[{talk.omitted_bytes} bytes are left out here]", *last])


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "backslashreplace").expandtabs()
    return [plain(line.rstrip("\r"), LINE_CHARACTERS) for line in text.split("\n")]


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n")


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")

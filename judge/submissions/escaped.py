"""What a stranger's upload or its build has said, made fit to be read: bounded, in plain lines, nothing to obey."""

from judge.sandbox.run_in_box import Stderr
from judge.text import decode, printable

SENTENCE_CHARACTERS = 300
"""What somebody has said is cut there where it stands in a sentence of ours."""

LINE_CHARACTERS = 400
"""More of a line of a log is cut off."""


def log_of(talk: Stderr) -> str:
    """A log: its first and its last part, and in between how much was left out."""
    first, last = _lines(bytes(talk.first)), _lines(bytes(talk.last))
    if not talk.omitted_bytes:
        return _text(_lines(bytes(talk.first + talk.last)))
    return _text([*first, f"[{talk.omitted_bytes} bytes are left out here]", *last])


def _lines(data: bytes) -> list[str]:
    text = decode(data).expandtabs()
    return [printable(line.rstrip("\r"), LINE_CHARACTERS) for line in text.split("\n")]


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n")

"""How large a record and the judge's memory can become under a policy, whatever its agents do.

A game is as long as its rules allow, and no longer than its agents may speak: an answer is a line, and a line counts
at least `least_bytes` toward the bytes of a game. So does an entry of a transcript. Of a byte is kept at most:

    in the transcript   6 characters of JSON (`\\u00ff`)
    in the answer       6, of at most `SAID_BYTES` an answer (what was said, and what was said of the search)
    in confirmations    12, of the same bytes, where a game repeats what was said to both seats

All numbers are upper bounds, not estimates; `tests/referee/test_bounds.py` holds records at their worst against them.
"""

from dataclasses import dataclass

LARGEST_RECORD = 448 << 20
"""The largest record that is written or read, in bytes."""

SAID_BYTES = 5120
"""What an answer has to say at most: protocols cut their lines."""
READ_BYTES = 1 << 17
"""What may be read at once, beyond a bound too."""
JSON = 6
"""Characters of JSON that a byte may take."""
ECHO = 12
ENTRY_BYTES = 48
"""An entry of a transcript in JSON, without its text."""
PLY_BYTES = 1024
"""All that the judge writes and keeps of an answer beside what was said: requests, positions, times, its place in the
record."""
PLY_ENTRIES = 8
REST_BYTES = 16 << 20
"""The spec, what agents say of themselves, and the notes that are kept of both."""
ENTRY_MEMORY = 512
"""An entry in memory, without its text."""
JUDGE_MEMORY = 128 << 20
"""The judge itself, and what it needs beside what grows with a game."""


@dataclass(frozen=True, slots=True)
class RecordBounds:
    """The largest sizes that one game can reach."""

    plies: int
    """Answers."""
    entries: int
    """Entries of its transcript."""
    record_bytes: int
    """Its record, as a file."""
    memory_bytes: int
    """The memory of the process that plays it, of one that verifies it too."""


def bounds(longest: int | None, game_bytes: int, stderr_bytes: int, least_bytes: int) -> RecordBounds:
    """The bounds of a game with at most `longest` answers (None: its rules know no limit), in bytes of one seat."""
    game_bytes += READ_BYTES
    spoken = 2 * game_bytes // least_bytes
    plies = spoken if longest is None else min(longest, spoken)
    # A read is an entry, and one more for each of its lines where private ones are cut out.
    entries = 4 * game_bytes // least_bytes + 2 * stderr_bytes // least_bytes + PLY_ENTRIES * (plies + 2)
    said = min(2 * game_bytes, plies * SAID_BYTES)
    text = 2 * (game_bytes + stderr_bytes) + plies * PLY_BYTES
    record = (
        2 * JSON * (game_bytes + stderr_bytes)
        + (JSON + ECHO) * said
        + ENTRY_BYTES * entries
        + PLY_BYTES * plies
        + REST_BYTES
    )
    return RecordBounds(plies, entries, record, JUDGE_MEMORY + 2 * text + ENTRY_MEMORY * entries + 2 * record)

r"""Upper bounds of a record's size and of the judge's memory under a policy.

The rules and the agents' output limit bound a game's length: an answer is at least a line, and each
line and transcript entry counts at least `MIN_COUNT_BYTES`. Stored per byte of output, at most:

    in the transcript   6 characters of JSON (`\u00ff`)
    in the answer       6, limited to `SAID_BYTES` per answer (the answer and the search report)
    in confirmations    12, with the same limit, if a game repeats an answer to both seats
"""

from dataclasses import dataclass

MAX_RECORD_BYTES = 448 << 20

STDERR_BYTES = 1 << 18
"""Stored bytes of an agent's stderr; the rest is discarded."""
MIN_COUNT_BYTES = 128
"""Minimum count of a line or a piece of stderr, because each has this cost for the judge."""
SAID_BYTES = 5120
"""Per answer; protocols cut longer lines."""
READ_BYTES = 1 << 17
"""Size of one read, which may exceed an output limit."""
JSON_FACTOR = 6
ECHO_FACTOR = 12
ENTRY_BYTES = 48
"""A transcript entry in JSON, without text."""
PLY_BYTES = 1024
"""Other data per answer: requests, positions, times, structure."""
PLY_ENTRIES = 8
REST_BYTES = 16 << 20
"""The spec, the agents' descriptions, and stored notes."""
ENTRY_MEMORY = 512
"""As `ENTRY_BYTES`, in memory."""
JUDGE_MEMORY = 128 << 20


@dataclass(frozen=True, slots=True)
class RecordBounds:
    """Maximum sizes of one game."""

    plies: int
    entries: int
    record_bytes: int
    memory_bytes: int


def bounds(longest: int | None, game_bytes: int, uncounted_bytes: int = 0) -> RecordBounds:
    """Bounds of a game with at most `longest` answers (None: unlimited). Bytes are per seat.

    `uncounted_bytes`: maximum output of start-ups that another agent's refusal repeats.
    """
    game_bytes += READ_BYTES + uncounted_bytes
    spoken = 2 * game_bytes // MIN_COUNT_BYTES
    plies = spoken if longest is None else min(longest, spoken)
    # One entry per read, plus one per line if private lines are cut out.
    entries = (4 * game_bytes + 2 * STDERR_BYTES) // MIN_COUNT_BYTES + PLY_ENTRIES * (plies + 2)
    said = min(2 * game_bytes, plies * SAID_BYTES)
    text = 2 * (game_bytes + STDERR_BYTES) + plies * PLY_BYTES
    record = (
        2 * JSON_FACTOR * (game_bytes + STDERR_BYTES)
        + (JSON_FACTOR + ECHO_FACTOR) * said
        + ENTRY_BYTES * entries
        + PLY_BYTES * plies
        + REST_BYTES
    )
    return RecordBounds(plies, entries, record, JUDGE_MEMORY + 2 * text + ENTRY_MEMORY * entries + 2 * record)

"""How many examples Hypothesis tries: all of them in a full run, a few where somebody waits for the answer."""

import os

FAST = os.environ.get("JUDGE_TESTS") == "fast"
"""Set by `scripts/test --fast`."""


def examples(number: int) -> int:
    """The examples of a test that tries `number` of them in a full run."""
    return max(number // 10, 5) if FAST else number

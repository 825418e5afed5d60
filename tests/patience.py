"""When a test gives up what it waits for; no test passes by reaching it, so it is long enough for a slow, busy host."""

import os

PATIENCE_S = float(os.environ.get("JUDGE_TEST_PATIENCE_S", "180"))
"""Seconds."""

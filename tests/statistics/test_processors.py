"""No order and no choice depends on the processor: its instructions change the last digits of all estimates."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

OLDEST = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
}
"""Instructions of 2008; other processors ignore this."""


def shown_with(instructions: Mapping[str, str]) -> list[Any]:
    command = [sys.executable, "-m", "tests.statistics.processors"]
    done = subprocess.run(command, env=os.environ | instructions, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def are_alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and are_alike(list(one.values()), list(other.values()))
    if isinstance(one, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    return bool(one == other)


def test_equal_agents_are_shown_alike_on_two_processors() -> None:
    newest, oldest = shown_with({}), shown_with(OLDEST)

    assert len(newest) > 50
    assert all(are_alike(*each) for each in zip(newest, oldest, strict=True))

"""The processors' flags, from the text of the kernel and from any other text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.submissions.check import start_faults
from judge.submissions.check.start_faults import parse_flags, processor_flags


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("processor\t: 0\nflags\t\t: fpu sse2 avx2\n\nprocessor\t: 1\nflags\t\t: fpu avx2 bmi2\n", {"fpu", "avx2"}),
        ("Features\t: fp asimd sve\n", {"fp", "asimd", "sve"}),
        ("vmx flags\t: avx2\n", set()),
        ("model name\t: flags: avx2\nflags : sse2 \x1b[31m AVX2 " + "x" * 99 + "\n", {"sse2"}),
        ("", set()),
    ],
)
def test_flags_are_those_of_all_processors(text: str, flags: set[str]) -> None:
    assert flags == parse_flags(text)


@given(st.text())
def test_any_text_gives_short_words(text: str) -> None:
    assert all(len(flag) <= 32 and flag.isascii() for flag in parse_flags(f"flags: {text}\n"))


@pytest.mark.parametrize("size", [None, start_faults.MAX_CPUINFO_BYTES])
def test_missing_or_huge_file_gives_no_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None) -> None:
    path = tmp_path / "cpuinfo"
    if size is not None:
        path.write_bytes(b"flags : avx2\n" + b"\n" * size)
    monkeypatch.setattr(start_faults, "CPUINFO", path)
    assert frozenset() == processor_flags()

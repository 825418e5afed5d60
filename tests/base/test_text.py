"""Nobody's bytes reach a terminal, a page or a file as anything but one printable line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.base.text import (
    clock_text,
    decode,
    duration,
    is_printable,
    is_repeatable,
    mib,
    nearest,
    number,
    one_line,
    printable,
    quote,
    repeated,
    suggest,
)

OBEYED = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""The categories of Unicode of what is obeyed, or is no character: controls, formats, surrogates, line ends."""
HOSTILE = st.text(st.characters() | st.characters(categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"]))


def is_harmless(text: str) -> bool:
    """Said without the function under test."""
    return all(c == " " or unicodedata.category(c) not in OBEYED | {"Zs"} for c in text)


@given(HOSTILE, st.one_of(st.none(), st.integers(0, 50)), st.sampled_from([None, "?", ""]))
def test_printable_text_is_harmless_and_bounded(text: str, limit: int | None, mark: str | None) -> None:
    shown = printable(text, limit, mark=mark)

    assert is_printable(text) == is_harmless(text)
    assert is_harmless(shown)
    assert limit is None or len(shown) <= limit
    assert printable(shown, limit) == shown
    if is_harmless(text) and (limit is None or len(text) <= limit):
        assert text == shown


@given(HOSTILE, st.integers(1, 50))
def test_one_line_is_harmless_bounded_and_trimmed(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert is_harmless(line)
    assert len(line) <= limit
    assert line == line.strip()
    assert "  " not in line


@given(HOSTILE, st.integers(1, 50))
def test_a_quotation_is_printable_ascii(text: str, limit: int) -> None:
    shown = quote(text, limit)

    assert is_harmless(shown)
    assert shown.isascii()
    assert len(shown) <= 10 * limit + 5


@given(st.binary())
def test_any_bytes_become_text_that_can_be_shown(data: bytes) -> None:
    assert is_harmless(printable(decode(data), None))
    assert decode(data) == decode(bytearray(data))
    assert "gr\\xfc\\xdfe ü" == decode(b"gr\xfc\xdfe \xc3\xbc")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("plain, Grüße, 五子棋", "plain, Grüße, 五子棋"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("two\r\nlines\tof it", "two\\r\\nlines\\tof it"),
        ("\u202eturned\u2069", "\\u202eturned\\u2069"),
        ("\u2028\u00a0\ud800", "\\u2028\\xa0\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("a" * 20, "a" * 20),
        ("a" * 21, "a" * 17 + "..."),
        ("\x00" * 6, "\\x00\\x00\\x00\\x00\\..."),
    ],
)
def test_unprintable_characters_are_escaped(text: str, shown: str) -> None:
    assert shown == printable(text, 20)


def test_a_limit_a_mark_and_another_ending_can_be_chosen() -> None:
    assert "a?b" == printable("a\x00b", mark="?")
    assert "abcd…" == printable("abcdef", 5, cut="…")
    assert "abcde" == printable("abcdef", 5, cut="")
    assert ".." == printable("abcdef", 2)
    assert "a" * 197 + "..." == printable("a" * 201)
    assert "a" * 201 == printable("a" * 201, None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("it is", "'it is'"), ("it's", '"it\'s"'), ("ü\n", "'\\xfc\\n'"), ("a" * 61, f"'{'a' * 60}'...")],
)
def test_a_quotation(text: str, shown: str) -> None:
    assert shown == quote(text)


def test_numbers_sizes_and_durations_in_words() -> None:
    assert ("3", "2.5", "\N{MINUS SIGN}1") == (number(3), number(2.5), number(-1))
    assert ("1.5 MiB", "?", "-") == (mib(3 << 19), mib(None), mib(None, "-"))
    said = [duration(ms) for ms in (0.5, 12, 3400, 306_000, 180_000, 7_500_000)]
    days = [duration(3_600_000 * hours) for hours in (23.999, 24, 47.99, 49, 120_508)]
    assert ["0.5 ms", "12 ms", "3.4 s", "5 min 6 s", "3 min", "2 h 5 min"] == said
    assert ["23 h 59 min", "1 d", "1 d 23 h", "2 d 1 h", "5021 d 4 h"] == days
    assert ["999 ms", "1 s", "59.9 s", "1 min"] == [duration(ms) for ms in (999.4, 999.7, 59_940, 59_970)]


def test_clock_never_shows_more_than_is_left() -> None:
    shown = [clock_text(ms) for ms in (-5, 99.9, 500, 59_999.9, 60_000, 119_960, 3_599_999, 3_725_000)]
    assert ["0.0 s", "0.0 s", "0.5 s", "59.9 s", "1:00", "1:59", "59:59", "1:02:05"] == shown


def test_a_word_that_is_not_known_is_answered_with_the_nearest_or_with_all() -> None:
    assert ["swiss"] == nearest("swis", ["swiss", "groups"])
    assert "did you mean 'swiss'?" == suggest("swis", ["swiss", "groups"])
    assert "did you mean 'go', 'gomoku' or 'gomoku-5'?" == suggest("go", ["go", "gomoku", "gomoku-5", "swiss"])
    assert "there are groups, swiss" == suggest("x", ["swiss", "groups"])
    assert "the list is empty" == suggest("x", [])


@pytest.mark.parametrize("letter", [chr(code) for code in range(256)] + ["\u2028", "\u2029", "\ufeff"])
def test_only_printable_ascii_and_tabs_are_repeated_to_others(letter: str) -> None:
    is_plain = letter == "\t" or (letter.isascii() and letter.isprintable())

    assert is_plain is is_repeatable(f"a{letter}b")
    assert (f"a{letter}b" if is_plain else "a?b") == repeated(f"a{letter}b", "?")
    assert is_repeatable(repeated(f"a{letter}b"))


def test_a_final_carriage_return_belongs_to_the_line_end() -> None:
    assert ("3 7", "3 7\\x0d", "") == (repeated("3 7\r"), repeated("3 7\r\r"), repeated("\r"))
    assert (True, False) == (is_repeatable("3 7\r"), is_repeatable("3 7\r\r"))

"""Changes of single values of TOML files."""

import re
import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.contest.plan_edits import Document, edited, set_value

FILE = """\
# my cup
name = "cup"  # short
change = [
  "clock.turn_ms=5",  # a ] in a comment
]

[submissions]   # when
closes = 2027-03-31T18:00:00Z # evening
[[agents]]
path = "house-instant"
"""


def with_value(text: str, keys: tuple[str, ...], value: object) -> str:
    return edited(text, lambda document: set_value(document, keys, value))


@pytest.mark.parametrize(
    ("keys", "value", "before", "after"),
    [
        (("name",), "new", 'name = "cup"  # short', 'name = "new"  # short'),
        (("title",), "A cup", "]\n\n[sub", ']\ntitle = "A cup"\n\n[sub'),
        (("submissions", "closes"), date(2027, 4, 1), "2027-03-31T18:00:00Z # evening", "2027-04-01 # evening"),
        (("contest", "starts"), None, "", ""),
    ],
)
def test_one_value_is_changed_and_the_rest_stays(keys: tuple[str, ...], value: object, before: str, after: str) -> None:
    assert FILE.replace(before, after, 1) == with_value(FILE, keys, value)


def test_a_missing_table_is_made() -> None:
    changed = with_value(FILE, ("contest", "starts"), date(2027, 5, 1))

    assert changed.startswith(FILE)
    assert {"starts": date(2027, 5, 1)} == tomllib.loads(changed)["contest"]


def test_an_array_of_several_lines_is_replaced_and_a_value_removed() -> None:
    changed = with_value(FILE, ("change",), ["clock.turn_ms=9"])
    assert ["clock.turn_ms=9"] == tomllib.loads(changed)["change"]
    assert {} == tomllib.loads(with_value(FILE, ("submissions", "closes"), None))["submissions"]


@pytest.mark.parametrize(
    ("former", "value", "after"), [("'a'", "b", "'b'"), ('"a"', "b", '"b"'), ("'a'", "b'", '"b\'"')]
)
def test_a_text_keeps_its_quotes_if_it_can(former: str, value: str, after: str) -> None:
    assert f"name = {after} # c\n" == with_value(f"name = {former} # c\n", ("name",), value)


def test_an_edit_of_a_value_that_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="edit the file"):
        edited("a = [1]\n[[b]]\nc = 1\n", lambda document: _fail(document))


def _fail(document: Document) -> None:
    """Changes the parsed file only."""
    if type(document) is not dict:
        document["a"] = 2


@given(st.text(max_size=40), st.sampled_from(["name", "title"]))
def test_any_text_is_written_and_read_again(value: str, key: str) -> None:
    before, after = tomllib.loads(FILE), tomllib.loads(with_value(FILE, (key,), value))
    assert before | {key: value} == after
    assert re.findall("#.*", FILE) == re.findall("#.*", with_value(FILE, ("zone",), "UTC"))

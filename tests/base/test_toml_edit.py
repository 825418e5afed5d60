"""Changes of single values of TOML files."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.base.toml_files import toml_quoted, with_value

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


@pytest.mark.parametrize(
    ("table", "key", "value", "before", "after"),
    [
        ("", "name", '"new"', 'name = "cup"  # short', 'name = "new"  # short'),
        ("", "title", '"A cup"', "]\n\n[sub", ']\ntitle = "A cup"\n\n[sub'),
        ("submissions", "closes", "2027-04-01", "2027-03-31T18:00:00Z # evening", "2027-04-01 # evening"),
        ("submissions", "opens", "2027-01-01", "# when\n", "# when\nopens = 2027-01-01\n"),
        ("contest", "starts", "2027-05-01", '"house-instant"\n', '"house-instant"\n\n[contest]\nstarts = 2027-05-01\n'),
        ("contest", "starts", "", "", ""),
    ],
)
def test_one_value_is_changed_and_the_rest_stays(table: str, key: str, value: str, before: str, after: str) -> None:
    assert FILE.replace(before, after, 1) == with_value(FILE, table, key, value)


def test_an_array_of_several_lines_is_replaced_and_a_value_removed() -> None:
    changed = with_value(FILE, "", "change", '["clock.turn_ms=9"]')
    assert ["clock.turn_ms=9"] == tomllib.loads(changed)["change"]
    assert {} == tomllib.loads(with_value(FILE, "submissions", "closes", ""))["submissions"]


@pytest.mark.parametrize("text", ["submissions = { closes = 2027-01-01 }\n", "submissions.closes = 2027-01-01\n"])
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="only an editor can change"):
        with_value(text, "submissions", "closes", "2027-02-02")


@given(st.text(max_size=40), st.sampled_from(["name", "title"]))
def test_any_text_is_written_and_read_again(value: str, key: str) -> None:
    before, after = tomllib.loads(FILE), tomllib.loads(with_value(FILE, "", key, toml_quoted(value)))
    assert before | {key: value} == after

"""What is wrong with a value from outside is said in one printable line, which names the field."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, model_validator

from judge.base.errors import InputError
from judge.base.parsing import MAX_ERROR_CHARACTERS, parse, parse_json


class Clock(BaseModel, extra="forbid"):
    turn_ms: int = 1000


class Table(BaseModel, extra="forbid"):
    name: str
    colour: Literal["black", "white"] = "black"
    clock: Clock = Clock()

    @model_validator(mode="after")
    def _is_named(self) -> "Table":
        if not self.name:
            raise ValueError("a table has a name")
        return self


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"colour": "black"}, "the key 'name' is missing"),
        ({"name": 1}, "name: Input should be a valid string"),
        ({"name": "x", "colour": "red"}, "colour: Input should be 'black' or 'white'"),
        ({"name": "x", "color": "black"}, "unknown key 'color'; did you mean 'colour'?"),
        ({"name": "x", "turn_ms": 1}, "unknown key 'turn_ms'; did you mean 'clock.turn_ms'?"),
        ({"name": "x", "clock": {"turnms": 1}}, "unknown key 'clock.turnms'; did you mean 'turn_ms'?"),
        ({"name": "x", "\x1b[2J": 1}, "unknown key '\\x1b[2J'; there are clock, colour, name"),
        ({"name": ""}, "a table has a name"),
        ([], "it should be a table with the keys: name, colour, clock"),
        ({"name": "x", "clock": 5}, "clock: it should be a table with the keys: turn_ms"),
    ],
)
def test_first_error_is_reported(data: object, said: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(Table, data, "table.toml")

    assert f"table.toml: {said}" == str(refused.value)


def test_every_invalid_field_is_reported_once() -> None:
    with pytest.raises(InputError) as refused:
        parse(Table, {"colour": "red", "clock": {"turn_ms": "x", "turn": 1}, "size": 15}, "table")

    said = str(refused.value)
    assert said.startswith("table: the key 'name' is missing; colour: Input should be 'black' or 'white'; clock.turn")
    assert said.endswith("; unknown key 'size'; there are clock, colour, name")


def test_a_key_in_a_list_is_named_with_its_place() -> None:
    with pytest.raises(InputError) as refused:
        parse_json(list[Table], b'[{"name": "x"}, {"name": "x", "colr": 1}]', "tables")

    assert "tables: unknown key '1.colr'; did you mean 'colour'?" == str(refused.value)


def test_fitting_input_is_read() -> None:
    assert "x" == parse(Table, {"name": "x"}, "table").name
    assert ["x"] == [table.name for table in parse_json(list[Table], '[{"name": "x"}]', "tables")]


@given(st.dictionaries(st.text(min_size=1), st.none(), min_size=1))
def test_whatever_the_keys_are_the_sentence_is_one_printable_line(data: dict[str, None]) -> None:
    with pytest.raises(InputError) as refused:
        parse(Table, {"name": "x"} | data, "table")

    assert str(refused.value).isprintable()
    assert len(str(refused.value)) <= MAX_ERROR_CHARACTERS + len("table: ")

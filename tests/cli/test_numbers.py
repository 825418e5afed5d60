"""Numbers that the command line takes and prints."""

import json
import math
from pathlib import Path
from typing import get_type_hints

import pytest

from judge.base.text import json_text
from tests.cli.conftest import Judge
from tests.examples import evidence
from tests.golden.commands import all_commands
from tests.publish.cups import Cast, Cup, player

CAST: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}
UNUSABLE = ("nan", "-inf", "1e308", "1e999", "", "x", "1_0x", "٣x")


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Cup(tmp_path_factory.mktemp("numbers") / "cup", CAST) as found:
        found.play()
    return found.folder


@pytest.mark.parametrize(
    ("anchors", "problem"),
    [
        *((f"anna={number}", f"--anchor anna={number}: write NAME=ELO") for number in UNUSABLE),
        ("=5", "--anchor =5: write NAME=ELO"),
        ("anna", "write NAME=ELO"),
        ("anna=1 anna=2", "anna is given twice"),
    ],
)
def test_an_anchor_is_a_finite_rating_of_one_agent(judge: Judge, cup: Path, anchors: str, problem: str) -> None:
    ran = judge("stats", str(cup), *(word for anchor in anchors.split(" ") for word in ("--anchor", anchor)))

    assert (2, "") == (ran.code, ran.out)
    assert problem in ran.err


FLOATS = {
    ("sprt", "1", "2", "3"): ("--elo0", "--elo1", "--alpha", "--beta"),
    ("evaluate", "a", "--against", "b", "--key", "c"): ("--elo0", "--elo1", "--alpha", "--beta", "--width"),
    ("selftest",): ("--slower",),
    ("scheduler", "--listen", "tls://127.0.0.1:1"): ("--lost-after",),
}


@pytest.mark.parametrize(
    "number", ["nan", *(pytest.param(each, marks=evidence) for each in ("inf", "-inf", "1e308", ""))]
)
@pytest.mark.parametrize(
    ("command", "option"), [(each, option) for each, options in FLOATS.items() for option in options]
)
def test_every_number_of_every_command_is_finite(
    judge: Judge, command: tuple[str, ...], option: str, number: str
) -> None:
    ran = judge(*command, f"{option}={number}")

    assert (2, "") == (ran.code, ran.out)
    assert option in ran.err
    assert "write a number from" in ran.err


def test_every_option_that_takes_a_number_is_tried() -> None:
    numbers = {
        (context.command_path.removeprefix("judge "), f"--{name.replace('_', '-')}")
        for context in all_commands()
        for name, kind in get_type_hints(context.command.callback or object).items()
        if "float" in str(kind)
    }

    assert {(words[0], option) for words, options in FLOATS.items() for option in options} == numbers


def test_json_has_no_number_that_json_does_not_know() -> None:
    document = {"a": [math.nan, 1.5, {"b": -math.inf}], "c": "NaN", "d": None, "e": (math.inf, 2)}

    assert {"a": [None, 1.5, {"b": None}], "c": "NaN", "d": None, "e": [None, 2]} == json.loads(
        json_text(document), parse_constant=pytest.fail
    )

"""Policies: the official numbers, and errors that name the line and the fix."""

import re
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.record.policy import load_policy, policy_names


@pytest.mark.parametrize("name", policy_names())
def test_every_policy_that_ships_is_valid_and_named_like_its_file(name: str) -> None:
    assert name == load_policy(name).name


@pytest.mark.parametrize(
    ("name", "turn_s", "game_s", "side", "rule"),
    [
        ("gomocup-fastgame", 5, 120, 20, "freestyle"),
        ("gomocup-freestyle", 30, 180, 20, "freestyle"),
        ("gomocup-freestyle:finals", 300, 1000, 20, "freestyle"),
        ("gomocup-freestyle:fast", 5, 120, 20, "freestyle"),
        ("gomocup-freestyle-15", 30, 180, 15, "freestyle"),
        ("gomocup-freestyle-15:finals", 300, 1000, 15, "freestyle"),
        ("gomocup-freestyle-15:fast", 5, 120, 15, "freestyle"),
        ("gomocup-standard", 30, 180, 15, "standard"),
        ("gomocup-standard:finals", 300, 1000, 15, "standard"),
        ("gomocup-caro", 30, 180, 15, "caro"),
        ("gomocup-caro:overline", 30, 180, 15, "caro-overline"),
        ("gomocup-swap2", 7200, 7200, 15, "standard"),
        ("renju-15", 30, 180, 15, "renju"),
        ("renju-15:fast", 5, 120, 15, "renju"),
        ("renju-15:finals", 300, 1000, 15, "renju"),
    ],
)
def test_the_official_numbers(name: str, turn_s: int, game_s: int, side: int, rule: str) -> None:
    policy = load_policy(name)

    assert (turn_s * 1000, game_s * 1000) == (policy.clock.turn_ms, policy.clock.match_ms)
    assert 350 << 20 == policy.limits.memory_bytes
    assert {"width": side, "height": side, "rule": rule}.items() <= policy.game.options.items()


def test_single_numbers_are_set_from_the_command_line() -> None:
    words = ["clock.turn_ms=7", "box.freeze=none", "game.options.width=9", "protocol.gomocup.game_type=2"]
    policy = load_policy("gomocup-freestyle", words)

    assert (7, "none", 9) == (policy.clock.turn_ms, policy.box.freeze, policy.game.options["width"])
    assert {"gomocup": {"game_type": 2}} == policy.protocol


def test_missing_memory_limit_is_sent_as_zero_and_still_has_a_ceiling() -> None:
    policy = load_policy("gomocup-freestyle", ["limits.memory_bytes=0"])

    assert (0, 1 << 30) == (policy.limits.memory_bytes, policy.enforced().memory_bytes)


GAME = "name = 'x'\n[game]\nname = 'gomoku'\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{GAME}[clock]\nturn_sm = 5\n", "line 5: unknown key 'clock.turn_sm'; did you mean 'turn_ms'?"),
        (f"{GAME}[clok]\nturn_ms = 5\n", "line 4: unknown key 'clok'; did you mean 'clock'?"),
        (f"{GAME}[clock]\nturn_ms = -5\n", "line 5: clock.turn_ms: Input should be greater"),
        (f"{GAME}[box]\nfreeze = 'maybe'\n", "line 5: box.freeze"),
        (f"variants = 5\n{GAME}", "variants is not a section"),
        (f"{GAME}[variants]\nquick = 5\n", "variants.'quick' is not a section"),
        ("name = 'x'\n", "the key 'game' is missing"),
        ("name = \n", "line 1"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)

    with pytest.raises(InputError, match=re.escape(words)) as error:
        load_policy(str(path))

    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("name", "override", "words"),
    [
        ("gomocup-freestile", "", "did you mean 'gomocup-freestyle'?"),
        ("../../etc/passwd", "", "unknown policy"),
        ("gomocup-freestyle:final", "", "did you mean 'finals'?"),
        ("no/such.toml", "", "No such file"),
        ("gomocup-freestyle", "clock.turn_ms", "write section.key=value"),
        (
            "gomocup-freestyle",
            "clock.turn=1",
            "--set 'clock.turn=1': unknown key 'clock.turn'; did you mean 'turn_ms'?",
        ),
        ("gomocup-freestyle", "clock.turn_ms=soon", "clock.turn_ms: Input should be a valid integer"),
        ("gomocup-freestyle", "name.x=1", "'name' is not a section"),
    ],
)
def test_a_wrong_word_is_refused_with_the_fix(name: str, override: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        load_policy(name, [override] if override else [])


def test_section_that_is_a_number_is_refused_beside_an_override(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f"clock = 5\n{GAME}")

    with pytest.raises(InputError, match="'clock' is not a section"):
        load_policy(str(path), ["clock.turn_ms=1"])

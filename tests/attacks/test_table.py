"""The table of attacks is whole: every program, every promise."""

import re
from dataclasses import replace
from pathlib import Path

from judge.attacks.programs import SOURCES, program_names
from judge.attacks.runner import HONEST
from judge.attacks.scenes import HOARD
from judge.attacks.table import ATTACKS
from tests.attacks.controls import BY_ID, CONTROLS, REASONS
from tests.attacks.test_services import SERVICE_ATTACKS

IDS = [*(attack.id for attack in ATTACKS), *SERVICE_ATTACKS]

ROOT = Path(__file__).parents[2]
ENFORCEMENT = ROOT / "docs/enforcement.md"


def ids_in(text: str) -> set[str]:
    return set(re.findall(r"`([A-GIKORSUVW]\d+(?:\.[a-z]+)?)`", text))


def test_ids_are_unique() -> None:
    assert len(IDS) == len(set(IDS))


def test_every_attack_of_every_program_is_tried() -> None:
    tried: dict[str, set[str]] = {name: set() for name in program_names()}
    controls = (control.weakened(BY_ID[control.id]) for control in CONTROLS.values() if not control.shell)
    for attack in (HONEST, *ATTACKS, *controls):
        tried[attack.program].add(attack.words[0])
        if attack.opponent is not None:
            tried[attack.opponent.program].add(attack.opponent.mode)
    tried[HOARD[0]].add(HOARD[1])
    sources = {name: (SOURCES / f"{name}.c").read_text() for name in program_names()}
    assert {name: {*re.findall(r'\{\.name = "([a-z-]+)"', text)} for name, text in sources.items()} == tried


def test_each_attack_has_one_control_or_a_reason() -> None:
    without_control = [each for ids in REASONS.values() for each in ids]

    assert sorted(BY_ID) == sorted([*CONTROLS, *without_control])


def test_each_control_replaces_something() -> None:
    for control in CONTROLS.values():
        attack = replace(BY_ID[control.id], expected=control.expected, earns_void=False)
        weakened = replace(control.weakened(attack), scene=attack.scene)
        parts = (control.weaken, control.allow, control.ulimits, control.without, control.shares_files, control.user)
        assert any(parts) or weakened != attack, control.id


def test_enforcement_page_lists_every_attack_and_no_unknown_one() -> None:
    """The tables of the promises alone; other sections name attacks again."""
    promises, published = ENFORCEMENT.read_text(encoding="utf-8").split("\n## Published escapes")
    assert ids_in(promises) == set(IDS)
    assert ids_in(published) <= set(IDS)


def test_every_published_escape_has_an_attack_or_a_reason() -> None:
    section = ENFORCEMENT.read_text(encoding="utf-8").partition("\n## Published escapes")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")][1:]

    assert len(rows) > 15
    for _published, _problem, attack, result in rows:
        if ids_in(attack):
            assert result.strip().startswith("held: "), attack
        else:
            assert attack.strip().startswith("not applicable: "), attack

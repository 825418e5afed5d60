"""The table of attacks is whole: every row of the plan, every program, every promise."""

import re
from itertools import chain
from pathlib import Path

import pytest

from judge.attacks.attack import Attack, Control
from judge.attacks.fixtures import HOARD
from judge.attacks.programs import SOURCES, program_names
from judge.attacks.runner import HONEST
from judge.attacks.services import SERVICE_ATTACKS
from judge.attacks.table import ATTACKS

IDS = [*(attack.id for attack in ATTACKS), *(attack.id for attack in SERVICE_ATTACKS)]

ROOT = Path(__file__).parents[2]
SECURITY = ROOT / "SECURITY.md"
ENFORCEMENT = ROOT / "docs/enforcement.md"

PLAN = {
    "A": (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14),
    "B": (1, 3, 4, 9, 10, 12),
    "C": (1, 2, 4, 5, 6, 7, 8, 9, 10),
    "D": (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 18, 19, 20, 21),
    "E": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18),
    "F": (1, 2, 3, 4),
    "G": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21),
    "I": (1, 2, 3, 4, 5, 6, 7, 8),
    "K": (1, 2, 3, 4, 5, 6, 7),
    "O": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
    "R": (*range(1, 28), 30, 31),
    "S": (1, 2, 3, 4),
    "U": (1, 2, 3, 4),
    "W": (1, 2, 3, 4, 5, 6),
}
"""The attacks that every release must have tried, by their kinds."""


def row_of(attack_id: str) -> str:
    return attack_id.split(".")[0]


def modes_of(program: str) -> set[str]:
    return set(re.findall(r'\{\.name = "([a-z-]+)"', (SOURCES / f"{program}.c").read_text()))


def ids_in(text: str) -> set[str]:
    return set(re.findall(r"`([A-GIKORSUVW]\d+(?:\.[a-z]+)?)`", text))


def test_every_row_of_the_plan_is_there_once() -> None:
    assert len(IDS) == len(set(IDS))
    rows = {row_of(each) for each in IDS if each[0] != "V"}
    assert rows == {f"{kind}{n}" for kind, numbers in PLAN.items() for n in numbers}


def test_every_attack_of_every_program_is_tried() -> None:
    tried: dict[str, set[str]] = {name: set() for name in program_names()}
    for attack in (HONEST, *ATTACKS):
        controls = attack.control.words if isinstance(attack.control, Control) else None
        tried[attack.program] |= {attack.words[0], *(controls or ())[:1]}
        if attack.opponent is not None:
            tried[attack.opponent.program].add(attack.opponent.mode)
    tried[HOARD[0]].add(HOARD[1])
    assert {name: modes_of(name) for name in program_names()} == tried


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_every_attack_is_described_in_its_program(attack: Attack) -> None:
    if attack.scene.__name__ in ("bystanders", "killed_judge"):
        return  # the attack is what happens around an agent
    text = (SOURCES / f"{attack.program}.c").read_text()
    sections = chain.from_iterable(_expanded(found) for found in re.findall(r"\b([A-Z]\d+)(?: to ([A-Z]\d+))?\b", text))
    assert row_of(attack.id) in set(sections)


def _expanded(found: tuple[str, str]) -> list[str]:
    """`A1 to A3` means three rows."""
    first, last = found
    if not last or first[0] != last[0]:
        return [first]
    return [f"{first[0]}{n}" for n in range(int(first[1:]), int(last[1:]) + 1)]


def test_without_a_control_there_is_a_reason() -> None:
    for attack in ATTACKS:
        if isinstance(attack.control, str):
            assert len(attack.control) > 5, attack.id


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


def test_security_policy_starts_with_the_report() -> None:
    text = SECURITY.read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)

    assert "Report a vulnerability" == sections[0]

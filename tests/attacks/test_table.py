"""The table of attacks is whole: every program, every promise."""

import re
from pathlib import Path

from judge.attacks.attack import Control
from judge.attacks.fixtures import HOARD
from judge.attacks.programs import SOURCES, program_names
from judge.attacks.runner import HONEST
from judge.attacks.services import SERVICE_ATTACKS
from judge.attacks.table import ATTACKS

IDS = [*(attack.id for attack in ATTACKS), *(attack.id for attack in SERVICE_ATTACKS)]

ROOT = Path(__file__).parents[2]
SECURITY = ROOT / "SECURITY.md"
ENFORCEMENT = ROOT / "docs/enforcement.md"


def modes_of(program: str) -> set[str]:
    return set(re.findall(r'\{\.name = "([a-z-]+)"', (SOURCES / f"{program}.c").read_text()))


def ids_in(text: str) -> set[str]:
    return set(re.findall(r"`([A-GIKORSUVW]\d+(?:\.[a-z]+)?)`", text))


def test_ids_are_unique() -> None:
    assert len(IDS) == len(set(IDS))


def test_every_attack_of_every_program_is_tried() -> None:
    tried: dict[str, set[str]] = {name: set() for name in program_names()}
    for attack in (HONEST, *ATTACKS):
        controls = attack.control.words if isinstance(attack.control, Control) else None
        tried[attack.program] |= {attack.words[0], *(controls or ())[:1]}
        if attack.opponent is not None:
            tried[attack.opponent.program].add(attack.opponent.mode)
    tried[HOARD[0]].add(HOARD[1])
    assert {name: modes_of(name) for name in program_names()} == tried


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

"""Slots of contests in which agents ponder or use threads."""

from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.executor import slots_on_host
from judge.contest.host_setup import place_on_host
from judge.contest.plan import load_plan
from judge.cup.plan import load_cup
from judge.referee.play import Slot
from judge.referee.policy import Policy, load_policy
from judge.sandbox.machine.cores import available, whole_cores

TOO_FEW = r"slots\.cores: {} in policy gomocup-standard need {} cores for a game, and a slot has {}: write cores = {} "
ODD = r"slots\.cores: clock\.ponder = true gives each seat half .* {} is odd: write cores = {} under \[slots\]"


@pytest.mark.parametrize(
    ("changes", "cores", "problem"),
    [
        ("", 1, ""),
        ('"limits.threads=4"', 4, ""),
        ('"clock.ponder=true"', 2, ""),
        ('"clock.ponder=true"', 4, ""),
        ('"clock.ponder=true", "limits.threads=4"', 8, ""),
        ('"limits.threads=4"', 1, TOO_FEW.format("limits.threads = 4", 4, 1, 4)),
        ('"clock.ponder=true"', 1, TOO_FEW.format("clock.ponder = true and limits.threads = 1", 2, 1, 2)),
        ('"clock.ponder=true", "limits.threads=4"', 6, TOO_FEW.format(".*", 8, 6, 8)),
        ('"clock.ponder=true"', 3, ODD.format(3, 4)),
        (
            '"clock.ponder=true", "box.sharing=2"',
            2,
            r"box\.sharing = 2 puts several games on the same cores: write box\.sharing = 1",
        ),
    ],
)
def test_slot_that_does_not_fit_the_policy_is_refused_with_the_fix(
    changes: str, cores: int, problem: str, tmp_path: Path
) -> None:
    league = (
        f'policy = "gomocup-standard"\nchange = [{changes}]\nformat = {{ name = "swiss", rounds = 3 }}\n'
        f"slots = {{ cores = {cores} }}\n"
    )
    plan, cup = tmp_path / "contest.toml", tmp_path / "cup.toml"
    plan.write_text(f'name = "one"\n{league}')
    cup.write_text(f'name = "all"\n[[leagues]]\nname = "one"\n{league}')
    if not problem:
        assert cores == load_plan(plan).plan.slots.cores
        assert cores == load_cup(cup).cup.leagues[0].slots.cores
        return
    with pytest.raises(InputError, match=rf"contest\.toml.*{problem}"):
        load_plan(plan)
    with pytest.raises(InputError, match=rf"cup\.toml.*{problem}"):
        load_cup(cup)


def test_host_without_a_core_for_the_judge_is_refused() -> None:
    most = len(whole_cores())
    assert slots_on_host(most)
    with pytest.raises(
        InputError, match=rf"a game needs {most} cores and the judge one, and this process may use {most}"
    ):
        slots_on_host(most, ponders=True)


def changed(*changes: str) -> Policy:
    return load_policy("gomocup-standard", changes)


@pytest.mark.parametrize(
    ("slot", "changes", "reason"),
    [
        (Slot((1,), (0,)), (), ""),
        (Slot((1, 2), (0,)), ("clock.ponder=true",), ""),
        (Slot((1,), (0,)), ("clock.ponder=true",), "need 2 cores for a game, and a slot has 1"),
        (Slot((1,), (0,)), ("limits.threads=2",), "limits.threads = 2 need 2 cores for a game, and a slot has 1"),
        (Slot((0, 1), (0,)), ("clock.ponder=true",), "needs a slot without the judge's core"),
        (Slot(), ("clock.ponder=true",), "needs a slot without the judge's core"),
    ],
)
def test_worker_whose_slot_does_not_fit_gets_no_games(slot: Slot, changes: tuple[str, ...], reason: str) -> None:
    found = slot.unfit_reason(changed(*changes))

    assert reason in found
    assert bool(reason) == bool(found)


def test_slot_of_a_match_has_the_cores_of_the_policy() -> None:
    before, most = available(), len(whole_cores())
    with pytest.raises(InputError, match=rf"limits\.threads = {most + 1}: a game needs {most + 1} cores"):
        place_on_host(changed(f"limits.threads={most + 1}"))
    assert before == available()

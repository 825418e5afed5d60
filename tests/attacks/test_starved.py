"""Starved is not slow: CPU that others took makes a void, the agent's own waiting does not.

Without others the same agents lose: A1 and V1 in tests/attacks/test_attacks.py.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from judge.attacks.attack import Attack, Expected, Scene
from judge.attacks.runner import Suite
from judge.attacks.table import ATTACKS
from judge.games.types import Verdict
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.referee import blame
from tests.attacks.conftest import again_where_busy
from tests.examples import of_evidence

pytestmark = [pytest.mark.docker, pytest.mark.alone, again_where_busy]

BY_ID = {attack.id: attack for attack in ATTACKS}
BURNS = replace(BY_ID["A1"], earns_void=True)
HAS_EIGHT_THREADS = BY_ID["V1"]
SLEEPS = replace(BY_ID["A2.sleep"], earns_void=True)


def burners(slot: Slot) -> Scene:
    """Two processes of others that want all of the slot's cores while the game is on."""

    @contextmanager
    def scene(_directory: Path) -> Iterator[Mapping[str, str]]:
        with ExitStack() as stack:
            for _ in range(2):
                burner = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
                stack.callback(burner.kill)
                os.sched_setaffinity(burner.pid, slot.cores)
            yield {}

    return scene


@pytest.fixture
def once(slot: Slot) -> Iterator[Suite]:
    """The suite, in which a void game is not played again."""
    with closing(Suite(load_policy("gomocup-fastgame", ["attempts=1"]), slot)) as suite:
        yield suite


STARVED = Expected(verdict=Verdict.VOID, because="the agent was starved: others took ")


@pytest.mark.parametrize("attack", [BURNS, *of_evidence(HAS_EIGHT_THREADS)], ids=["burns", "eight-threads"])
def test_two_burners_on_its_core_make_an_overrun_void(once: Suite, slot: Slot, attack: Attack) -> None:
    trial = once.attack(replace(attack, scene=burners(slot), expected=STARVED))

    assert () == trial.problems
    assert " % of its cores during its time" in trial.reason


def test_seat_that_sleeps_loses_even_on_a_busy_core_if_its_wait_for_the_core_is_measured(
    once: Suite, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It wanted no core: a lost game would be played again whenever the host is busy."""
    trial = once.attack(replace(SLEEPS, scene=burners(slot)))
    assert (Verdict.TURN_TIME, ()) == (trial.verdict, trial.problems)

    monkeypatch.setattr(blame, "WAITED_SHARE", 0.0)
    expected = replace(STARVED, because="the agent was starved")
    assert () == once.attack(replace(SLEEPS, scene=burners(slot), expected=expected)).problems

"""Slots of contests in which agents ponder or use threads."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from judge.attacks.programs import build_attacks
from judge.base.errors import InputError
from judge.contest.begin import begin
from judge.contest.contest import open_store
from judge.contest.executor import LocalExecutor
from judge.contest.host_setup import place_on_host
from judge.contest.plan import load_plan
from judge.contest.runner import ContestRunner, StopReason
from judge.contest.slots import slots_on_host
from judge.cup.plan import load_cup
from judge.host.build_images import build_images
from judge.play.venue import Slot
from judge.publish.export.export import PageOptions, publish
from judge.publish.verify.export import verify_export
from judge.record.policy import Policy, load_policy
from judge.record.spec import read_record
from judge.sandbox.machine.cores import available, split_cores, whole_cores
from judge.transparency.keys import make_key, public_pem
from tests.verify.second_opinion import second_opinion

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
def test_slot_that_does_not_fit_the_policy_is_refused(changes: str, cores: int, problem: str, tmp_path: Path) -> None:
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


def test_host_without_a_core_for_the_judge_and_a_match_without_its_cores_are_refused() -> None:
    before, most = available(), len(whole_cores())
    assert slots_on_host(most)
    why = rf"a game needs {most} cores and the judge one, and this process may use {most}"
    with pytest.raises(InputError, match=why):
        slots_on_host(most, ponders=True)
    with pytest.raises(InputError, match=rf"limits\.threads = {most + 1}: a game needs {most + 1} cores"):
        place_on_host(changed(f"limits.threads={most + 1}"))
    assert before == available()


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


CONTEST = """
name = "cup"
policy = "gomocup-fastgame"
change = ["clock.ponder=true", "game.options.width=10", "game.options.height=10"]
[slots]
cores = 2
[format]
name = "round-robin"
games = 2
[[agents]]
path = "ponderer"
[[agents]]
path = "thinker"
"""


@pytest.mark.docker
@pytest.mark.alone
def test_contest_in_containers_is_played_exported_and_verified(tmp_path: Path) -> None:
    """An agent that computes all the time against one that waits for 100 ms before each answer."""
    cores = whole_cores()
    if len(cores) < 2:
        pytest.skip("pondering needs two cores")
    build_images(["native"])
    folder = tmp_path / "cup"
    for name, command in (("ponderer", '["./cpu", "ponder-process"]'), ("thinker", '["./honest", "think", "100"]')):
        shutil.copytree(build_attacks(), folder / name)
        (folder / name / "agent.toml").write_text(f'name = "{name}"\ncommand = {command}\n')
    (folder / "contest.toml").write_text(CONTEST)
    planned = load_plan(folder)
    # A host with two cores plays no such contest: here the judge shares a core.
    slot = Slot(tuple(sorted(sum(cores[-2:], ()))), cores[0])
    with closing(open_store(planned)) as store, closing(LocalExecutor([slot])) as executor:
        contest = begin(store, planned, {})
        assert StopReason.FINISHED is ContestRunner(contest, executor).run()
        key = make_key(tmp_path / "organiser.key")
        public = tmp_path / "public"
        publish(contest, public, tmp_path / "private", key, PageOptions(languages=("en",)))
    (tmp_path / "organiser.pem").write_bytes(public_pem(key.public_key()))
    report = verify_export(public, tmp_path / "organiser.pem")
    records = [read_record(path).record for path in sorted((public / "records").glob("*.json"))]

    assert [] == list(report.problems)
    assert [] == second_opinion(public, tmp_path / "organiser.pem")
    assert 2 == len(records)
    for record in records:
        ponderer = next(seat for seat in record.seats if seat.name == "ponderer")
        assert (ponderer.cpu_ms or 0) > ponderer.charged_ms
        assert split_cores(slot.cores) == record.placement.seat_cores

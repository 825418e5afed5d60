"""What a contest was begun with: files by their digests, ranks, images, and a document that says it all."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from judge.agents.agents import stage_agent
from judge.agents.manifest import MAX_CHARACTERS
from judge.agents.program_files import program_digest
from judge.agents.store import AgentStore
from judge.base.errors import InputError
from judge.contest.begin import begin
from judge.contest.contest import open_store
from judge.contest.entries import entrants, intake_directory, refuse_many_of_an_author
from judge.contest.plan import AgentPlan, Planned, load_plan
from judge.contest.take_snapshot import check_terms, take_snapshot
from judge.journal.events import SubmissionState
from judge.sandbox.docker.images import find_runtime
from judge.store.types import ProcessingResult, Upload
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import (
    Snapshot,
    commitment_to,
    contest_key,
    ranks_of,
    read_snapshot,
    refuse_large_snapshot,
)
from tests.contest.cups import CHANCE

PLAN = """
name = "cup"
policy = "gomocup-fastgame"
change = ["clock.turn_ms=777"]
seed = 3
[format]
name = "swiss"
rounds = 3
[openings]
file = "openings.txt"
shuffle = true
"""

BRAIN = "#!/usr/bin/env python3\nprint('OK')\n"


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    """Three agents, two of which are the same program."""
    text = PLAN
    (tmp_path / "openings.txt").write_text("h8i9\nj10\n")
    for name, file in (("one", "brain.py"), ("two", "brain.py"), ("three", "other.py")):
        (tmp_path / file).write_text(BRAIN)
        text += f'[[agents]]\npath = "{file}"\nname = "{name}"\n'
    (tmp_path / "contest.toml").write_text(text)
    return load_plan(tmp_path)


def snapshot(planned: Planned, **changes: object) -> Snapshot:
    plan = planned.plan.model_copy(update=changes)
    secret = CHANCE if plan.seed is None else None
    with TemporaryDirectory() as staging:
        return take_snapshot(replace(planned, plan=plan), Path(staging), {}, secret)


@pytest.mark.docker
def test_document_contains_every_term_of_the_contest_and_agents_are_stored_by_content(planned: Planned) -> None:
    """What the organiser does to the originals afterwards is nothing to the contest."""
    found = snapshot(planned)

    assert found == read_snapshot(found.model_dump_json())
    assert 777 == found.policy.clock.turn_ms
    assert (((7, 7), (8, 8)), ((9, 9),)) == found.openings
    assert (3, True, False, "docker") == (found.seed, found.shuffle, found.transform, found.box)
    assert [("one", 1), ("two", 2), ("three", 3)] == [(e.name, e.rank) for e in found.entries]
    assert ["one", "two", "three"] == [entry.seat.name for entry in found.entries]
    assert {"python"} <= found.images.keys() <= {*planned.policy.admits}
    assert find_runtime("python").id == found.images["python"].id
    assert 64 == len(found.images["python"].content)

    one, two, three = (entry.seat.digest for entry in found.entries)
    (planned.folder / "brain.py").unlink()
    assert one == two
    assert {one, three} == AgentStore(planned.agents).digests()
    for digest in (one, three):
        assert digest == program_digest(AgentStore(planned.agents).get(digest))


@pytest.mark.docker
def test_every_snapshot_can_be_read(planned: Planned, tmp_path: Path) -> None:
    """A long agent.toml is refused before it makes the export of all unreadable, and so are too many openings."""
    agent = tmp_path / "brain.d"
    agent.mkdir()
    (agent / "brain.py").write_text(BRAIN)
    words = ["x" * 4000, "y" * (MAX_CHARACTERS - 4300)]
    for long in ("", "z" * 400):
        text = f'name = "one"\ncommand = {json.dumps(["brain.py", *words])}\nruntime = "python"\n'
        (agent / "agent.toml").write_text(f'{text}description = "{long}"\n')
        agents = [AgentPlan(path=str(agent)), *planned.plan.agents[1:]]
        if long:
            with pytest.raises(InputError, match=f"agent.toml: it has more than {MAX_CHARACTERS} characters"):
                snapshot(planned, agents=agents)
        else:
            refuse_large_snapshot(read_snapshot(snapshot(planned, agents=agents).model_dump_json()), "contest.json")

    with pytest.raises(InputError, match="more than 4 MiB of entries and openings"):
        snapshot(planned, about="x" * (4 << 20))


@pytest.mark.docker
def test_ladder_has_the_images_of_agents_that_may_join(planned: Planned) -> None:
    admitted = planned.policy.model_copy(update={"admits": ("native", "python", "missing")})

    found = snapshot(replace(planned, given_policy=admitted), format=Ladder(name="ladder", total_games=9), seed=None)

    assert ["native", "python"] == list(found.images)
    assert find_runtime("native").id == found.images["native"].id


@pytest.mark.docker
def test_ranks_are_those_of_the_named_seeds_or_of_a_secret_that_is_not_revealed(planned: Planned) -> None:
    named = snapshot(planned, seeds=("three", "one"))
    assert [("three", 1), ("one", 2), ("two", 3)] == [(entry.name, entry.rank) for entry in named.entries]

    found = snapshot(planned, seed=None, seeding="drawn")
    assert (None, commitment_to(CHANCE)) == (found.seed, found.commitment)
    assert CHANCE not in found.model_dump_json()
    key = contest_key(CHANCE, found.name)
    assert ranks_of(3, "drawn", key) == [entry.rank for entry in found.entries]


@pytest.mark.parametrize(("most", "is_refused"), [(0, False), (1, True), (2, False)])
def test_agents_of_an_author_are_limited(planned: Planned, tmp_path: Path, most: int, is_refused: bool) -> None:
    """The first author counts; agents without one and house agents do not."""
    for name, author in (("one", "Ada L., Bob"), ("two", "ada  l. and Carl"), ("three", ""), ("four", "")):
        folder = planned.folder / name
        folder.mkdir()
        (folder / "agent.toml").write_text(
            f'name = "{name}"\nauthor = "{author}"\nruntime = "python"\ncommand = ["./brain.py"]\n'
        )
        (folder / "brain.py").write_text(BRAIN)
    listed = tuple(AgentPlan(path=name) for name in ("one", "two", "three", "four"))
    plan = planned.plan.model_copy(update={"agents": listed, "agents_per_author": most})
    chosen = replace(planned, plan=plan)
    staging, missed = tmp_path / "staging", list[InputError]()
    staging.mkdir()
    found = entrants(chosen, staging, missed)
    assert [] == missed
    if not is_refused:
        refuse_many_of_an_author(chosen, found)
        return
    with pytest.raises(InputError, match=r"agents_per_author = 1, and 'Ada L\., Bob' has 2 agents: one, two"):
        refuse_many_of_an_author(chosen, found)


def test_all_seeds_that_do_not_take_part_are_named_in_the_order_of_the_file(planned: Planned, tmp_path: Path) -> None:
    plan = planned.plan.model_copy(update={"seeds": ("nine", "three", "seven", "eight", "five", "six")})
    missed: list[InputError] = []

    entrants(replace(planned, plan=plan), tmp_path, missed)

    assert [
        f"{planned.path}: seeds names {name}, which does not take part"
        for name in ("nine", "seven", "eight", "five", "six")
    ] == [str(error) for error in missed]


@pytest.mark.docker
def test_nothing_is_begun_by_a_contest_that_cannot_be_played(planned: Planned) -> None:
    (planned.folder / "other.py").rename(planned.folder / "away")
    with closing(open_store(planned)) as store:
        with pytest.raises(InputError, match="there is no file or directory"):
            begin(store, planned, {})
        assert [] == store.contest_names()

        (planned.folder / "away").rename(planned.folder / "other.py")
        assert 6 == len(begin(store, planned, {}).store.games("cup")) * 3
        assert not begin(store, planned, {}).has_new_plan
        (planned.folder / "contest.toml").write_text(planned.text + "# a remark\n")
        assert begin(store, load_plan(planned.folder), {}).has_new_plan


def test_invalid_contest_is_refused() -> None:
    with pytest.raises(InputError, match="not a contest of this judge: it should be a table with the keys: document"):
        read_snapshot("[]")
    with pytest.raises(InputError, match="not a contest of this judge: the key 'judge' is missing"):
        read_snapshot('{"document": "judge-contest-1"}')


def test_submission_with_the_name_of_a_listed_agent_is_named_with_the_fix(planned: Planned) -> None:
    (planned.folder / "contest.toml").write_text(PLAN)
    with closing(intake_directory(planned).register()) as register:
        agent = stage_agent(str(planned.folder / "brain.py"), planned.folder)
        described = json.dumps(
            {"manifest": agent.manifest.model_dump(mode="json"), "program": agent.digest, "executables": []}
        )
        for name in ("Three", "free"):
            taken = register.receive(Upload("ada", name, "a.zip", "a" * 64, 1), worker="w")
            result = ProcessingResult("", name, agent.digest, described, None, None)
            assert SubmissionState.PASSED == register.finish(taken.id, taken.attempt, result).state, name
    (planned.folder / "contest.toml").write_text(planned.text)

    path = planned.folder / "contest.toml"
    with pytest.raises(InputError) as refused:
        check_terms(planned)
    assert (
        f"{path}: 'other.py' in [[agents]] and submission 1 of 'ada' are called 'three' and 'Three', which differ only "
        "by case: give the first another name =, or withdraw the second: "
        f"judge submissions withdraw 1 {path} --why REASON"
    ) == str(refused.value)
    with closing(intake_directory(planned).register()) as register:
        register.withdraw(1, "Olga", "a listed agent has its name")
    check_terms(planned)


def test_more_pairings_than_a_contest_may_have_are_refused_before_the_start(planned: Planned) -> None:
    path = planned.folder / "contest.toml"
    form = 'name = "round-robin"\ncycles = 400000'
    path.write_text(planned.text.replace('name = "swiss"\nrounds = 3', form))
    with pytest.raises(InputError, match="more than 1000000 pairings; use fewer groups and cycles"):
        check_terms(load_plan(path))

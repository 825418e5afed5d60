"""From which states folders may start in a published contest: from what was frozen, then from what games left."""

from pathlib import Path

import pytest

from judge.contest.contest import Contest
from judge.publish.verify.export import verify_export
from judge.publish.verify.records import VerifiedRecord, chain_problems
from judge.record.spec import KeptFolders
from judge.sandbox.archive import EMPTY, pack_folder
from judge.sandbox.box import FolderKind
from judge.tournament.snapshot import SnapshotEntry
from tests.broadcast.logs import PAIR
from tests.publish.cups import Cup

FROZEN, LEFT = "a" * 64, "b" * 64
AGENTS = [("one", "two"), ("two", "one")]


def game(number: int, begun: str, left: str, seat: int) -> VerifiedRecord:
    """A game of the agent that keeps something, in this seat; the other keeps nothing."""
    empty = {FolderKind.PERSISTENT: EMPTY.digest}
    states = [{FolderKind.PERSISTENT: begun}, {FolderKind.PERSISTENT: left}]
    begin, end = ((state, empty) if seat == 0 else (empty, state) for state in states)
    return VerifiedRecord(
        number=number,
        directory=Path(),
        name=f"game {number}",
        game_id="",
        spec="",
        attempt=1,
        why="",
        state="accepted",
        names=("one", "two"),
        seed=0,
        openings=((),),
        begun=begin,
        left=end,
    )


def test_contest_continues_from_the_locked_in_states() -> None:
    games = [game(0, FROZEN, LEFT, 0), game(1, LEFT, LEFT, 1)]

    assert [] == chain_problems(games, AGENTS, {"one": FROZEN})
    (problem,) = chain_problems(games, AGENTS, {})
    assert problem.startswith("game 0: one's persistent folder starts from a state that no earlier game")


def test_a_frozen_state_cannot_be_left_out() -> None:
    games = [game(0, EMPTY.digest, LEFT, 0)]

    assert 1 == len(chain_problems(games, AGENTS[:1], {"one": FROZEN}))
    assert [] == chain_problems(games, AGENTS[:1], {})


def test_game_that_starts_from_a_state_that_no_game_left_is_found_in_an_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = pack_folder({b"book": b"7,7"})

    def folders(_: Contest, agent: SnapshotEntry, _number: int) -> KeptFolders:
        return KeptFolders(name=agent.calls_itself, temporary=EMPTY.digest, persistent=given.digest)

    monkeypatch.setattr(Contest, "_folders", folders)
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 2') as cup:
        cup.contest.files.put(given.data)
        cup.play()
        public = cup.export(tmp_path)
    problems = verify_export(public.directory, public.public_key).problems

    assert any("persistent folder starts from a state that no earlier game left" in each for each in problems)

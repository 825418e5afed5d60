"""Folders that agents keep through a contest, in real containers: each game starts from what the one before left."""

import json
from pathlib import Path

import pytest

from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.host.build_images import build_images
from tests.cli.conftest import SHORT_CLOCK, TINY, Judge
from tests.cli.contests import write_contest
from tests.cli.test_folders import remains, write

PAUSES = (*SHORT_CLOCK, *TINY, "clock.starved_share=1")


LEARNER = """
[[agents]]
path = "pbrain-count.py"
name = "pbrain-count"
[[agents]]
path = "house-instant"
name = "{other}"
"""


def write_cup(folder: Path, more: str = "", other: str = "house-instant") -> None:
    """A contest of two games between an agent that counts its visits and one that does not."""
    folder.mkdir()
    write(folder, pause=0)
    write_contest(folder, [], change=PAUSES)
    plan = folder / "contest.toml"
    plan.write_text(plan.read_text() + more + LEARNER.format(other=other))


@pytest.mark.long
@pytest.mark.docker
def test_learned_state_carries_over_between_contests(judge: Judge, tmp_path: Path) -> None:
    """By the file's word, by export and import, and to `judge match` and back; every step verified."""
    build_images(["native", "python", "keeper"])
    write_cup(tmp_path / "one")

    planned = judge("contest", "plan", "one")
    ran = judge("contest", "run", "one")

    assert "folders  the agents' persistent folders begin empty" in planned.out
    assert 0 == ran.code, ran.err
    assert "the agents' persistent folders begin empty" in ran.err
    assert ["0 of the run, 0 ever", "1 of the run, 1 ever"] == counted(tmp_path / "one")["pbrain-count"]

    # The second contest names the first.
    write_cup(tmp_path / "two", '[folders]\nfrom = "../one"\n', other="newcomer")
    planned = judge("contest", "plan", "two")
    assert "with those of ../one; pbrain-count; empty: newcomer" in planned.out
    ran = judge("contest", "run", "two")
    assert 0 == ran.code, ran.err
    assert ["0 of the run, 2 ever", "1 of the run, 3 ever"] == counted(tmp_path / "two")["pbrain-count"]
    status = judge("contest", "status", "two")
    assert "begin with those of ../one; pbrain-count" in status.out
    log = judge("contest", "log", "two")
    start = json.loads(judge("contest", "folders", "list", "one", "--json").out)["folders"][0]
    assert start["state"] in log.out
    late = judge("contest", "folders", "import", "learned", "two")
    assert (2, True) == (late.code, "has begun and is locked in" in late.err)

    # What was published verifies, and says it when a game began with something else.
    assert 0 == judge("contest", "key", "two/organiser.key").code
    assert 0 == judge("contest", "export", "published", "two").code
    verified = judge("contest", "verify", "published", "--key", "two/organiser.pem")
    assert 0 == verified.code, verified.out + verified.err

    # Taken out, and brought into a third.
    out = judge("contest", "folders", "export", "learned", "two")
    assert (0, True) == (out.code, "wrote learned: 1 folders" in out.out), out.err
    assert "--force replaces it" in judge("contest", "folders", "export", "learned", "two").err
    assert 0 == judge("contest", "folders", "export", "learned", "two", "--force").code
    assert "exported to learned" in judge("contest", "log", "two").out
    write_cup(tmp_path / "three")
    brought = judge("contest", "folders", "import", "learned", "three")
    assert 0 == brought.code, brought.err
    assert "begin with those of learned; pbrain-count; empty: house-instant" in judge("contest", "plan", "three").out
    ran = judge("contest", "run", "three")
    assert 0 == ran.code, ran.err
    assert ["0 of the run, 4 ever", "1 of the run, 5 ever"] == counted(tmp_path / "three")["pbrain-count"]

    # `judge match` goes on from there, and a contest from what that leaves.
    sets = [word for change in PAUSES for word in ("--set", change)]
    game = judge(
        "match", "three/pbrain-count.py", "house-instant", "--policy", "gomocup-fastgame",
        "--folders", "learned", "--json", *sets,
    )  # fmt: skip
    record = json.loads((tmp_path / game.games[0]["record"]).read_text())["record"]
    assert "0 of the run, 4 ever" == record["seats"][0]["about"]["name"]
    write_cup(tmp_path / "four", '[folders]\nfrom = "../learned"\n')
    assert "with those of ../learned; pbrain-count" in judge("contest", "plan", "four").out
    assert [] == remains()


def counted(folder: Path) -> dict[str, list[str]]:
    """What each agent found in its folders, in the order of the schedule."""
    planned = load_plan(folder)
    store = open_store(planned)
    found: dict[str, list[str]] = {}
    try:
        contest = Contest(store, planned)
        for result in contest.results():
            for seat in contest.record(result.record).record.seats:
                found.setdefault(seat.name, []).append(seat.about["name"])
    finally:
        store.close()
    return found

"""A ladder with its running service: agents and new versions that authors upload join it, and the verifiers follow."""

import time
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import httpx

from judge.agents.program_files import program_digest
from judge.contest.entries import intake_directory
from judge.contest.orders import enter_passed
from judge.contest.plan import load_plan
from judge.statistics.online_ratings import Prior
from judge.store.types import WITHDRAWN
from judge.submissions.pipeline import OnStep, Processor, UploadJob, UploadOutcome
from judge.tournament.ladder import LadderHistory, follow
from judge.verify.export import verify_export
from tests.contests import nothing
from tests.publish.cups import STRONG_TO_WEAK, Cup, player
from tests.verify.second_opinion import second_opinion
from tests.verify.test_ladder import FAILURES, FORM
from tests.web.intake.conftest import POLL_INTERVAL_S, ended, make_token, send
from tests.web.intake.standing_in import process
from tests.web.live.serving import serving_all

INTAKE = """
[intake]
practice_games = 0
tries = 1
requests_per_minute = 100000
address_requests_per_minute = 100000
"""
GATE = f"judge.cli.submit:hosting={__name__}:hosting"


def hosting(*_: object) -> tuple[Processor, None]:
    """In place of `judge.cli.submit.hosting`."""
    return with_files, None


def with_files(job: UploadJob, tell: OnStep) -> UploadOutcome:
    """The check for tests, of an agent whose files are the upload."""
    found = process(job, tell)
    assert found.agent is not None
    staged = job.agents / "staged"
    staged.mkdir()
    (staged / "five").write_bytes(job.upload.read_bytes())
    digest = program_digest(staged)
    if (job.agents / digest).exists():
        rmtree(staged)
    else:
        staged.rename(job.agents / digest)
    assert found.report is not None
    return replace(
        found,
        agent=replace(found.agent, program=job.agents / digest, digest=digest),
        report=found.report.model_copy(update={"digest": digest}),
    )


def test_uploaded_agent_and_its_new_version_join_play_and_verify(tmp_path: Path) -> None:
    cast = {**STRONG_TO_WEAK, "zoe": player("zoe", 0.7), "zoe.2": player("zoe.2", 0.9)}
    with Cup(tmp_path / "cup", cast, FORM + INTAKE, FAILURES, first=4, drawn=nothing) as cup:
        cup.contest.enter_passed = enter_passed
        cup.play(5)
        directory = intake_directory(load_plan(cup.folder))
        token = make_token(directory, "eve")
        with serving_all(cup.folder, without=(GATE,)) as service, service.client(token) as eve:
            submitted(eve, "good zoe", 1)
            cup.play(8)
            assert games_of(cup, "zoe")
            assert "zoe" in eve.get("/index.html").text
            submitted(eve, "good new zoe", 2)
            cup.play(6)
            assert len(games_of(cup, "zoe.2")) > 1
            # Pages are read again after a while.
            while "zoe.2" not in eve.get("/index.html").text:
                time.sleep(POLL_INTERVAL_S)
            cup.play()
        entered = cup.store.last_lines(cup.contest.name, 9, "entered", WITHDRAWN)[::-1]
        assert [
            ("entered", "zoe: its check passed"),
            ("entered", "zoe.2: new version of zoe: its check passed"),
            (WITHDRAWN, "zoe: zoe.2 replaces it"),
        ] == [(line.event, line.text) for line in entered]
        leaves = {line.number: line for line in cup.store.leaves(cup.contest.name, 0, 10_000)}
        assert all(leaves[line.number] == line for line in entered)
        assert version_prior(cup) == prior_in_ladder(cup)
        last = cup.store.games(cup.contest.name)[-1]
        assert last.number == 24
        assert max(game.number for game in games_of(cup, "zoe")) < min(game.number for game in games_of(cup, "zoe.2"))
        public = cup.export(tmp_path)
    report = verify_export(public.directory, public.public_key)
    assert [] == list(report.problems)
    assert report.is_over
    assert [] == second_opinion(public.directory, public.public_key)


def test_author_leaves_on_the_page_returns_with_the_same_files_and_verifiers_follow(tmp_path: Path) -> None:
    cast = {**STRONG_TO_WEAK, "zoe": player("zoe", 0.7), "zoe.2": player("zoe.2", 0.7)}
    with Cup(tmp_path / "cup", cast, FORM + INTAKE, FAILURES, first=4, drawn=nothing) as cup:
        cup.contest.enter_passed = enter_passed
        cup.play(5)
        token = make_token(intake_directory(load_plan(cup.folder)), "eve")
        with (
            serving_all(cup.folder, without=(GATE,)) as service,
            service.client(token) as eve,
            httpx.Client(base_url=service.url, cookies={"judge-author": token}, timeout=60) as browser,
        ):
            submitted(eve, "good zoe", 1)
            cup.play(5)
            assert games_of(cup, "zoe")
            drawn = len(cup.store.games(cup.contest.name))
            site = {"sec-fetch-site": "same-origin"}
            for _ in range(2):
                assert 303 == browser.post("/author/agents", data={"name": "zoe"}, headers=site).status_code
            assert "You no longer take part: withdrawn by its author" in browser.get("/author/index.html").text
            assert 409 == eve.post("/submissions/1/challenges", params={"opponent": "anna"}).status_code
            cup.play(4)
            assert all(game.number <= drawn for game in games_of(cup, "zoe"))
            submitted(eve, "good zoe", 2)
            cup.play(6)
            assert "You take part with version 2" in browser.get("/author/index.html").text
            assert "withdrawn" == eve.post("/submissions/2/withdrawal").json()["state"]
            cup.play()
        left = cup.store.last_lines(cup.contest.name, 9, WITHDRAWN)[::-1]
        assert [f"{agent}: withdrawn by its author" for agent in ("zoe", "zoe.2")] == [line.text for line in left]
        assert {"eve"} == {line.who for line in left}
        assert games_of(cup, "zoe.2")
        public = cup.export(tmp_path)
    report = verify_export(public.directory, public.public_key)
    assert [] == list(report.problems)
    assert report.is_over
    assert [] == second_opinion(public.directory, public.public_key)
    assert b'"eve"' not in b"".join(path.read_bytes() for path in public.directory.glob("data/*.json"))


def submitted(client: httpx.Client, content: str, version: int) -> None:
    found = ended(client, send(client, content))
    assert ("passed", "zoe", version) == (found["state"], found["name"], found["version"])


def games_of(cup: Cup, agent: str) -> list[Any]:
    return [game for game in cup.store.games(cup.contest.name) if agent in (game.first, game.second)]


def replayed(cup: Cup, *, until: str = "") -> LadderHistory:
    """The ladder before the line of an event, or at the end."""
    contest = cup.contest
    contest.refresh()
    results = {result.id: result for result in contest.results()}
    entry_of = contest.snapshot.by_name().__getitem__
    history = LadderHistory(contest.first, contest.tournament.seed or 0, lambda game, _: results[game], entry_of)
    for line in cup.store.journal(contest.name):
        if until and line.text.startswith(until):
            break
        follow(history, [line], cup.store.pairings(contest.name), cup.store.games(contest.name))
    return history


def version_prior(cup: Cup) -> Prior:
    """The parent's rating at the entry of its version, with a wider deviation."""
    rating = replayed(cup, until="zoe.2: ").ratings.rating("zoe")
    return Prior(rating.elo, (rating.deviation**2 + 200**2) ** 0.5)


def prior_in_ladder(cup: Cup) -> Prior:
    return replayed(cup)._priors["zoe.2"]

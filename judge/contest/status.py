"""The progress of a contest as JSON values."""

import dataclasses
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge.contest.contest import Contest
from judge.contest.entries import equal_files, intake_directory, name_problems
from judge.contest.plan import Planned
from judge.contest.run_lock import has_player, player_of
from judge.contest_games import GameState
from judge.contest_view.documents import agents_document, listed_game
from judge.contest_view.values import chance_words
from judge.contest_view.view import ContestView
from judge.journal.events import SubmissionState
from judge.sandbox.machine.cores import holders_here
from judge.store.submission_queries import RegisterReader

if TYPE_CHECKING:
    from judge.statistics.fairness import FairnessTest


def _fairness(contest: Contest) -> "Sequence[FairnessTest]":
    from judge.contest_view.values import conditions_of
    from judge.statistics.fairness import fairness_tests

    results = contest.view().results
    conditions = [conditions_of(contest.record(result.record).record) for result in results]
    return fairness_tests(results, conditions)


_UNENTERED = {
    SubmissionState.RECEIVED: "waiting",
    SubmissionState.PROCESSING: "waiting",
    SubmissionState.FAILED: "refused",
    SubmissionState.REFUSED: "refused",
}


def status_before(planned: Planned) -> dict[str, Any]:
    """The state of a contest that has not begun, without creating a store."""
    from judge.contest.run_process import last_words

    windows = planned.plan.windows
    document: dict[str, Any] = {
        "contest": planned.name,
        "state": "not begun",
        "is_over": False,
        "agents": [agent.name or str(agent.path) for agent in planned.plan.agents],
        "problems": name_problems(planned, ()),
        "entries": [],
        "copies": [],
        "submissions": {},
        "waiting": [],
        "refused": [],
        "schedule": {key: at.isoformat() for key, at in windows.moments},
        "words": windows.words,
        "starts_by_itself": windows.starts is not None,
        "is_served": has_player(planned.folder, planned.name),
    }
    if not planned.has_no_store:
        with closing(intake_directory(planned).register()) as register:
            entries = register.entries()
            document["entries"] = [{"name": entry.name, "author": entry.author} for entry in entries]
            document["problems"] = name_problems(planned, entries)
            document["copies"] = equal_files((each.name, {each.digest or each.upload, each.upload}) for each in entries)
            counts = register.counts()
            for each in register.submissions():
                if (key := _UNENTERED.get(each.state)) is not None:
                    name = each.name or each.filename
                    document[key].append({"id": each.id, "name": name, "author": each.author, "why": each.why})
        document["submissions"] = {state.value: count for state, count in counts.items() if count}
    if windows.starts is not None and windows.starts <= datetime.now(UTC) and (why := last_words(planned)):
        document["problems"] = [*document["problems"], f"it was not started at its time: {why}"]
    return document


def status_of(contest: Contest, games: bool = False, tested: bool = False, agents: bool = False) -> dict[str, Any]:
    """The state of a contest; `games`: with all games, `agents`: with all agents, `tested`: with the tests of its
    hosts.
    """
    from judge.contest.hosts import contest_hosts
    from judge.contest.runner import again_at

    view, tests = contest.view(), _fairness(contest) if tested else ()
    is_over, withheld_from = view.is_over, contest.store.withheld_from(contest.name)
    secret = view.secret if withheld_from is None else None
    document: dict[str, Any] = {
        "contest": contest.name,
        "state": contest.store.state(contest.name),
        "is_over": is_over,
        "player": None if is_over else player_of(contest.planned.folder) or contest.store.lease_holder(contest.name),
        "games": dict(view.counts),
        "to_come": view.to_come.games,
        "is_exact": view.to_come.is_exact or is_over,
        "chance": {
            "seed": view.snapshot.seed,
            "commitment": view.snapshot.commitment,
            "secret": secret,
            "words": chance_words(view.snapshot, secret),
        },
        "withheld_from": withheld_from,
        "folders": contest.folders_notice,
        "hosts": [dataclasses.asdict(host) for host in contest_hosts(contest.store, contest.name, tests)],
        "cores": {} if is_over else {core: who for core, who in holders_here().items() if who},
        "disqualified": view.disqualified,
        "withdrawn": view.withdrawn,
        "copies": _same_files(contest, view),
        "failures": view.failures,
        "again_at": again_at(contest.store, contest.name) if view.counts[GameState.HELD] else None,
    }
    if games or view.counts[GameState.HELD]:
        document["list"] = [listed_game(view, game) for game in view.games if games or game.state == GameState.HELD]
    if agents:
        document["agents"] = agents_document(view)["agents"]
    return document


def _same_files(contest: Contest, view: ContestView) -> list[str]:
    register = RegisterReader.for_contest(contest.store, contest.name)
    uploads = {each.id: each.upload for each in register.submissions()}
    entries = [each for each in view.snapshot.entries if each.name not in view.absent]
    return equal_files(
        (each.name, {each.seat.digest, uploads.get(each.submission or 0, "")} - {""}) for each in entries
    )

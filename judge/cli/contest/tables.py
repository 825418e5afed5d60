"""`judge contest status`, `standings`, `crosstable` and `log`."""

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from judge.base.text import printable, titled
from judge.cli.certainty import print_certainty_words
from judge.cli.contest.options import opened, opened_if_begun
from judge.cli.ladder import ladder_document, print_ladder
from judge.cli.options import HERE, ContestArgument, JsonOption
from judge.contest.contest import Contest, Standing, open_store
from judge.contest.entries import equal_files, intake_directory, name_problems
from judge.contest.hosts import contest_hosts
from judge.contest.plan import Planned, load_plan
from judge.contest.run_lock import player_of
from judge.contest.runner import again_at
from judge.contest.window_keeper import has_window_keeper
from judge.contest_games import GameState, copies
from judge.journal.events import SubmissionState
from judge.publish.model import chance_words
from judge.sandbox.machine.cores import holders_here
from judge.statistics.copies import copies_sentences
from judge.statistics.sprt import SprtState
from judge.terminal.contest_tables import print_crosstable, standings_table
from judge.terminal.output import print_json, print_table
from judge.tournament.formats.sequential import Sequential
from judge.tournament.points import points_table
from judge.tournament.results import without

if TYPE_CHECKING:
    from judge.statistics.fairness import FairnessTest
    from judge.tournament.certain_places import StageCertainty


def status(
    contest: ContestArgument = HERE,
    games: Annotated[bool, typer.Option("--games", help="List every game.")] = False,
    hosts: Annotated[
        bool, typer.Option("--hosts", help="Test whether times or results of a host are unusual; reads every record.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the progress of a contest, its hosts, agents that fail, and games that are void or stopped."""
    planned = load_plan(contest)
    with opened_if_begun(planned) as found:
        document = status_before(planned) if found is None else status_of(found, games, hosts)
    if as_json:
        print_json(document, indent=None)
        return
    if found is None:
        print_status_before(document, planned.plan.title)
        return
    counts = document["games"]
    total = sum(counts.values()) - counts["cancelled"] + document["to_come"]
    state = "over" if document["is_over"] else document["state"]
    of = "of" if document["is_exact"] else "of at least"
    is_idle = state == "open" and document["player"] is None
    is_interrupted = is_idle and counts["running"] > 0
    if is_interrupted:
        state = "interrupted"
    elif state == "open" and any(host["running"] and host["lost_since"] is None for host in document["hosts"]):
        state = "playing"
    name = printable(titled(document["contest"], found.snapshot.title))
    print(f"{name}: {state}, {counts['done']} {of} {total} games done")
    running = "interrupted" if is_interrupted else "running"
    shown = [f"{count} {running if word == 'running' else word}" for word, count in counts.items() if count]
    shown += [f"{document['to_come']} to be drawn"] if document["to_come"] else []
    print(f"  {', '.join(shown)}")
    if is_idle:
        print(
            f"  continue      no judge plays the contest; judge contest run {printable(str(contest), 200)} continues it"
        )
    print(f"  chance        {document['chance']['words']}")
    if document["folders"]:
        print(f"  folders       {printable(document['folders'], 2000)}")
    for host in document["hosts"]:
        print(f"  host          {printable(host['name'], 80)}: {_host_words(host, running)}")
        for what in host["stands_out"]:
            print(f"  unusual       {printable(host['name'], 80)}: {printable(what)}")
    for core, holder in document["cores"].items():
        print(f"  core {core:<8} {printable(holder, 200)} has it")
    for agent, why in document["disqualified"].items():
        print(f"  disqualified  {printable(agent)}: {printable(why)}")
    for agent, why in document["withdrawn"].items():
        print(f"  withdrawn     {printable(agent)}: {printable(why)}")
    for agent, count in document["failures"].items():
        print(f"  failures      {printable(agent)}: {count}")
    _print_copies(document)
    if document["again_at"]:
        print(f"  set aside     retried when nothing else can be played, not before {document['again_at']}")
    has_rounds = found.snapshot.format.has_rounds
    for game in document.get("list", []):
        words = f"round {game['round']:<3} " if has_rounds else ""
        print(
            f"  {game['number']:>5}  {game['id'][:8]}  {words}{printable(game['first'], 24)} - "
            f"{printable(game['second'], 24)}  {game['state']}  {printable(game['why'], 60)}".rstrip()
        )


def _host_words(host: Mapping[str, Any], running: str) -> str:
    parts = [] if host["slots"] is None else [f"{host['slots']} slots"]
    parts += [f"{host['running']} {running}", f"{host['played']} played", f"{host['voids']} void"]
    if host["lost_since"] is not None:
        parts.append(f"lost since {host['lost_since']}")
    if host["barred"]:
        parts.append(f"given no games: {printable(host['barred'])}")
    return ", ".join(parts)


def _fairness(contest: Contest) -> "Sequence[FairnessTest]":
    from judge.publish.conditions import conditions_of
    from judge.site.game_files import read_stored
    from judge.statistics.fairness import fairness_tests

    results = contest.store.results(contest.name)
    conditions = [conditions_of(read_stored(contest.planned.files, result.record).record) for result in results]
    return fairness_tests(results, conditions)


_UNENTERED = {
    SubmissionState.RECEIVED: "waiting",
    SubmissionState.PROCESSING: "waiting",
    SubmissionState.FAILED: "refused",
    SubmissionState.REFUSED: "refused",
}


def status_before(planned: Planned) -> dict[str, Any]:
    """The state of a contest that has not begun, without creating a store."""
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
        "moments": {key: at.isoformat() for key, at in windows.moments},
        "words": windows.words,
        "starts_by_itself": windows.starts is not None,
        "is_served": has_window_keeper(planned),
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
    return document


def print_status_before(document: Mapping[str, Any], title: str) -> None:
    """Print `status_before` with the time until each deadline."""
    print(f"{printable(titled(document['contest'], title))}: not begun")
    if document["words"]:
        print(f"  {document['words']}")
    elif not document["moments"]:
        print("  not scheduled: judge contest run begins it")
    for key, at in document["moments"].items():
        left = datetime.fromisoformat(at) - datetime.now(UTC)
        if left > timedelta():
            print(f"  {key:<13} in {_time_left(left)}")
    if document["starts_by_itself"] and document["is_served"]:
        print("  judge serve is running here and starts it then")
    elif document["starts_by_itself"]:
        print("  judge serve is not running here: start it, because it starts the contest")
    for name in document["agents"]:
        print(f"  agent         {printable(name, 80)}")
    for entry in document["entries"]:
        print(f"  entry         {printable(entry['name'], 80)} of {printable(entry['author'], 80)}")
    for key in ("waiting", "refused"):
        for each in document[key]:
            why = f": {printable(each['why'], 200)}" if each["why"] else ""
            print(f"  {key:<13} {each['id']}, {printable(each['name'], 80)} of {printable(each['author'], 80)}{why}")
    _print_copies(document)
    for problem in document["problems"]:
        print(f"  problem       {printable(problem, 2000)}")
    shown = [f"{count} {state}" for state, count in document["submissions"].items()]
    if shown:
        print(f"  submissions   {', '.join(shown)}")


def _print_copies(document: Mapping[str, Any]) -> None:
    for same in document["copies"]:
        print(f"  copies        {printable(same, 2000)}")


def _time_left(left: timedelta) -> str:
    if left < timedelta(minutes=1):
        return f"{left.seconds + 1} s"
    hours, minutes = left.seconds // 3600, left.seconds // 60 % 60
    return f"{left.days} d {hours} h" if left.days else f"{hours} h {minutes} min" if hours else f"{minutes + 1} min"


def status_of(contest: Contest, games: bool = False, tested: bool = False) -> dict[str, Any]:
    """The state of a contest; `games`: with all games, `tested`: with the tests of its hosts."""
    tests = _fairness(contest) if tested else ()
    # There may be 100,000 results. The number of games of most formats does not depend on them.
    results = contest.store.results(contest.name, failed=contest.snapshot.format.counts_games)
    standing, to_come, is_over = contest.standing(results), contest.to_come(results), contest.is_over(results)
    failures = {line.agent: line.done.failures for line in standing.table.lines if line.done.failures}
    counts = contest.store.counts(contest.name)
    listed = contest.store.games(contest.name) if games or counts[GameState.HELD] else []
    held = {game.id for game in listed if game.state == GameState.HELD}
    document: dict[str, Any] = {
        "contest": contest.name,
        "state": contest.store.state(contest.name),
        "is_over": is_over,
        "player": None if is_over else player_of(contest.planned) or contest.store.lease_holder(contest.name),
        "games": {state.value: count for state, count in counts.items()},
        "to_come": to_come.games,
        "is_exact": to_come.is_exact or is_over,
        "chance": _chance(contest, is_over),
        "folders": contest.folders_notice,
        "hosts": [dataclasses.asdict(host) for host in contest_hosts(contest.store, contest.name, tests)],
        "cores": {} if is_over else {core: who for core, who in holders_here().items() if who},
        "disqualified": dict(standing.disqualified),
        "withdrawn": dict(standing.withdrawn),
        "copies": _same_files(contest, {*standing.out, *standing.withdrawn}),
        "failures": dict(sorted(failures.items(), key=lambda found: (-found[1], found[0]))),
        "again_at": again_at(contest.store, contest.name) if held else None,
    }
    shown = [game for game in listed if games or game.id in held]
    if shown:
        document["list"] = [
            {
                "number": game.number,
                "id": game.id,
                "round": game.round,
                "first": game.first,
                "second": game.second,
                "state": game.state,
                "attempts": game.attempt,
                "why": game.why,
            }
            for game in shown
        ]
    return document


def _same_files(contest: Contest, gone: Collection[str]) -> list[str]:
    with closing(intake_directory(contest.planned).register()) as register:
        uploads = {each.id: each.upload for each in register.submissions()}
    entries = [each for each in contest.snapshot.entries if each.name not in gone]
    return equal_files(
        (each.name, {each.seat.digest, uploads.get(each.submission or 0, "")} - {""}) for each in entries
    )


def _chance(contest: Contest, is_over: bool) -> dict[str, Any]:
    snapshot = contest.snapshot
    secret = contest.secret if is_over else None
    return {
        "seed": snapshot.seed,
        "commitment": snapshot.commitment,
        "secret": secret,
        "words": chance_words(snapshot, secret),
    }


def standings(contest: ContestArgument = HERE, as_json: JsonOption = False) -> None:
    """Print the standings, with ratings and their 95 % intervals. Before the start: entries and start time."""
    from judge.publish.load import load_store

    planned = load_plan(contest)
    with opened_if_begun(planned) as found:
        if found is None:
            before = status_before(planned)
            if as_json:
                print_json(before | {"ranking": [], "lines": []}, indent=None)
            else:
                print_status_before(before, planned.plan.title)
            return
        standing = found.standing()
        title, test, words = found.name, sequential(found, standing), found.snapshot.format.places_by
        state = _state_words(found)
        certainty = _certainty(found, standing)
        counted = [game for each in without(standing.played, standing.out) for game in each.games]
        repeated = len(copies(counted)), len(counted)
        ladder = None if found.snapshot.format.has_rounds else load_store(found)
    if as_json:
        ranges = {agent: ends for stage in certainty for agent, ends in stage.ranges.items()}
        lines = []
        for line in standing.table.lines:
            low, high = ranges.get(line.agent, (None, None))
            stage = standing.stages.get(line.agent, "")
            lines.append(dataclasses.asdict(line) | {"stage": stage, "low": low, "high": high})
        document: dict[str, Any] = {
            "contest": title,
            "ranking": standing.table.ranking,
            "lines": lines,
            "copies": repeated[0],
        }
        document |= {} if ladder is None else {"ladder": ladder_document(ladder)}
        print_json(document | ({} if test is None else {"sprt": dataclasses.asdict(test)}), indent=None)
        return
    if ladder is None:
        console = Console(highlight=False)
        table = standings_table(standing, certainty, has_boxes=not console.options.ascii_only)
        table.title = Text(printable(titled(title, found.snapshot.title)))
        print_table(table, console)
    else:
        print_ladder(ladder)
    print(state)
    print_certainty_words(certainty, has_brackets=ladder is None)
    for words_of_copies in copies_sentences(*repeated):
        print(words_of_copies)
    if words:
        print(words)
    for agent, why in standing.disqualified.items():
        print(f"disqualified: {printable(agent)}: {printable(why)}")
    for agent, why in standing.withdrawn.items():
        print(f"withdrawn: {printable(agent)}: {printable(why)}")
    if test is not None:
        print(f"sequential test: LLR {test.llr:.2f} ({test.lower:.2f} to {test.upper:.2f}): {test.decision}")


def _state_words(contest: Contest) -> str:
    if contest.is_over():
        return "Final."
    counts, to_come = contest.store.counts(contest.name), contest.to_come()
    total = sum(counts.values()) - counts[GameState.CANCELLED] + to_come.games
    return f"Not finished: {counts[GameState.DONE]} of {'' if to_come.is_exact else 'at least '}{total} games"


def _certainty(contest: Contest, standing: Standing) -> "Sequence[StageCertainty]":
    if not contest.snapshot.format.orders_by_strength:
        return ()
    from judge.tournament.certain_places import certain_places

    points = None if contest.snapshot.duel is not None else points_table(contest.snapshot.policy)
    return certain_places(
        standing.table,
        standing.stages,
        standing.played,
        standing.out,
        points=points,
        is_running=not contest.is_over(),
        has_rounds=contest.snapshot.format.has_rounds,
    )


def sequential(contest: Contest, standing: Standing) -> SprtState | None:
    """The state of the sequential test; None for other formats."""
    chosen = contest.snapshot.format
    if not isinstance(chosen, Sequential):
        return None
    return chosen.state(contest.tournament.entries(), standing.played)


def crosstable(contest: ContestArgument = HERE, as_json: JsonOption = False) -> None:
    """Print the crosstable: the points of the row's agent, and its wins, draws and losses."""
    with opened(contest) as found:
        standing = found.standing()
    cells = standing.table.crosstable
    if as_json:
        rows = [
            [dataclasses.asdict(row[column]) if column in row else None for column in cells] for row in cells.values()
        ]
        print_json({"agents": list(cells), "rows": rows}, indent=None)
        return
    print_crosstable(Console(highlight=False), cells)


def log(contest: ContestArgument = HERE, as_json: JsonOption = False) -> None:
    """Print the contest's journal: time, actor, event, and the reason of every void."""
    planned = load_plan(contest)
    if planned.has_no_store:
        print("[]" if as_json else f"{planned.name}: not begun, and its journal is empty")
        return
    with closing(open_store(planned)) as store:
        lines = store.journal(planned.name)
        number = {each.id: each.number for each in store.games(planned.name)}
    if not lines and not as_json:
        print(f"{planned.name}: not begun, and its journal is empty")
        return
    if as_json:
        print_json([dataclasses.asdict(line) | {"data": json.loads(line.data)} for line in lines], indent=None)
        return
    for line in lines:
        attempt = "" if line.attempt is None else f", attempt {line.attempt}"
        game = f"game {number[line.game]}{attempt}: " if line.game in number else ""
        print(f"{line.at[:19]}  {game}{line.event}{': ' if line.text else ''}{printable(line.text, 300)}")

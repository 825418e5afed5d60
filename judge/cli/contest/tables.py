"""`judge contest status`, `standings` and `journal`, also of cups."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.base.text import duration, printable, titled
from judge.cli.options import HERE, ContestArgument, ContestOrCupArgument, JsonOption, cup_at, refuse_given
from judge.terminal.output import make_table, print_json, print_table

if TYPE_CHECKING:
    from judge.cup.plan import PlannedCup
    from judge.journal.state import JournalLine


def status(
    contest: ContestOrCupArgument = HERE,
    games: Annotated[bool, typer.Option("--games", help="List every game.")] = False,
    agents: Annotated[bool, typer.Option("--agents", help="List every agent.")] = False,
    hosts: Annotated[
        bool, typer.Option("--hosts", help="Test whether times or results of a host are unusual; reads every record.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the progress of a contest, its hosts, agents that fail, and games that are void or stopped."""
    from judge.contest.contest import opened_if_begun
    from judge.contest.plan import load_plan, read_plan
    from judge.contest.status import status_before, status_of
    from judge.contest_games import total_text

    if (cup := cup_at(contest)) is not None:
        refuse_given("is not for a cup", games=games, agents=agents, hosts=hosts)
        _print_cup_status(cup, as_json=as_json)
        return
    planned = read_plan(contest)
    with opened_if_begun(planned) as found:
        document = status_before(load_plan(contest)) if found is None else status_of(found, games, hosts, agents)
    if as_json:
        print_json(document, indent=None)
        return
    if found is None:
        print_status_before(document, planned.plan.title)
        return
    counts = document["games"]
    state = "over" if document["is_over"] else document["state"]
    is_idle = state == "open" and document["player"] is None
    if state == "open":
        state = "interrupted" if is_idle else "running"
    name = printable(titled(document["contest"], found.snapshot.title))
    total = total_text(counts, document["to_come"], is_exact=document["is_exact"])
    print(f"{name}: {state}, {counts['done']} of {total} games done")
    running = "interrupted" if is_idle and counts["running"] else "running"
    shown = [f"{count} {running if word == 'running' else word}" for word, count in counts.items() if count]
    shown += [f"{document['to_come']} to be drawn"] if document["to_come"] else []
    print(f"  {', '.join(shown)}")
    path = printable(str(contest), 200)
    if is_idle:
        print(f"  continue      no judge plays the contest; judge contest run {path} continues it")
    print(f"  chance        {document['chance']['words']}")
    if document["withheld_from"] is not None:
        print(f"  withheld      results from round {document['withheld_from']} on; judge contest reveal next {path}")
    if document["folders"]:
        print(f"  folders       {printable(document['folders'], 2000)}")
    for host in document["hosts"]:
        print(f"  host          {printable(host['name'], 80)}: {_host_words(host, running)}")
        for what in host["stands_out"]:
            print(f"  unusual       {printable(host['name'], 80)}: {printable(what)}")
    for core, holder in document["cores"].items():
        print(f"  core {core:<8} {printable(holder, 200)} has it")
    for word in ("disqualified", "withdrawn"):
        for agent, why in document[word].items():
            print(f"  {word:<13} {printable(agent)}: {printable(why)}")
    for agent, count in document["failures"].items():
        print(f"  failures      {printable(agent)}: {count}")
    _print_copies(document)
    if document["again_at"]:
        print(f"  set aside     retried when nothing else can be played, not before {document['again_at']}")
    for agent in document.get("agents", []):
        what = ", ".join(filter(None, (agent["state"], agent["clock"], agent["author"] and f"of {agent['author']}")))
        print(f"  agent         {printable(agent['name'], 80)}: {printable(what)}")
    for game in document.get("list", []):
        words = f"round {game['round']:<3} " if found.snapshot.format.has_rounds else ""
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


def print_status_before(document: Mapping[str, Any], title: str) -> None:
    """Print `status_before` with the time until each deadline."""
    print(f"{printable(titled(document['contest'], title))}: not begun")
    if document["words"]:
        print(f"  {document['words']}")
    elif not document["schedule"]:
        print("  not scheduled: judge contest run begins it")
    for key, at in document["schedule"].items():
        left_s = (datetime.fromisoformat(at) - datetime.now(UTC)).total_seconds()
        if left_s > 0:
            print(f"  {key:<13} in {duration(1000 * max(1, int(left_s)))}")
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


def _print_cup_status(cup: Path, *, as_json: bool) -> None:
    from judge.cup.plan import load_cup

    planned = load_cup(cup)
    documents = {league.name: _league_status(planned, league.name) for league in planned.cup.leagues}
    if as_json:
        print_json({"cup": planned.cup.name, "leagues": documents}, indent=None)
        return
    print(f"{planned.cup.name}: {sum(each['is_over'] for each in documents.values())} of {len(documents)} leagues over")
    rows = [
        (name, *_league_cells(planned, name, document), ", ".join(map(printable, document.get("disqualified", ()))))
        for name, document in documents.items()
    ]
    print_table(make_table(("league", "state", "games done", "of", "disqualified"), rows, numbers=(2, 3)))


def _league_status(planned: PlannedCup, league: str) -> dict[str, Any]:
    from judge.contest.contest import opened_if_begun
    from judge.contest.status import status_before, status_of

    begun = planned.begun(league)
    if begun is None:
        return status_before(planned.contest(league))
    with opened_if_begun(begun) as found:
        return status_before(begun) if found is None else status_of(found)


def _league_cells(planned: PlannedCup, league: str, document: Mapping[str, Any]) -> tuple[str, str, str]:
    from judge.contest_games import total_text

    counts = document.get("games")
    if counts is None:
        after = planned.cup.by_name[league].after
        return (f"after {after}" if after else document["words"] or "not begun"), "", ""
    state = "over" if document["is_over"] else document["state"]
    return state, str(counts["done"]), total_text(counts, document["to_come"], is_exact=document["is_exact"])


def standings(
    contest: ContestOrCupArgument = HERE,
    crosstable: Annotated[
        bool,
        typer.Option("--crosstable", help="Print the points of each agent against each other, with wins and draws."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the standings, with ratings and their 95 % intervals. Before the start: entries and start time."""
    from judge.contest.contest import opened_if_begun
    from judge.contest.plan import load_plan, read_plan
    from judge.contest.status import status_before
    from judge.contest_view.documents import standings_document
    from judge.terminal.contest_tables import print_standings

    if (cup := cup_at(contest)) is not None:
        refuse_given("is for a league of a cup", crosstable=crosstable)
        _print_cup_standings(cup, as_json=as_json)
        return
    if crosstable:
        _print_crosstable(contest, as_json=as_json)
        return
    planned = read_plan(contest)
    with opened_if_begun(planned) as found:
        if found is None:
            before = status_before(load_plan(contest))
            if as_json:
                print_json(before | {"ranking": [], "lines": []}, indent=None)
            else:
                print_status_before(before, planned.plan.title)
        else:
            view = found.view() if found.snapshot.format.has_rounds else found.read()
            if as_json:
                print_json(standings_document(view), indent=None)
            else:
                print_standings(view)


def _print_crosstable(contest: Path, *, as_json: bool) -> None:
    from rich.console import Console

    from judge.api.contests import ContestFolder
    from judge.contest.plan import read_plan
    from judge.terminal.contest_tables import print_crosstable

    with ContestFolder(read_plan(contest)).opened() as found:
        cells = found.view().table.crosstable
    if as_json:
        rows = [
            [dataclasses.asdict(row[column]) if column in row else None for column in cells] for row in cells.values()
        ]
        print_json({"agents": list(cells), "rows": rows}, indent=None)
        return
    print_crosstable(Console(highlight=False), cells)


def _print_cup_standings(cup: Path, *, as_json: bool) -> None:
    from judge.cup.plan import load_cup
    from judge.cup.results import load_results
    from judge.terminal.contest_tables import print_standings

    results = load_results(load_cup(cup))
    if as_json:
        print(results.document({}).model_dump_json())
        return
    for league in results.leagues:
        if league.contest is not None:
            print_standings(league.contest)
            print()
    leaders = [
        (
            league.name,
            *(
                ", ".join(printable(line.agent, 32) for line in league.leaders if line.place == place)
                for place in (1, 2, 3)
            ),
        )
        for league in results.leagues
        if league.is_provisional
    ]
    if leaders:
        print_table(make_table(("provisional", "place 1", "place 2", "place 3"), leaders))
    medals = [(printable(each.agent, 32), *map(str, each.counts)) for each in results.medals]
    if medals:
        print_table(make_table(("medals", "gold", "silver", "bronze"), medals, numbers=(1, 2, 3)))
    else:
        print("no medals: no league is over")


def journal(contest: ContestArgument = HERE, as_json: JsonOption = False) -> None:
    """Print the contest's journal: time, actor, event, and the reason of every void."""
    from judge.contest.contest import open_store
    from judge.contest.plan import read_plan

    planned = read_plan(contest)
    lines: Sequence[JournalLine] = ()
    number: Mapping[str, int] = {}
    if not planned.has_no_store:
        with closing(open_store(planned)) as store:
            lines = store.journal(planned.name)
            number = {each.id: each.number for each in store.games(planned.name)}
    if as_json:
        print_json([dataclasses.asdict(line) | {"data": json.loads(line.data)} for line in lines], indent=None)
        return
    if not lines:
        print(f"{planned.name}: not begun, and its journal is empty")
    for line in lines:
        attempt = "" if line.attempt is None else f", attempt {line.attempt}"
        game = f"game {number[line.game]}{attempt}: " if line.game and line.game in number else ""
        print(f"{line.at[:19]}  {game}{line.event}{': ' if line.text else ''}{printable(line.text, 300)}")

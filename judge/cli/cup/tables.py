"""`judge contest status` and `standings` of a cup."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.base.text import printable
from judge.cli.contest.standings_output import print_standings
from judge.contest.contest import opened_if_begun
from judge.contest.status import status_before, status_of
from judge.contest_games import total_text
from judge.cup.plan import PlannedCup, load_cup
from judge.cup.results import CupResults, load_results
from judge.terminal.output import make_table, print_json, print_table


def status(cup: Path, *, as_json: bool) -> None:
    """Show the progress of each league of a cup."""
    planned = load_cup(cup)
    documents = {league.name: _status(planned, league.name) for league in planned.cup.leagues}
    if as_json:
        print_json({"cup": planned.cup.name, "leagues": documents}, indent=None)
        return
    print(f"{planned.cup.name}: {sum(each['is_over'] for each in documents.values())} of {len(documents)} leagues over")
    rows = [
        (name, *_words(planned, name, document), ", ".join(map(printable, document.get("disqualified", ()))))
        for name, document in documents.items()
    ]
    columns = ("league", "state", "games done", "of", "disqualified")
    print_table(make_table(columns, rows, numbers=(2, 3)))


def _status(planned: PlannedCup, league: str) -> dict[str, Any]:
    begun = planned.begun(league)
    if begun is None:
        return status_before(planned.contest(league))
    with opened_if_begun(begun) as found:
        return status_before(begun) if found is None else status_of(found)


def _words(planned: PlannedCup, league: str, document: Mapping[str, Any]) -> tuple[str, str, str]:
    if "games" not in document:
        after = planned.cup.by_name[league].after
        return (f"after {after}" if after else document["words"] or "not begun"), "", ""
    state = "over" if document["is_over"] else document["state"]
    return (
        state,
        str(document["games"]["done"]),
        total_text(document["games"], document["to_come"], is_exact=document["is_exact"]),
    )


def standings(cup: Path, *, as_json: bool) -> None:
    """Print the standings of each league that has begun, the provisional leaders, and the medals."""
    planned = load_cup(cup)
    results = load_results(planned)
    if as_json:
        print(results.document({}).model_dump_json())
        return
    for league in results.leagues:
        if league.contest is not None:
            print_standings(league.contest)
            print()
    _print_leaders(results)
    _print_medals(results)


def _print_leaders(results: CupResults) -> None:
    rows = [
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
    if rows:
        print_table(make_table(("provisional", "place 1", "place 2", "place 3"), rows))


def _print_medals(results: CupResults) -> None:
    rows = [(printable(each.agent, 32), *map(str, each.counts)) for each in results.medals]
    if rows:
        print_table(make_table(("medals", "gold", "silver", "bronze"), rows, numbers=(1, 2, 3)))
    else:
        print("no medals: no league is over")

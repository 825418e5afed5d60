"""The pages of a cup: all leagues with medals, all agents, an agent in all leagues, and the schedule."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from judge.contest_games import AttemptState
from judge.cup.plan import PlannedCup
from judge.cup.results import CupResults, LeagueResults
from judge.site.pages import STYLE, VERIFIER, Page, PagePlace, asset, render
from judge.submissions.windows import Windows
from judge.translations.language import Language

_HERE = __package__


def cup_pages(planned: PlannedCup, results: CupResults, languages: Sequence[Language]) -> Iterator[Page]:
    """Yield the pages in each language, style sheet and verifier. The leagues' pages are in folders next to them."""
    for name in (STYLE, VERIFIER):
        yield name, asset(name)
    stems = {agent: f"{number:03d}" for number, agent in enumerate(results.agents, 1)}
    for language in languages:

        def page(template: str, path: str, here: str, language: Language = language, **values: Any) -> Page:
            place = PagePlace(path, language, languages)
            common = {
                "cup": results,
                "contest_name": results.name,
                "here": here,
                "stems": stems,
                "folder_of": partial(_folder_of, place),
            }
            return place.file, render(template, place, {**common, **values}, package=_HERE)

        yield page("cup_index.html", "index.html", "index")
        rows = [(agent, [_place(league, agent) for league in results.leagues]) for agent in results.agents]
        yield page("cup_agents.html", "agents.html", "agents", rows=rows)
        for agent, stem in stems.items():
            leagues = list(results.of_agent(agent))
            yield page("cup_agent.html", f"agents/{stem}.html", "", agent_name=agent, leagues=leagues)
        windows = planned.contest(planned.cup.leagues[0].name).plan.windows
        moments = Windows(windows.opens, windows.closes).moments
        schedule = [_schedule_row(planned, league) for league in results.leagues]
        machines = planned.cup.machines
        yield page("cup_schedule.html", "schedule.html", "schedule", rows=schedule, moments=moments, machines=machines)


def _folder_of(place: PagePlace, league: LeagueResults) -> str:
    """The league's pages in the language of a page, relative to it."""
    return f"{place.top}{league.name}/{place.file.removesuffix(place.path)}"


def _place(league: LeagueResults, agent: str) -> str:
    contest = league.contest
    if contest is None or agent not in contest.by_name:
        return ""
    return "-" if agent in contest.out else str(contest.lines[agent].place)


def _schedule_row(planned: PlannedCup, league: LeagueResults) -> Mapping[str, Any]:
    starts = dict(planned.contest(league.name).plan.windows.moments).get("starts")
    journal = () if league.contest is None else league.contest.journal
    began = [line.at for line in journal if line.event == "started"]
    ended = [line.at for line in journal if line.event == AttemptState.ACCEPTED]
    return {
        "league": league,
        "after": league.after,
        "starts": "" if starts is None else _minute(starts.isoformat()),
        "began": _minute(began[0]) if began else "",
        "ended": _minute(ended[-1]) if ended else "",
    }


def _minute(at: str) -> str:
    return at[:16].replace("T", ", ")

"""The site: pages of bounded size that open from disk without network or scripts.

Files are named by numbers, never by agents' names.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from judge.base.text import plain_text
from judge.contest_games import GameState, PublishedGame
from judge.contest_view.values import Participant, chance_words
from judge.contest_view.view import ContestView
from judge.games.types import FAILURES
from judge.record.spec import outcome_for
from judge.site.charts import agent_values, history_chart, interval_text, ladder_values, ratings_chart, results_chart
from judge.site.feed import agent_feed
from judge.site.journal_page import journal_pages
from judge.site.pages import ASSETS, Page, PagePlace, asset, in_parts, render_for
from judge.site.pairs import MAX_AGENTS, pair_file, pair_pages
from judge.site.picks import no_upset, picks
from judge.site.rules import format_facts, format_text, game_facts, limit_facts, own_time, rules_in_words, value_text
from judge.statistics.fairness import TIME
from judge.statistics.match_estimate import Interval
from judge.tournament.formats.base import skip_of
from judge.tournament.formats.groups import Leagues
from judge.tournament.results import SideScore
from judge.tournament.standings import CRITERIA, SHOWN_COLUMNS, TableLine
from judge.translations.language import ENGLISH, Language

MAX_PAGE_BYTES = 150_000
"""With style and script."""

MOST_IN_CELL, MOST_IN_CELLS = 6, 400
"""Maximum games shown in a cell and in all cells."""

MAX_NARROW_CELLS = 6
"""Games in the columns of a crosstable on a phone."""

PER_PAGE = 350

MAX_FAULTS = 20

LATEST_ROUNDS = 3
"""Rounds with boards in the list of rounds."""

MAX_REVERSED_GAMES = 20

MAX_ABOUT_FACTS = 12

About = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Proof:
    """For the verification page."""

    key_pem: str
    fingerprint: str
    digests: Sequence[tuple[str, str]]
    has_log: bool = False
    witnessed: Collection[str] = ()
    archive: str = ""


def pages_of_records(contest: ContestView, about: About, proof: Proof, languages: Sequence[Language]) -> Iterator[Page]:
    """Assets, and pages with data of records."""
    for name in ASSETS:
        yield name, asset(name)
    for language in languages:
        for path, write in _LanguagePages(contest, language, languages).of_records(about).items():
            yield path, write()
    for language in languages:
        verify = {"proof": proof, "witnessed": proof.witnessed, "archive": proof.archive}
        for name, values in (("fairness", {"time": TIME}), ("verify", verify)):
            place = PagePlace(f"{name}.html", language, languages)
            yield place.file, render_for(contest, f"{name}.html", name, place, values)


def pages_of_results(contest: ContestView, languages: Sequence[Language]) -> Iterator[Page]:
    """Other pages."""
    for language in languages:
        for path, write in _LanguagePages(contest, language, languages).of_results().items():
            yield path, write()


def pages(
    contest: ContestView, about: About, languages: Sequence[Language] = (ENGLISH,)
) -> Mapping[str, Callable[[], bytes]]:
    """Functions by file, without games and verification."""
    written: dict[str, Callable[[], bytes]] = {}
    for language in languages:
        in_language = _LanguagePages(contest, language, languages)
        written |= {**in_language.of_records(about), **in_language.of_results()}
    return written


@dataclass(frozen=True, slots=True)
class _LanguagePages:
    contest: ContestView
    language: Language
    languages: Sequence[Language]

    def of_results(self) -> Mapping[str, Callable[[], bytes]]:
        contest, language = self.contest, self.language
        table = self._page("crosstable.html", "crosstable.html", "crosstable", partial(_crosstable, contest, language))
        lists = [self._page(path, "games.html", "games", values) for path, values in _list_pages(contest)]
        pairs = [self._page(path, "pair.html", "crosstable", values) for path, values in pair_pages(contest)]
        return {**dict([table, *lists, *pairs]), **journal_pages(contest, self._place)}

    def of_records(self, about: About) -> Mapping[str, Callable[[], bytes]]:
        contest, language = self.contest, self.language
        found = [self._page("index.html", "index.html", "index", partial(_index, contest, language))]
        for each in contest.participants:
            values = partial(_agent, contest, each, about.get(each.name, {}), language)
            found.append(self._page(f"agents/{each.stem}.html", "agent.html", "", values))
        if contest.stream is not None:
            feeds = [(self._place(f"agents/{each.stem}.xml"), each) for each in contest.participants]
            found += [(place.file, partial(agent_feed, contest, each, language)) for place, each in feeds]
        if contest.has_rounds:
            rounds = _round_pages(contest, language)
            found += [self._page(path, "round.html", "games", values) for path, values in rounds]
            found.append(self._page("rounds.html", "rounds.html", "games", partial(_rounds, contest)))
        return dict(found)

    def _page(
        self, path: str, template: str, here: str, values: Callable[[], Mapping[str, Any]]
    ) -> tuple[str, Callable[[], bytes]]:
        place = self._place(path)
        return place.file, lambda: render_for(self.contest, template, here, place, values())

    def _place(self, path: str) -> PagePlace:
        return PagePlace(path, self.language, self.languages)


# --- standings -------------------------------------------------------------------------------------------------------


def _index(contest: ContestView, language: Language) -> Mapping[str, Any]:
    columns = set() if contest.stages else {column.name for column in SHOWN_COLUMNS}
    hidden = columns | ({"elo"} if contest.rated else set())
    shown = [(at, name) for at, name in enumerate(contest.table.ranking) if name not in hidden]

    def ranking_of(line: TableLine) -> Sequence[float]:
        return [line.values[at] for at, _ in shown] if line.values else []

    return {
        "moves": sum(sum(game.result.replies) for game in contest.games if game.result is not None),
        "criteria": [tuple(map(language.gettext, CRITERIA[name][1:])) for _, name in shown],
        "columns": SHOWN_COLUMNS,
        "ranking_of": ranking_of,
        "places": contest.place_ranges,
        "copies_words": list(contest.copies_words),
        "brackets": {
            agent: bracket for stage in contest.certainty for bracket in stage.brackets for agent in bracket.agents
        },
        "most_reversed": MAX_REVERSED_GAMES,
        "out": [contest.by_name[agent] for agent in contest.disqualified],
        "withdrawn": [contest.by_name[agent] for agent in contest.withdrawn],
        "results": results_chart(contest, language),
        "ratings": ratings_chart(contest, language),
        "ladder": ladder_values(contest, language),
        "interval_of": partial(interval_text, language=language),
        "draw_models": list(_draw_models(contest)),
        "rules": rules_in_words(contest.snapshot.policy, contest.snapshot.clocks, language),
        "facts": _facts(contest, language),
        "technical": _technical(contest, language),
        "has_draws": any(result.is_draw for result in contest.results),
        "picks": picks(contest, language),
        "no_upset": no_upset(contest, language),
        "next_game": next((game for game in contest.games if game.state == GameState.PENDING), None),
        "moments": contest.moments,
    }


def _draw_models(contest: ContestView) -> Iterator[Mapping[str, str | Interval]]:
    """First seat's advantage (Elo), draw parameter, and percentage of draws between equals."""
    for name, rated in (("Rao-Kupper", contest.ratings), ("Davidson", contest.davidson)):
        if rated is not None:
            share, margin = Interval(rated.draw_share, rated.draw_low, rated.draw_high), rated.draw_elo
            yield {
                "name": name,
                "advantage": Interval(rated.advantage.elo, rated.advantage.low, rated.advantage.high),
                # Davidson's parameter: the ratio of draws to wins of one side, between equals.
                "parameter": _scaled(share, lambda drawn: 2 * drawn / (1 - drawn))
                if margin is None
                else Interval(margin.elo, margin.low, margin.high),
                "unit": "" if margin is None else "Elo",
                "share": _scaled(share, lambda drawn: 100 * drawn),
            }


def _scaled(each: Interval, scale: Callable[[float], float]) -> Interval:
    value, low, high = (None if end is None else scale(end) for end in (each.value, each.low, each.high))
    return Interval(value, low, high)


def _facts(contest: ContestView, language: Language) -> Mapping[str, str]:
    _ = language.gettext
    snapshot, policy = contest.snapshot, contest.snapshot.policy
    skip = skip_of(snapshot.format)
    seats = snapshot.format.seats if isinstance(snapshot.format, Leagues) else None
    left_out = "" if skip is None else _("ratings differ by {difference} or more")
    facts = {
        **game_facts(policy, language),
        _("Policy"): policy.name,
        _("Format"): format_text(snapshot.format, language),
        _("Seats of the first league"): ", ".join(seats.agents) if seats else "",
        _("Pairs left out"): left_out.format(difference=f"{skip.rating_difference:g}") if skip else "",
        **limit_facts(policy, snapshot.clocks, language),
        _("Openings"): "" if snapshot.openings == ((),) else str(len(snapshot.openings)),
    }
    return {name: value for name, value in facts.items() if value}


def _technical(contest: ContestView, language: Language) -> Mapping[str, tuple[str, bool]]:
    _ = language.gettext
    snapshot = contest.snapshot
    facts = {
        _("Format"): format_facts(snapshot.format),
        _("Chance"): language.sentence(chance_words(snapshot, contest.secret)) or "",
        _("Snapshot"): snapshot.frozen_at.replace("T", " ").removesuffix("+00:00") + " UTC",
        _("Judge"): snapshot.judge,
    }
    facts |= {_("Host {name}").format(name=name): value_text(value) for name, value in snapshot.host.items()}
    images = {_("Image {name}").format(name=name): image.content or image.id for name, image in snapshot.images.items()}
    shown = {name: (value, False) for name, value in facts.items() if value}
    return shown | {name: (value, True) for name, value in images.items()}


# --- crosstable ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CrossCell:
    """A cell: its games, or only the total score.

    `counts` is false for games of a disqualified agent.
    """

    games: Sequence[tuple[PublishedGame, float, str]]
    score: float
    played: int
    page: str
    counts: bool


def _crosstable(contest: ContestView, language: Language) -> Mapping[str, Any]:
    lines = contest.table.lines
    if len(lines) > MAX_AGENTS:
        return {"rows": None, "is_wide": False, "has_sums": False, "has_left_out": False, "has_uncounted": False}
    most = MOST_IN_CELL if len(contest.games) <= MOST_IN_CELLS else 0
    rows = [(line, [_cell(contest, line.agent, other.agent, most, language) for other in lines]) for line in lines]
    in_cells = sum(max([len(cell.games) or 2 for cell in row if cell is not None], default=1) for _, row in rows)
    return {
        "rows": rows,
        "is_wide": in_cells > MAX_NARROW_CELLS,
        "has_sums": any(cell is not None and not cell.games for _, row in rows for cell in row),
        "has_left_out": any(contest.left_out.values()),
        "has_uncounted": any(cell is not None and not cell.counts for _, row in rows for cell in row),
    }


def _cell(contest: ContestView, agent: str, other: str, most: int, language: Language) -> _CrossCell | None:
    met = contest.meetings.get(frozenset({agent, other}), ()) if agent != other else ()
    scored = [
        (game, score, _title(game, contest.stage_of(game), game.result.verdict, language))
        for game in met
        if game.result is not None and (score := game.score_of(agent)) is not None
    ]
    if not scored:
        return None
    total = sum(score for _, score, _ in scored)
    shown = scored if len(scored) <= most else ()
    counts = contest.out.keys().isdisjoint((agent, other))
    return _CrossCell(shown, total, len(scored), pair_file(contest, agent, other), counts)


def _title(game: PublishedGame, stage: str, verdict: str, language: Language) -> str:
    title = language.gettext("game {number}: {first} - {second}, {verdict}").format(
        number=game.number,
        first=plain_text(game.first, 30),
        second=plain_text(game.second, 30),
        verdict=language.word(verdict),
    )
    return f"{language.word(stage)}, {title}" if stage else title


# --- all games -------------------------------------------------------------------------------------------------------


def _list_pages(contest: ContestView) -> Iterator[tuple[str, Callable[[], Mapping[str, Any]]]]:
    parts = in_parts(contest.games, PER_PAGE)
    names = [f"games{f'-{part}' if part > 1 else ''}.html" for part in range(1, len(parts) + 1)]
    for name, games in zip(names, parts, strict=True):
        links = [(number, each, each == name) for number, each in enumerate(names, 1)]
        yield name, partial(dict, {"games": games, "parts": links})


# --- rounds ----------------------------------------------------------------------------------------------------------


def _rounds(contest: ContestView) -> Mapping[str, Any]:
    rounds = []
    for number, games in contest.rounds.items():
        results = [game.result for game in games if game.result is not None]
        rounds.append(
            {
                "number": number,
                "stages": list(dict.fromkeys(contest.stage_of(game) for game in games)),
                "games": len(games),
                "played": len(results),
                "first": sum(result.winner == result.first for result in results),
                "drawn": sum(result.is_draw for result in results),
                "second": sum(result.winner == result.second for result in results),
                "failed": sum(result.verdict in FAILURES for result in results),
            }
        )
    played = [(number, games) for number, games in contest.rounds.items() if any(game.result for game in games)]
    return {"rounds": rounds, "latest": played[: -LATEST_ROUNDS - 1 : -1]}


def _round_pages(contest: ContestView, language: Language) -> Iterator[tuple[str, Callable[[], Mapping[str, Any]]]]:
    pages: list[tuple[str, str, dict[str, Any]]] = []
    for number, games in contest.rounds.items():
        parts = in_parts(games, PER_PAGE)
        for part, shown in enumerate(parts, 1):
            name = f"{number:03d}{f'-{part}' if part > 1 else ''}.html"
            title = language.gettext("Round {number}").format(number=number)
            if len(parts) > 1:
                title = language.gettext("Round {number}, part {part}").format(number=number, part=part)
            byes = contest.byes.get(number, ()) if part == len(parts) else ()
            values = {
                "number": number,
                "part": part,
                "parts": len(parts),
                "games": shown,
                "byes": [contest.by_name[agent] for agent in byes],
            }
            pages.append((name, title, values))
    none = ("", "", dict[str, Any]())
    for before, (this, after) in zip([none, *pages], pairwise([*pages, none]), strict=False):
        name, _, values = this
        values |= {"before": before[:2], "after": after[:2]}
        yield f"rounds/{name}", partial(dict, values)


# --- an agent --------------------------------------------------------------------------------------------------------


def _agent(contest: ContestView, agent: Participant, about: Mapping[str, str], language: Language) -> Mapping[str, Any]:
    _ = language.gettext
    opponents, faults = [], []
    for other in contest.participants:
        games = contest.meetings.get(frozenset({agent.name, other.name}), ()) if other != agent else ()
        if games:
            opponents.append((other, games))
        for game in games:
            fault = None if game.result is None else game.result.faults[agent.name != game.first]
            if game.result is not None and fault is not None:
                faults.append((game, fault.value, game.result.reason))
    faults.sort(key=lambda fault: fault[0].number)
    ladder = agent_values(contest, agent, language)
    per_page = PER_PAGE - (2 * len(ladder["rows"]) if ladder else 0)
    shown = max(1, per_page // max(1, len(opponents)))
    total = sum(len(games) for _, games in opponents)
    rating = contest.rated.get(agent.name)
    seat, snapshot = agent.entry.seat, contest.snapshot
    line, places = contest.lines.get(agent.name), contest.place_ranges.get(agent.name, "")
    return {
        "participant": agent,
        "line": line,
        "is_by_rating": contest.table.is_by_rating and line is not None and bool(line.values),
        "done": _played(contest, agent.name) if agent.out or line is None else line.done,
        "places": "" if line is None or places == str(line.place) else places,
        "history": _history(contest, agent, language),
        "ladder": ladder,
        "rating": rating,
        "interval": "" if rating is None else interval_text(rating, language),
        "facts": [
            (_("Author"), seat.author),
            (_("Protocol"), seat.protocol),
            (_("Runtime"), seat.runtime),
            (_("Time"), own_time(snapshot.policy.clock, snapshot.clocks.get(agent.name, ""), language)),
            (_("Rating for the pairings"), _rating_for_pairings(contest, agent.name)),
            (_("Does not meet"), plain_text(", ".join(contest.left_out.get(agent.name, ())), 4000)),
            (_("Description"), agent.entry.description),
        ],
        "technical": [
            (_("Name in records"), agent.name, False),
            (_("Seed"), str(agent.entry.rank or ""), False),
            (_("Files"), seat.digest, True),
        ],
        "about": list(about.items())[:MAX_ABOUT_FACTS],
        "fault_counts": Counter(verdict for _, verdict, _ in faults).most_common(),
        "faults": faults[:MAX_FAULTS],
        "more_faults": max(0, len(faults) - MAX_FAULTS),
        "opponents": [
            (other, [_row(game, agent.name) for game in (games if total <= per_page else games[-shown:])])
            for other, games in opponents
        ],
        "pair_file": pair_file,
        "left_out": max(0, total - sum(min(shown, len(games)) for _, games in opponents)) if total > per_page else 0,
    }


def _played(contest: ContestView, agent: str) -> SideScore:
    done = SideScore()
    for result in contest.results:
        if agent in result.agents:
            done.count(result, result.agents.index(agent))
    return done


def _rating_for_pairings(contest: ContestView, agent: str) -> str:
    skip = skip_of(contest.snapshot.format)
    if skip is None or agent not in skip.agents:
        return ""
    rated = skip.agents[agent]
    return f"{rated.rating:g} ({rated.reason})"


def _history(contest: ContestView, agent: Participant, language: Language) -> Mapping[str, Any] | None:
    versions = contest.histories.get(agent.name, ())
    if len(versions) < 2:
        return None
    rows = [
        (version, before is not None and before.digest != version.digest, interval_text(version.rating, language))
        for before, version in pairwise([None, *versions])
        if version is not None
    ]
    return {"chart": history_chart(versions, language), "rows": rows}


def _row(game: PublishedGame, agent: str) -> Mapping[str, Any]:
    seat = int(agent != game.first)
    result = game.result
    return {
        "game": game,
        "seat": seat,
        "score": game.score_of(agent),
        "outcome": "" if result is None else outcome_for(seat, result.verdict, result.winning_seat),
        "replies": 0 if result is None else result.replies[seat],
        "ms": 0.0 if result is None else result.charged_ms[seat],
    }

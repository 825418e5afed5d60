"""The site: pages that open from disk, need no network and no script, and grow no faster than the games.

Files are named by numbers, never by what an agent is called. A page of a game is made from its record alone, so it is
made elsewhere, beside the record (`judge.publish.games`); the pages here need no record.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from judge.contest.results import FAILURES
from judge.contest.standings import TableLine
from judge.games.types import Verdict
from judge.publish import journal_page
from judge.publish.charts import interval_words, ratings_chart, results_chart
from judge.publish.formatting import plain
from judge.publish.pages import ASSETS, asset, render
from judge.publish.publication import Participant, Publication, PublishedGame, score_of

Page = tuple[str, bytes]
"""A file's path from the top, and what stands in it."""

MOST_IN_CROSSTABLE = 100
"""More agents than that make no table that anybody could read."""

MOST_IN_CELL = 6
"""Games of a pair that a cell shows one by one."""

PER_PAGE = 500
"""Games on one page of a round."""

MOST_FAULTS = 20
"""Faults that an agent's page tells before the list of games."""

SELF_SAID = 12
"""How much of what an agent says of itself stands on its page."""

About = Mapping[str, Mapping[str, str]]
"""What each agent said of itself in its last game."""

CRITERIA = {
    "ratio": ("Ratio", "games won by games lost"),
    "direct": ("Direct", "points among those who are equal so far"),
    "sonneborn-berger": ("SB", "Sonneborn-Berger: the points of each opponent times the score against it"),
    "buchholz": ("Buchholz", "the points of all opponents"),
    "time": ("Time", "milliseconds a reply, as a loss"),
    "elo": ("Elo", "Gomocup's rating"),
}
"""The heads of the criteria's columns, and what they mean."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the page on verifying shows: the public key, and digests of what was fixed before play, by name.

    `commitment` is to the contest's chance, empty where the organiser fixed it; `secret` is empty until it is revealed.
    """

    key_pem: str
    fingerprint: str
    digests: Sequence[tuple[str, str]]
    commitment: str = ""
    secret: str = ""


def site(publication: Publication, about: About, proof: Proof) -> Iterator[Page]:
    """All pages but those of the games, and the files that they use."""
    for name in ASSETS:
        yield name, asset(name)
    yield "index.html", _index(publication, bool(proof.secret))
    yield "crosstable.html", _crosstable(publication)
    yield "rounds.html", _rounds(publication)
    yield from _round_pages(publication)
    yield from _journal(publication)
    for participant in publication.participants:
        path = f"agents/{agent_stem(participant)}.html"
        yield path, _agent(publication, participant, about.get(participant.name, {}))
    yield "verify.html", _page("verify.html", publication, "verify", _proven(proof))


def agent_stem(participant: Participant) -> str:
    """What an agent's page is called, without ending."""
    return f"{participant.number:03d}"


def _page(template: str, publication: Publication, here: str, values: Mapping[str, Any], root: str = "") -> bytes:
    common: dict[str, Any] = {"contest": publication.name, "here": here, "publication": publication}
    return render(template, root, {**common, **values})


def _proven(proof: Proof) -> Mapping[str, Any]:
    return {
        "key_lines": proof.key_pem.splitlines(),
        "key_fingerprint": proof.fingerprint,
        "digests": proof.digests,
        "commitment": proof.commitment,
        "secret": proof.secret,
    }


# --- standings -------------------------------------------------------------------------------------------------------


def _index(publication: Publication, is_revealed: bool) -> bytes:
    ranking = [(at, name) for at, name in enumerate(publication.ranking) if name not in ("points", "wins")]
    is_rated = bool(publication.rated)
    shown = [(at, name) for at, name in ranking if not (name == "elo" and is_rated)]

    def ranking_of(line: TableLine) -> Sequence[tuple[str, float]]:
        return [(name, line.values[at]) for at, name in shown] if line.values else []

    played = publication.played
    return _page(
        "index.html",
        publication,
        "index",
        {
            "revealed": is_revealed,
            "moves": sum(sum(game.result.replies) for game in played if game.result is not None),
            "open_games": sum(game.state not in ("done", "cancelled") for game in publication.games),
            "criteria": [CRITERIA.get(name, (name, name)) for _, name in shown],
            "ranking_of": ranking_of,
            "out": [participant for participant in publication.participants if participant.out],
            "results": results_chart(publication),
            "ratings": ratings_chart(publication),
        },
    )


# --- crosstable ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shown:
    """A cell: its games with the row's score, or only their sum; pages of row and column."""

    games: Sequence[tuple[PublishedGame, float, str]]
    points: float
    played: int
    row: int
    column: int


def _crosstable(publication: Publication) -> bytes:
    values: dict[str, Any] = {"rows": None, "bounded": False}
    if len(publication.table) <= MOST_IN_CROSSTABLE:
        rows = [
            (line, [_cell(publication, line.agent, other.agent) for other in publication.table])
            for line in publication.table
        ]
        cells = [cell for _, row in rows for cell in row if cell is not None]
        values = {"rows": rows, "bounded": any(not cell.games for cell in cells)}
    return _page("crosstable.html", publication, "crosstable", values)


def _cell(publication: Publication, agent: str, other: str) -> _Shown | None:
    met = publication.meetings.get(frozenset({agent, other}), ()) if agent != other else ()
    scored = [(game, score) for game in met if (score := score_of(game, agent)) is not None]
    if not scored:
        return None
    row, column = publication.by_name[agent].number, publication.by_name[other].number
    total = sum(score for _, score in scored)
    if len(scored) > MOST_IN_CELL:
        return _Shown((), total, len(scored), row, column)
    games = [(game, score, _title(game)) for game, score in scored]
    return _Shown(games, total, len(scored), row, column)


def _title(game: PublishedGame) -> str:
    verdict = "" if game.result is None else f", {game.result.verdict}"
    return f"game {game.number}: {plain(game.first, 30)} - {plain(game.second, 30)}{verdict}"


# --- rounds ----------------------------------------------------------------------------------------------------------


def _rounds(publication: Publication) -> bytes:
    rounds = [_summary(number, games) for number, games in publication.rounds.items()]
    return _page("rounds.html", publication, "rounds", {"rounds": rounds})


def _summary(number: int, games: Sequence[PublishedGame]) -> Mapping[str, int]:
    results = [game.result for game in games if game.result is not None]
    return {
        "number": number,
        "games": len(games),
        "played": len(results),
        "first": sum(result.winner == result.first for result in results),
        "drawn": sum(result.is_draw for result in results),
        "second": sum(result.winner == result.second for result in results),
        "failed": sum(result.verdict in FAILURES for result in results),
    }


def _round_pages(publication: Publication) -> Iterator[Page]:
    """A page a round, or several where it has many games; each leads to the ones before and after it."""
    pages: list[tuple[str, str, dict[str, Any]]] = []
    for number, games in publication.rounds.items():
        parts = max(1, -(-len(games) // PER_PAGE))
        for part in range(parts):
            name = f"{number:03d}{f'-{part + 1}' if part else ''}.html"
            text = f"Round {number}{f', part {part + 1}' if parts > 1 else ''}"
            byes = publication.byes.get(number, ()) if part == parts - 1 else ()
            values = {
                "number": number,
                "part": part + 1,
                "parts_of": parts,
                "games": games[part * PER_PAGE : (part + 1) * PER_PAGE],
                "byes": [publication.by_name[agent] for agent in byes],
                "by_name": publication.by_name,
            }
            pages.append((name, text, values))
    nobody = ("", "", dict[str, Any]())
    for before, (this, after) in zip([nobody, *pages], pairwise([*pages, nobody]), strict=False):
        name, _, values = this
        values |= {"before": before[0], "before_text": before[1]}
        values |= {"after": after[0], "after_text": after[1]}
        yield f"rounds/{name}", _page("round.html", publication, "rounds", values, "../")


# --- journal ---------------------------------------------------------------------------------------------------------


def _journal(publication: Publication) -> Iterator[Page]:
    lines = journal_page.told(publication)
    parts = max(1, -(-len(lines) // journal_page.PER_PAGE))
    for part in range(parts):
        shown = lines[part * journal_page.PER_PAGE : (part + 1) * journal_page.PER_PAGE]
        values = {
            "days": list(journal_page.by_day(shown)),
            "part": part + 1,
            "parts_of": parts,
            "journal_name": journal_page.page_name,
        }
        yield (journal_page.page_name(part + 1), _page("journal.html", publication, "journal", values))


# --- an agent --------------------------------------------------------------------------------------------------------


def _agent(publication: Publication, agent: Participant, about: Mapping[str, str]) -> bytes:
    opponents: dict[str, list[Mapping[str, Any]]] = {}
    for other in publication.participants:
        games = publication.meetings.get(frozenset({agent.name, other.name}), ())
        if games and other.name != agent.name:
            opponents[other.name] = [_row(game, agent.name) for game in games]
    rows = [row for games in opponents.values() for row in games]
    faults = [(row["game"], row["fault"], row["game"].result.reason) for row in rows if row["fault"]]
    rating = publication.rated.get(agent.name)
    return _page(
        "agent.html",
        publication,
        "",
        {
            "participant": agent,
            "line": publication.lines.get(agent.name),
            "rating": rating,
            "interval": "" if rating is None else interval_words(rating),
            "facts": [
                ("Author", agent.author),
                ("Protocol", agent.protocol),
                ("Runtime", agent.runtime),
                ("Seed", str(agent.seed or "")),
                ("Files", agent.digest),
                ("Description", agent.description),
            ],
            "about": list(about.items())[:SELF_SAID],
            "faults": faults[:MOST_FAULTS],
            "more_faults": max(0, len(faults) - MOST_FAULTS),
            "opponents": [(publication.by_name[name], games) for name, games in opponents.items()],
        },
        "../",
    )


def _row(game: PublishedGame, agent: str) -> Mapping[str, Any]:
    seat = int(agent != game.first)
    result = game.result
    fault: Verdict | None = None if result is None else result.faults[seat]
    return {
        "game": game,
        "seat": seat,
        "score": score_of(game, agent),
        "fault": "" if fault is None else fault.value,
        "replies": 0 if result is None else result.replies[seat],
        "ms": 0.0 if result is None else result.charged_ms[seat],
    }

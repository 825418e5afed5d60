"""The site: pages that open from disk, need no network and no script, and grow no faster than the matches.

Files are named by numbers, never by an agent's name. The page of a match is made from its record alone, beside the
record (`judge.publish.match_files`); the pages here need no record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from judge.contest.results import FAILURES
from judge.contest.standings import TableLine
from judge.publish.charts import interval_text, ratings_chart, results_chart
from judge.publish.journal_page import journal_pages
from judge.publish.model import Participant, PublishedContest, PublishedMatch, chance_words
from judge.publish.pages import ASSETS, Page, asset, render_for
from judge.text import duration, plain_text

MOST_IN_CROSSTABLE = 100
"""A table of more agents cannot be read."""

MOST_IN_CELL = 6
"""Matches of a pair that a cell shows one by one."""

PER_PAGE = 500
"""Matches on one page of a round."""

MOST_FAULTS = 20
"""Faults that an agent's page lists before its matches."""

MOST_ABOUT = 12
"""Lines of what an agent says about itself on its page."""

About = Mapping[str, Mapping[str, str]]
"""What each agent said about itself in its last match."""

CRITERIA = {
    "ratio": ("Ratio", "games won divided by games lost"),
    "direct": ("Direct", "points among the agents that are equal so far"),
    "sonneborn-berger": ("SB", "Sonneborn-Berger: the points of each opponent times the score against it"),
    "buchholz": ("Buchholz", "the points of all opponents"),
    "time": ("Time", "milliseconds per answer, as a negative number"),
    "elo": ("Elo", "Gomocup's rating"),
}
"""The heads of the criteria's columns, and what they mean."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the page on verifying shows: the public key, and digests of what was fixed before play, by name."""

    key_pem: str
    fingerprint: str
    digests: Sequence[tuple[str, str]]


def site(contest: PublishedContest, about: About, proof: Proof) -> Iterator[Page]:
    """All pages but those of the matches, and the files that the pages use."""
    for name in ASSETS:
        yield name, asset(name)
    for path, write in pages(contest, about).items():
        yield path, write()
    yield "verify.html", render_for(contest, "verify.html", "verify", {"proof": proof})


def pages(contest: PublishedContest, about: About) -> Mapping[str, Callable[[], bytes]]:
    """What writes each page, by its path: those of the matches and that on verifying are not among them."""
    tables = {
        "index.html": partial(_index, contest),
        "crosstable.html": partial(_crosstable, contest),
        "rounds.html": partial(_rounds, contest),
    }
    agents = {
        f"agents/{participant.stem}.html": partial(_agent, contest, participant, about.get(participant.name, {}))
        for participant in contest.participants
    }
    return {**tables, **_round_pages(contest), **journal_pages(contest), **agents}


# --- standings -------------------------------------------------------------------------------------------------------


def _index(contest: PublishedContest) -> bytes:
    hidden = {"points", "wins"} | ({"elo"} if contest.rated else set())
    shown = [(at, name) for at, name in enumerate(contest.table.ranking) if name not in hidden]

    def ranking_of(line: TableLine) -> Sequence[float]:
        return [line.values[at] for at, _ in shown] if line.values else []

    values = {
        "moves": sum(sum(match.result.replies) for match in contest.matches if match.result is not None),
        "criteria": [CRITERIA.get(name, (name, name)) for _, name in shown],
        "ranking_of": ranking_of,
        "out": [participant for participant in contest.participants if participant.out],
        "results": results_chart(contest),
        "ratings": ratings_chart(contest),
        "facts": _facts(contest),
    }
    return render_for(contest, "index.html", "index", values)


def _facts(contest: PublishedContest) -> Mapping[str, str]:
    """What was played, how, and on which machine."""
    snapshot, policy = contest.snapshot, contest.snapshot.policy
    clock = policy.clock
    form = snapshot.format.model_dump(mode="json", exclude={"ranking"})
    facts = {
        "Game": _with_options(policy.game.name, policy.game.options),
        "Policy": policy.name,
        "Format": _with_options(form.pop("name"), form),
        "Time": f"{duration(clock.turn_ms)} a move"
        + (f", {duration(clock.match_ms)} a game" if clock.match_ms else ""),
        "Memory": f"{policy.enforced().memory_bytes >> 20} MiB",
        "Openings": "" if snapshot.openings == ((),) else str(len(snapshot.openings)),
        "Chance": chance_words(snapshot, contest.secret),
        "Snapshot": snapshot.frozen_at.replace("T", " ").removesuffix("+00:00") + " UTC",
        "Judge": snapshot.judge,
    }
    facts |= {f"Image {name}": image.content or image.id for name, image in snapshot.images.items()}
    facts |= {f"Host {name}": _text(value) for name, value in snapshot.host.items()}
    return {name: value for name, value in facts.items() if value}


def _with_options(head: str, options: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name} {_text(value)}" for name, value in options.items() if value is not None)
    return f"{head} ({text})" if text else head


def _text(value: object) -> str:
    """A value of TOML or JSON in words."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(inner)}" for key, inner in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


# --- crosstable ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CrossCell:
    """A cell: its matches with the score of the row's agent and a title, or only the sum of the scores.

    `row` is the stem of that agent's page, `column` the number of the other agent.
    """

    matches: Sequence[tuple[PublishedMatch, float, str]]
    score: float
    played: int
    row: str
    column: int


def _crosstable(contest: PublishedContest) -> bytes:
    lines = contest.table.lines
    values: dict[str, Any] = {"rows": None, "has_sums": False}
    if len(lines) <= MOST_IN_CROSSTABLE:
        rows = [(line, [_cell(contest, line.agent, other.agent) for other in lines]) for line in lines]
        has_sums = any(cell is not None and not cell.matches for _, row in rows for cell in row)
        values = {"rows": rows, "has_sums": has_sums}
    return render_for(contest, "crosstable.html", "crosstable", values)


def _cell(contest: PublishedContest, agent: str, other: str) -> _CrossCell | None:
    met = contest.meetings.get(frozenset({agent, other}), ()) if agent != other else ()
    scored = [
        (match, score, _title(match, match.result.verdict))
        for match in met
        if match.result is not None and (score := match.score_of(agent)) is not None
    ]
    if not scored:
        return None
    total = sum(score for _, score, _ in scored)
    shown = scored if len(scored) <= MOST_IN_CELL else ()
    return _CrossCell(shown, total, len(scored), contest.by_name[agent].stem, contest.by_name[other].number)


def _title(match: PublishedMatch, verdict: str) -> str:
    return f"game {match.number}: {plain_text(match.first, 30)} - {plain_text(match.second, 30)}, {verdict}"


# --- rounds ----------------------------------------------------------------------------------------------------------


def _rounds(contest: PublishedContest) -> bytes:
    rounds = []
    for number, matches in contest.rounds.items():
        results = [match.result for match in matches if match.result is not None]
        rounds.append(
            {
                "number": number,
                "games": len(matches),
                "played": len(results),
                "first": sum(result.winner == result.first for result in results),
                "drawn": sum(result.is_draw for result in results),
                "second": sum(result.winner == result.second for result in results),
                "failed": sum(result.verdict in FAILURES for result in results),
            }
        )
    return render_for(contest, "rounds.html", "rounds", {"rounds": rounds})


def _round_pages(contest: PublishedContest) -> Mapping[str, Callable[[], bytes]]:
    """A page a round, or several if it has many matches; each has links to the pages before and after it."""
    pages: list[tuple[str, str, dict[str, Any]]] = []
    for number, matches in contest.rounds.items():
        parts = max(1, -(-len(matches) // PER_PAGE))
        for part in range(1, parts + 1):
            name = f"{number:03d}{f'-{part}' if part > 1 else ''}.html"
            title = f"Round {number}{f', part {part}' if parts > 1 else ''}"
            byes = contest.byes.get(number, ()) if part == parts else ()
            values = {
                "number": number,
                "part": part,
                "parts": parts,
                "matches": matches[(part - 1) * PER_PAGE : part * PER_PAGE],
                "byes": [contest.by_name[agent] for agent in byes],
            }
            pages.append((name, title, values))
    written: dict[str, Callable[[], bytes]] = {}
    none = ("", "", dict[str, Any]())
    for before, (this, after) in zip([none, *pages], pairwise([*pages, none]), strict=False):
        name, _, values = this
        values |= {"before": before[:2], "after": after[:2]}
        written[f"rounds/{name}"] = partial(render_for, contest, "round.html", "rounds", values, "../")
    return written


# --- an agent --------------------------------------------------------------------------------------------------------


def _agent(contest: PublishedContest, agent: Participant, about: Mapping[str, str]) -> bytes:
    opponents = []
    faults = []
    for other in contest.participants:
        matches = contest.meetings.get(frozenset({agent.name, other.name}), ()) if other != agent else ()
        if matches:
            opponents.append((other, [_row(match, agent.name) for match in matches]))
        for match in matches:
            fault = None if match.result is None else match.result.faults[agent.name != match.first]
            if match.result is not None and fault is not None:
                faults.append((match, fault.value, match.result.reason))
    rating = contest.rated.get(agent.name)
    seat = agent.entry.seat
    values = {
        "participant": agent,
        "line": contest.lines.get(agent.name),
        "rating": rating,
        "interval": "" if rating is None else interval_text(rating),
        "facts": [
            ("Author", seat.author),
            ("Protocol", seat.protocol),
            ("Runtime", seat.runtime),
            ("Seed", str(agent.entry.rank or "")),
            ("Files", seat.digest),
            ("Description", agent.entry.description),
        ],
        "about": list(about.items())[:MOST_ABOUT],
        "faults": faults[:MOST_FAULTS],
        "more_faults": max(0, len(faults) - MOST_FAULTS),
        "opponents": opponents,
    }
    return render_for(contest, "agent.html", "", values, "../")


def _row(match: PublishedMatch, agent: str) -> Mapping[str, Any]:
    seat = int(agent != match.first)
    result = match.result
    return {
        "match": match,
        "seat": seat,
        "score": match.score_of(agent),
        "replies": 0 if result is None else result.replies[seat],
        "ms": 0.0 if result is None else result.charged_ms[seat],
    }

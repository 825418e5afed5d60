"""Standings, pairs and crosstable of an export, computed again from the lines of its games."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.verify.independent_files import Problems, Row

OF_PAIR = ("points", "games", "wins", "draws", "losses")
OF_AGENT = (*OF_PAIR, "byes", "failures", "replies", "charged_ms")
FAILURES = frozenset(
    ["illegal", "unreadable", "start-time", "turn-time", "match-time", "memory", "output", "crash", "refused"]
)  # faults that count as failures
BY_RESULTS = ("round-robin", "double-round-robin", "gauntlet", "swiss", "sprt", "ladder")
"""Formats without stages: the places follow from the results alone."""
KEEPS_WITHDRAWN = ("swiss", "ladder")
SLACK, CRITERIA_SLACK = 1e-9, 1e-8
DRAW_MARGIN, RATING_TIE, CLOSE, MAX_ROUNDS = 10 ** (0.01 / 400), 0.01, 1e-5, 10_000

Totals = dict[str, Any]


@dataclass(slots=True)
class Line:
    """An agent's totals, also against each opponent (None: byes), and its values of the criteria."""

    agent: str
    totals: Totals
    met: dict[str | None, Totals]
    values: Row = field(default_factory=dict)

    @property
    def points(self) -> float:
        return float(self.totals["points"])


def summed(parts: Iterable[Totals], names: Iterable[str] = OF_AGENT) -> Totals:
    parts = list(parts)
    return {name: round(sum(part[name] for part in parts), 9) + 0.0 for name in names}


def out_of(contest: Row, tables: Row) -> set[str]:
    """Agents whose results do not count."""
    gone = [] if contest["format"]["name"] in KEEPS_WITHDRAWN else tables["withdrawn"]
    return {row["agent"] for row in (*tables["disqualified"], *gone)}


def check_tables(contest: Row, tables: Row, problems: Problems) -> None:
    """Compare the tables of results with the games."""
    own, duel, out = contest["policy"].get("points"), contest.get("duel"), out_of(contest, tables)
    lines = _lines(contest, tables, out, problems)
    if own and duel:
        return  # the points of a duel depend on those of its games
    for row in () if duel else [row for row in tables["games"] if row["verdict"] is not None]:
        found = [row["first_points"], row["second_points"]]
        problems.compare(f"game {row['number']}, points", found, _points(row, own))
    agents = [row["agent"] for row in tables["standings"]]
    if sorted(agents) != sorted(lines):
        problems.append("agents of standings.json: others than those of the contest")
        return
    ordered = [lines[agent] for agent in agents]
    totals = [line.totals for line in ordered]
    problems.compare("standings.json", tables["standings"], totals, SLACK)
    if contest["format"]["name"] in BY_RESULTS:
        _check_places(contest, tables, lines, out, problems)
    cells = [[line.met[other]["points"] if other in line.met else None for other in agents] for line in ordered]
    problems.compare("crosstable.json", tables["crosstable"], {"agents": agents, "points": cells}, SLACK)
    pairs = [
        {"agent": line.agent, "opponent": other, **{name: line.met[other][name] for name in OF_PAIR}}
        for line in ordered
        for other in agents
        if other in line.met
    ]
    problems.compare("pairs.json", tables["pairs"], pairs, SLACK)


# --- totals ----------------------------------------------------------------------------------------------------------


def _points(row: Row, own: object) -> list[float]:
    """Points of both seats; a policy may define its own, which only the result line gives."""
    if own:
        return [row["first_points"], row["second_points"]]
    if row["verdict"] == "draw":
        return [0.5, 0.5]
    return [float(agent == row["winner"]) for agent in (row["first"], row["second"])]


def _of_game(agent: str, row: Row, own: object) -> Totals:
    side = "first" if row["first"] == agent else "second"
    draws = int(row["verdict"] == "draw")
    wins = 0 if draws else int(row["winner"] == agent)
    return {
        "points": _points(row, own)[side == "second"],
        "games": 1,
        "wins": wins,
        "draws": draws,
        "losses": 1 - wins - draws,
        "byes": 0,
        "failures": int(row[f"{side}_fault"] in FAILURES),
        "replies": row[f"{side}_replies"],
        "charged_ms": row[f"{side}_charged_ms"],
    }


def _lines(contest: Row, tables: Row, out: set[str], problems: Problems) -> dict[str, Line]:
    """Totals by agent. The games of a pairing are adjacent; pairings with an agent that is out do not count."""
    own, duel, games = contest["policy"].get("points"), contest.get("duel"), contest["format"]["games"]
    best = max((max(points) for points in own.values()), default=1) if own else 1
    met: dict[str, dict[str | None, list[Totals]]] = {entry["name"]: defaultdict(list) for entry in contest["entries"]}
    places = [(row["round"], row["table"]) for row in tables["pairings"]]
    problems.expect(len(set(places)) == len(places), "two pairings of a round have one table")
    count = 0
    for row in tables["pairings"]:
        first, second = row["first"], row["second"]
        if second is None:
            bye = summed([]) | {"byes": 1, "points": duel["win"] if duel else games * best}
            if first not in out:
                met[first][None].append(bye)
            continue
        rows = tables["games"][count : count + games]
        count += len(rows)
        seats = [(second, first) if leg % 2 else (first, second) for leg in range(games)]
        place = {"round": row["round"], "table": row["table"]}
        expected = [{**place, "leg": leg, "first": one, "second": two} for leg, (one, two) in enumerate(seats)]
        problems.compare(f"games of round {row['round']}, table {row['table']}", rows, expected)
        played = [each for each in rows if each["verdict"] is not None]
        if not out & {first, second}:
            both = [summed(_of_game(agent, each, own) for each in played) for agent in (first, second)]
            points = [each["points"] for each in both]
            for agent, other, totals, mine, its in zip(
                (first, second), (second, first), both, points, reversed(points), strict=True
            ):
                if duel:
                    weighed = duel["draw"] if mine == its else duel["win"] if mine > its else duel["loss"]
                    totals["points"] = weighed if len(rows) == games == len(played) else 0
                met[agent][other].append(totals)
    problems.compare("games of all pairings", len(tables["games"]), count)
    lines = {}
    for agent, against in met.items():
        sums = {other: summed(each) | {"pairings": len(each)} for other, each in against.items()}
        lines[agent] = Line(agent, summed(sums.values()), sums)
    return lines


# --- places ----------------------------------------------------------------------------------------------------------


def _check_places(contest: Row, tables: Row, lines: Mapping[str, Line], out: set[str], problems: Problems) -> None:
    ranking = contest["format"]["ranking"]
    known = ranking[: next((at for at, each in enumerate(ranking) if each not in CRITERIA), len(ranking))]
    ordered = [lines[row["agent"]] for row in tables["standings"]]
    tiers = _ranked(lines, [line for line in ordered if line.agent not in out], known)
    last = [line for tier in _ranked(lines, [line for line in ordered if line.agent in out], known) for line in tier]
    place, right = 1, dict[str, int]()
    for tier in (*tiers, last):
        right |= {line.agent: place for line in tier}
        place += len(tier)
    problems.compare(
        "criteria of standings.json", tables["standings"], [line.values for line in ordered], CRITERIA_SLACK
    )
    if len(known) == len(ranking):  # other criteria are ratings with intervals
        places = [row["place"] for row in tables["standings"]]
        problems.compare("places of standings.json", places, [right[line.agent] for line in ordered])
        problems.compare("order of standings.json", places, sorted(places))


def _ranked(lines: Mapping[str, Line], equal: Sequence[Line], criteria: Sequence[str]) -> list[list[Line]]:
    """Tied lines in groups that share a place, best first."""
    if not criteria or not equal:
        return [list(equal)] if equal else []
    name, tiers = f"compared:{criteria[0]}", defaultdict(list)
    value_of = CRITERIA[criteria[0]](lines, equal)
    for line in equal:
        line.values[name] = round(value_of(line), 9) + 0.0
        tiers[line.values[name]].append(line)
    return [tier for value in sorted(tiers, reverse=True) for tier in _ranked(lines, tiers[value], criteria[1:])]


Lines = Mapping[str, Line]
Criterion = Callable[[Lines, Sequence[Line]], Callable[[Line], float]]


def _of_opponents(weight: Callable[[Totals], float]) -> Criterion:
    """The opponents' points, weighed; a bye has the agent's own."""
    return lambda lines, _: (
        lambda line: sum(
            weight(each) * (line if other is None else lines[other]).points for other, each in line.met.items()
        )
    )


def _direct(_: Lines, equal: Sequence[Line]) -> Callable[[Line], float]:
    names = {line.agent for line in equal}
    have_met = all(len(names & line.met.keys()) == len(equal) - 1 for line in equal)
    return lambda line: sum(line.met[name]["points"] for name in names & line.met.keys()) if have_met else 0


def _koya(lines: Lines, _: Sequence[Line]) -> Callable[[Line], float]:
    """Points against agents that have at least half of the points of their games."""

    def of_both(line: Line) -> float:
        return math.fsum(lines[other].met[line.agent]["points"] for other in line.met if other is not None)

    strong = {agent for agent, line in lines.items() if line.points >= round(of_both(line), 9)}
    return lambda line: sum(each["points"] for other, each in line.met.items() if other in strong)


def _time(_: Lines, equal: Sequence[Line]) -> Callable[[Line], float]:
    have_replied = all(line.totals["replies"] > 0 for line in equal)
    return lambda line: -line.totals["charged_ms"] / line.totals["replies"] if have_replied else 0


def _rating(lines: Lines, equal: Sequence[Line]) -> Callable[[Line], float]:
    """Ratings closer than `RATING_TIE` to the next better one count as that."""
    ratings, values = _ratings(lines), {}
    best = before = math.inf
    for agent in sorted((line.agent for line in equal), key=ratings.__getitem__, reverse=True):
        best = ratings[agent] if before - ratings[agent] >= RATING_TIE else best
        values[agent], before = best, ratings[agent]
    return lambda line: values[line.agent]


CRITERIA: Mapping[str, Criterion] = {
    "points": lambda *_: lambda line: line.points,
    "wins": lambda *_: lambda line: line.totals["wins"],
    "ratio": lambda *_: lambda line: (line.totals["wins"] + 1e-8) / (line.totals["losses"] + 1e-8),
    "direct": _direct,
    "sonneborn-berger": _of_opponents(lambda each: each["wins"] + each["draws"] / 2),
    "buchholz": _of_opponents(lambda each: each["pairings"]),
    "koya": _koya,
    "time": _time,
    "rating": _rating,
}


def _ratings(lines: Lines) -> dict[str, float]:
    """BayesElo ratings with mean 1600. A draw is a win and a loss; each agent has two virtual draws."""
    games = {
        (one, other): (each["wins"] + each["draws"], lines[other].met[one]["wins"] + each["draws"], each["games"])
        for one, line in lines.items()
        for other, each in line.met.items()
        if other is not None and each["games"]
    }
    total: dict[str, float] = defaultdict(float)
    for (one, _), (*_, count) in games.items():
        total[one] += count
    against: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for (one, other), (won, lost, count) in sorted(games.items()):
        virtual = count * (1 / total[one] + 1 / total[other])
        against[one].append((other, won + virtual, lost + virtual))
    # The last digits depend on the order: each agent with its later opponents.
    order = [agent for pair in sorted(games) if pair[0] < pair[1] for agent in pair]
    strength, change = dict.fromkeys(order, 1.0), math.inf
    for _ in range(MAX_ROUNDS):
        if change < CLOSE:
            break
        change = 0.0
        for one in reversed(strength):
            mine = strength[one]
            rate = sum(
                won / (mine + DRAW_MARGIN * strength[other])
                + DRAW_MARGIN * lost / (DRAW_MARGIN * mine + strength[other])
                for other, won, lost in against[one]
            )
            better = sum(won for _, won, _ in against[one]) / rate
            change = max(change, abs(better - mine) / (better + mine))
            strength[one] = better
    elo = {agent: 400 * math.log10(each) for agent, each in strength.items()}
    mean = sum(elo.values()) / max(1, len(elo))
    ratings = {agent: 1600 + each - mean for agent, each in elo.items()}
    least = min([0, *(math.floor(rating) - 1 for rating in ratings.values())])
    return {agent: ratings.get(agent, least) for agent in lines}


# --- pairings --------------------------------------------------------------------------------------------------------


def check_pairings(contest: Row, tables: Row, problems: Problems) -> None:
    """In a round robin each pair of a group meets as often as the format says, without pairs left out by ratings."""
    form, out = contest["format"], out_of(contest, tables)
    skip, is_round_robin = form.get("skip"), form["name"] in ("round-robin", "double-round-robin")
    if not skip and not is_round_robin:
        return
    cycles = form.get("cycles", 2 if form["name"] == "double-round-robin" else 1)

    def rating(agent: str) -> float:
        return float(skip["agents"].get(agent, {"rating": 0})["rating"]) if skip else 0

    groups: dict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    for row in tables["pairings"]:
        if row["second"] is not None:
            groups[row["group"]][frozenset((row["first"], row["second"]))] += 1
    if is_round_robin:
        groups[""] = groups[""]
    for group, met in groups.items():
        members = [entry["name"] for entry in contest["entries"]] if is_round_robin else sorted(set().union(*met))
        has_skip = skip and (not skip["groups"] or group in skip["groups"])
        difference = skip["rating_difference"] if has_skip else math.inf
        if not is_round_robin and out & set(members):
            continue  # they may be missing from later rounds of a league
        pairs = [(one, other) for at, one in enumerate(members) for other in members[at + 1 :]]
        for one, other in pairs:
            is_left_out = min(rating(one), rating(other)) > 0 and abs(rating(one) - rating(other)) >= difference
            expected, found = 0 if is_left_out else cycles, met[frozenset((one, other))]
            problems.expect(
                found == expected, f'pairings of group "{group}": {one} and {other} meet {found} times, not {expected}'
            )

"""Points, criteria and places of a contest, computed again from the lines of its games."""

import math
from typing import Any

Row = dict[str, Any]
Totals = dict[str, float]
Met = dict[str, dict[str, Totals]]  # by agent and opponent, which is empty for a bye

FAILURES = ("illegal", "unreadable", "start-time", "turn-time", "match-time", "memory", "output", "crash", "refused")
OF_PAIR = ("points", "games", "wins", "draws", "losses")
OF_AGENT = (*OF_PAIR, "byes", "failures", "replies", "charged_ms")
NOTHING: Totals = dict.fromkeys((*OF_AGENT, "pairings"), 0) | {"points": 0.0, "score": 0.0, "charged_ms": 0.0}
BY_RESULTS = ("round-robin", "double-round-robin", "gauntlet", "swiss", "sprt", "ladder")  # without stages


class Problems(list[str]):
    def expect(self, is_true: object, problem: str) -> None:
        if not is_true:
            self.append(problem)

    def compare(self, place: str, found: Any, expected: Any, slack: float = 1e-9) -> None:
        """Report each value that differs. `found` may have more keys; an integer must not be written as a float."""
        if isinstance(expected, dict):
            for key, value in expected.items():
                self.compare(f"{place}, {key}", found[key], value, slack)
        elif isinstance(expected, list):
            self.expect(len(found) == len(expected), f"{place}: {len(found)} values, expected {len(expected)}")
            for number, (one, other) in enumerate(zip(found, expected, strict=False)):
                self.compare(f"{place}, {number}", one, other, slack)
        else:
            is_number = isinstance(expected, float) and type(found) in (int, float)
            is_near = is_number and math.isclose(found, expected, rel_tol=slack, abs_tol=slack)
            is_same = type(found) is type(expected) and found == expected
            self.expect(is_same or is_near, f"{place}: found {found!r:.80}, expected {expected!r:.80}")


def check_tables(contest: Row, tables: Row, out: set[str], problems: Problems) -> None:
    """Compare games with pairings, and results with the games; those of agents in `out` do not count."""
    check_pairings(contest, tables, problems)
    if contest["policy"].get("points") and contest.get("duel"):
        return  # the points of a duel depend on those of its games, which are not published
    met = meetings(contest, tables, out, problems)
    totals = {agent: added(*against.values()) for agent, against in met.items()}
    agents = [row["agent"] for row in tables["standings"]]
    problems.expect(sorted(agents) == sorted(totals), "standings.json: other agents than those of the contest")
    standings = [{name: totals[agent][name] for name in OF_AGENT} for agent in agents]
    problems.compare("standings.json", tables["standings"], standings)
    cells = [[met[agent][other]["points"] if other in met[agent] else None for other in agents] for agent in agents]
    problems.compare("crosstable.json", tables["crosstable"], {"agents": agents, "points": cells})
    pairs = [(one, two) for one in agents for two in agents if two in met[one]]
    rows = [{"agent": one, "opponent": two, **{name: met[one][two][name] for name in OF_PAIR}} for one, two in pairs]
    problems.compare("pairs.json", tables["pairs"], rows)
    if contest["format"]["name"] in BY_RESULTS:
        check_places(contest["format"]["ranking"], tables["standings"], out, met, problems)


def check_pairings(contest: Row, tables: Row, problems: Problems) -> None:
    """The games are those of the pairings; in a round robin each pair meets as often as the format says."""
    form, games, met = contest["format"], list[Row](), list[list[str]]()
    for row in tables["pairings"]:
        seats = [row["first"], row["second"]]
        for leg in range(form["games"] if row["second"] else 0):
            place = {"round": row["round"], "table": row["table"], "leg": leg}
            games.append({**place, "first": seats[leg % 2], "second": seats[1 - leg % 2]})
        met += [sorted(seats)] if row["second"] else []
    problems.compare("games.json", tables["games"], games)
    seated = [(row["round"], agent) for row in tables["pairings"] for agent in (row["first"], row["second"]) if agent]
    is_once = form["name"] == "ladder" or len(set(seated)) == len(seated)
    problems.expect(is_once, "pairings.json: an agent is twice in a round")
    if form["name"] in ("round-robin", "double-round-robin"):
        cycles = form.get("cycles", 2 if form["name"] == "double-round-robin" else 1)
        skip = form.get("skip") or {"agents": {}, "rating_difference": 0}
        rating = {name: each["rating"] for name, each in skip["agents"].items() if each["rating"] > 0}
        names, expected = sorted(entry["name"] for entry in contest["entries"]), list[list[str]]()
        for one, other in ((one, other) for one in names for other in names if one < other):
            are_rated = one in rating and other in rating
            is_left_out = are_rated and abs(rating[one] - rating[other]) >= skip["rating_difference"]
            expected += [] if is_left_out else [[one, other]] * cycles
        problems.expect(sorted(met) == expected, 'pairings of group "": a pair is missing or left over')


def added(*parts: Totals) -> Totals:
    return {name: sum((part[name] for part in parts), nothing) for name, nothing in NOTHING.items()}


def meetings(contest: Row, tables: Row, out: set[str], problems: Problems) -> Met:
    """Totals of all pairings without an agent that is out."""
    points_of_word, duel, legs = contest["policy"].get("points"), contest.get("duel"), contest["format"]["games"]
    best = max(max(points) for points in points_of_word.values()) if points_of_word else 1.0
    met: Met = {entry["name"]: {} for entry in contest["entries"]}
    played: dict[tuple[int, int], list[dict[str, Totals]]] = {}
    for row in tables["games"]:
        if row["verdict"] is not None:
            sides = {row[side]: totals_of(row, side, points_of_word) for side in ("first", "second")}
            played.setdefault((row["round"], row["table"]), []).append(sides)
            points = [None, None] if duel else [totals["points"] for totals in sides.values()]
            problems.compare(f"game {row['number']}", [row["first_points"], row["second_points"]], points)
    for pairing in tables["pairings"]:
        first, second = pairing["first"], pairing["second"] or ""
        games = played.get((pairing["round"], pairing["table"]), [])
        first_totals, second_totals = (added(*(game[agent] for game in games)) for agent in (first, second))
        if not second:
            first_totals |= {"byes": 1, "score": legs, "points": float(duel["win"] if duel else legs * best)}
        elif duel:
            lead = first_totals["points"] - second_totals["points"]
            words = ("draw", "draw") if lead == 0 else ("win", "loss") if lead > 0 else ("loss", "win")
            first_totals["points"], second_totals["points"] = (
                float(duel[word]) if len(games) == legs else 0.0 for word in words
            )
        for agent, opponent, totals in ((first, second, first_totals), (second, first, second_totals)):
            if agent and not out & {first, second}:
                met[agent][opponent] = added(met[agent].get(opponent, NOTHING), totals, NOTHING | {"pairings": 1})
    return met


def totals_of(row: Row, side: str, points_of_word: object) -> Totals:
    """Totals of a side of a game. A policy's own points follow from the result line, which is not read here."""
    draws, wins = int(row["verdict"] == "draw"), int(row["winner"] == row[side])
    points = row[f"{side}_points"] if points_of_word else wins + draws / 2
    failures, replies = int(row[f"{side}_fault"] in FAILURES), row[f"{side}_replies"]
    values = (float(points), 1, wins, draws, 1 - wins - draws, 0, failures, replies, row[f"{side}_charged_ms"])
    return NOTHING | dict(zip(OF_AGENT, values, strict=True)) | {"score": wins + draws / 2}


def check_places(ranking: list[str], standings: list[Row], out: set[str], met: Met, problems: Problems) -> None:
    """Compare each criterion, among agents that are equal before it, and the places with the criteria."""

    def rank(row: Row, count: int) -> list[Any]:
        return [row["agent"] not in out, *(row[f"compared:{name}"] for name in ranking[:count])]

    for row in standings:
        for count, name in enumerate(ranking):
            equal = [other["agent"] for other in standings if rank(other, count) == rank(row, count)]
            value, slack = criterion(name, row["agent"], equal, met), 1e-4 if name == "rating" else 1e-8
            if value is not None:
                problems.compare(f"{row['agent']}, compared:{name}", row[f"compared:{name}"], float(value), slack)
        end = 0 if row["agent"] in out else len(ranking)  # agents that are out share the last place
        better = [other for other in standings if rank(other, end) > rank(row, end)]
        problems.compare(f"{row['agent']}, place", row["place"], 1 + len(better))


def criterion(name: str, agent: str, equal: list[str], met: Met) -> float | None:
    totals, against = {each: added(*met[each].values()) for each in met}, met[agent]
    agent_totals = totals[agent]
    points = {other: totals[other or agent]["points"] for other in against}  # a bye counts as an equal opponent
    match name:
        case "points" | "wins":
            return agent_totals[name]
        case "ratio":
            return (agent_totals["wins"] + 1e-8) / (agent_totals["losses"] + 1e-8)
        case "direct":
            have_met = all(other in met[each] for each in equal for other in equal if other != each)
            return sum(against[other]["points"] for other in equal if other != agent) if have_met else 0
        case "sonneborn-berger":
            return sum(each["score"] * points[other] for other, each in against.items())
        case "buchholz":
            return sum(each["pairings"] * points[other] for other, each in against.items())
        case "koya":  # points against agents that have at least half of the points of their games
            lost = {other: sum(met[each][other]["points"] for each in met[other] if each) for other in against if other}
            return sum(against[other]["points"] for other in lost if points[other] >= lost[other] - 1e-9)
        case "time":
            have_replied = all(totals[each]["replies"] for each in equal)
            return -agent_totals["charged_ms"] / agent_totals["replies"] if have_replied else 0
        case "rating":
            return ratings(met).get(agent)
        case "elo":  # the model with intervals is not computed here
            return None
    raise ValueError(f"unknown criterion {name!r}")


def ratings(met: Met) -> dict[str, float]:
    """BayesElo ratings with mean 1600: a draw is a win and a loss, and each agent has two virtual draws."""
    margin = 10 ** (0.01 / 400)
    games = {agent: sum(each["games"] for each in met[agent].values()) for agent in met}
    strengths = {agent: 1.0 for agent in met if games[agent]}
    for _ in range(300):
        for agent, strength in strengths.items():
            won = rate = 0.0
            for other in (other for other, each in met[agent].items() if each["games"]):
                mine, its, theirs = met[agent][other], met[other][agent], strengths[other]
                virtual = mine["draws"] + mine["games"] * (1 / games[agent] + 1 / games[other])
                won += mine["wins"] + virtual
                rate += (mine["wins"] + virtual) / (strength + margin * theirs)
                rate += margin * (its["wins"] + virtual) / (margin * strength + theirs)
            strengths[agent] = won / rate
    elo = {agent: 400 * math.log10(strength) for agent, strength in strengths.items()}
    return {agent: 1600 + each - sum(elo.values()) / len(elo) for agent, each in elo.items()}

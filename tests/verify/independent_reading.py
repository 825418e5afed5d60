"""A second opinion on an export or a cup, for the tests alone. It imports nothing of judge.

`problems` recomputes what follows from the records' own words: the lines of the games, points, criteria, places,
pairs, crosstable, participants, the pairs of a round robin, the seeds of all attempts, the draw, the history of the log
and a ladder's admissions; of a cup also places, medals, promotion and the announcement. It replays no game, and does
not check signature, manifest, tiles and checkpoints: that is for verify.mjs.
"""

import json
import re
from pathlib import Path
from typing import Any

from tests.verify.independent_files import (
    Problems,
    Row,
    canonical,
    check_measurements,
    parse,
    read_tables,
    sha256,
    transcript_digest,
)
from tests.verify.independent_log import History, check_admissions, check_draw, derived, read_lines
from tests.verify.independent_tables import check_pairings, check_tables

UNCOUNTED = ("void", "annulled", "superseded")
OPEN = ("pending", "running", "held")
DRAWN_AT_START = ("round-robin", "double-round-robin", "gauntlet")

ERRORS = (ValueError, LookupError, TypeError, AttributeError, OSError, ArithmeticError, RecursionError)
"""Raised by files of another form."""

PAGE = re.compile(
    r"([a-z]{2,3}(-[A-Za-z]{2,4})?/)?((games|agents|pairs|rounds)/[0-9][0-9-]*\.(html|png)|[a-z][a-z0-9_-]*\.html)"
    r"|(manifest|contest|chance|joined)\.json|manifest\.sig|organiser\.pem|games\.pgn|[a-z]+\.(css|js|mjs)"
    r"|log/.*|data/README\.md|data/(fairness|histories)\.(csv|json)|\.gitattributes"
)
"""Files that are not computed here: pages, downloads, the log's tiles, statistics."""


def problems(directory: Path) -> list[str]:
    """What contradicts what in an export or a cup; empty if nothing does. Reads files that are not listed anywhere."""
    found = Problems()
    try:
        if (directory / "cup.json").exists():
            _check_cup(directory, found)
        else:
            Contest(directory, found)
    except ERRORS as error:
        found.append(f"it cannot be read: {type(error).__name__}: {error}"[:300])
    return found


class Contest:
    """An export that was read: its document, tables and journal."""

    def __init__(self, directory: Path, problems: Problems) -> None:
        self.directory, self.problems = directory, problems
        self.text = (directory / "contest.json").read_bytes().decode()
        self.document = parse(self.text, "contest.json")
        self.tables = read_tables(directory, self.document["format"]["ranking"], problems)
        self.first = [entry["name"] for entry in self.document["entries"]]
        self._add_late()
        names = [entry["name"] for entry in self.document["entries"]]
        problems.expect(len(set(names)) == len(names), "contest.json: two entries have one name")
        self.key = self._check_chance()
        self._check_records()
        check_tables(self.document, self.tables, problems)
        check_pairings(self.document, self.tables, problems)
        self._check_names()
        self.lines: list[Row] = []
        if (directory / "log").exists():
            self._check_log()
        else:
            problems.expect(not self.document["freeze"], "the export has no log, but its draw depends on one")

    def _add_late(self) -> None:
        """Entries after the start have the next ranks."""
        entries = self.document["entries"]
        for row in self.tables["entered"]:
            late = parse(row["entry"], "entered.json")
            is_right = late["name"] == row["agent"] and late["rank"] == len(entries) + 1
            self.problems.expect(is_right, f"entered.json: the entry of {row['agent']} has another name or rank")
            entries.append(late)

    def _check_chance(self) -> str | None:
        """The key of all chance, if the secret is revealed."""
        contest, problems = self.document, self.problems
        ranks = [entry["rank"] for entry in contest["entries"]]
        is_drawn = contest["seeding"] == "drawn"
        problems.compare("ranks", sorted(ranks) if is_drawn else ranks, list(range(1, len(ranks) + 1)))
        path, freeze, commitment = self.directory / "chance.json", contest["freeze"], contest["commitment"]
        if commitment is None or not path.exists():
            return None
        chance = parse(path.read_bytes(), path.name)
        right = {"contest": contest["name"], "commitment": commitment, "secret": chance["secret"]}
        problems.expect(chance == right, "chance.json: not the secret of this contest")
        is_secret = sha256(bytes.fromhex(chance["secret"])) == commitment
        problems.expect(is_secret, "chance.json: the SHA-256 of the secret is not the commitment")
        if not freeze:
            return None
        return derived(chance["secret"], "draw", contest["name"], freeze["entries"], freeze["leaves"], freeze["root"])

    def _check_records(self) -> None:
        problems, rows = self.problems, {row["number"]: row for row in self.tables["games"]}
        problems.expect(len(rows) == len(self.tables["games"]), "games.json: a game is there twice")
        listed = set()
        for row in (*self.tables["games"], *self.tables["attempts"]):
            game, key = rows[row["number"]], (row["number"], row["attempt"])
            if "id" in row and row["state"] != "done":
                continue
            what = f"game {row['number']}"
            problems.expect(key not in listed, f"attempts.json: {what} has an attempt twice, or one that counts")
            listed.add(key)
            record = self._read_record(game, row)
            is_void = record["verdict"] == "void"
            if row is game:
                problems.compare(what, row, _claims(record, row))
                problems.expect(not is_void, f"{row['record']}: void, so it cannot count")
            else:
                is_state = row["state"] in UNCOUNTED
                problems.expect(
                    is_state, f"attempts.json: {what}: {row['state']} is not the state of an uncounted attempt"
                )
                problems.compare(f"{row['record']}, game", record["id"], game["id"])
                is_right = row["state"] != "void" or (is_void and record["winner"] is None)
                problems.expect(
                    is_right, f"{row['record']}: its verdict is {record['verdict']}; in the tables it is void"
                )

    def _read_record(self, game: Row, row: Row) -> Row:
        path, number = row["record"], row["number"]
        record, transcript = map(parse((self.directory / path).read_bytes(), path).get, ("record", "transcript"))
        files = {entry["name"]: entry["seat"]["digest"] for entry in self.document["entries"]}
        spec, digest = record["spec"], transcript_digest(transcript)
        expected = [files[game["first"]], files[game["second"]]]
        self.problems.compare(f"{path}, attempt", record["attempt"], row["attempt"])
        self.problems.compare(f"{path}, files", [seat["digest"] for seat in spec["seats"]], expected)
        found = [transcript["sha256"], record["transcript_sha256"]]
        self.problems.compare(f"game {number}, transcript", found, [digest, digest])
        check_measurements(record, path, self.problems)
        if self.key:
            place = (game["round"], game["table"], game["leg"], row["attempt"])
            seed = derived(self.key, "game", *place)
            self.problems.expect(spec["seed"] == seed, f"{path}: another seed than the contest's chance gives")
        return dict(record)

    def _check_names(self) -> None:
        """Signed files that no export has, and tables that are not there as CSV and JSON."""
        tables = [name for name in self.tables if self.tables[name] or name not in ("withdrawn", "entered")]
        known = {f"data/{name}.{kind}" for name in tables for kind in ("csv", "json")}
        known |= {row["record"] for row in (*self.tables["games"], *self.tables["attempts"]) if row["record"]}
        for path in sorted(self.directory.rglob("*")):
            name = path.relative_to(self.directory).as_posix()
            self.problems.expect(path.is_dir() or name in known or PAGE.fullmatch(name), f"{name}: unexpected file")

    def _check_log(self) -> None:
        contest, tables, problems = self.document, self.tables, self.problems
        self.lines = read_lines(self.directory, tables["journal"], problems)
        created = [line["digest"] for line in self.lines if line["event"] == "created"]
        problems.compare("contest.json in the log", created, [sha256(self.text.encode())])
        history = History(contest, tables, problems)
        for number, line in enumerate(self.lines):
            history.take(line, number)
        history.end(self.directory)
        if contest["format"]["name"] == "ladder":
            check_admissions(contest, tables, self.lines, problems)
        first = [entry for entry in contest["entries"] if entry["name"] in self.first]
        check_draw(self.text, {**contest, "entries": first}, self.lines, problems)

    @property
    def places(self) -> list[list[Any]]:
        """Place and agent, best first, without disqualified agents."""
        out = {row["agent"] for row in self.tables["disqualified"]}
        return [[row["place"], row["agent"]] for row in self.tables["standings"] if row["agent"] not in out]

    @property
    def is_open(self) -> bool:
        return any(row["state"] in OPEN for row in self.tables["games"])

    def moments(self, *events: str) -> list[str]:
        return sorted(line["at"] for line in self.tables["journal"] if line["event"] in events)


def _moves(record: Row) -> str:
    """The digest of a game's content, by which copies are recognised."""
    answers = [[ply["seat"], " ".join(ply["said"].split())] for ply in record["plies"]]
    content = [record["spec"]["opening"], answers, record["verdict"], record["winner"], record["result"]]
    return sha256(json.dumps(content, separators=(",", ":")).encode())


def _claims(record: Row, row: Row) -> Row:
    """The columns of games.json that follow from a record."""
    said = {key: record[key] for key in ("id", "attempt", "verdict", "reason", "result", "seconds")}
    winner = record["winner"]
    said |= {
        "number": record["spec"]["number"],
        "moves": _moves(record),
        "winner": None if winner is None else (row["first"], row["second"])[winner],
    }
    for seat, side in enumerate(("first", "second")):
        own = record["seats"][seat]
        replies = sum(ply["seat"] == seat for ply in record["plies"])
        said |= {f"{side}_fault": own["fault"], f"{side}_charged_ms": own["charged_ms"], f"{side}_replies": replies}
    return said


# --- a cup -----------------------------------------------------------------------------------------------------------

ANNOUNCED = ("name", "after", "promoted", "promotes_new", "medals")
TERMS = ["name", "policy", "format", "duel", "failures", "seed", "seeding", "openings", "shuffle", "transform", "box"]
DEFAULTS: Row = {"promoted": 0, "promotes_new": False}


def _check_cup(directory: Path, problems: Problems) -> None:
    """The leagues are the announced ones, and places and medals follow from their exports."""
    text = (directory / "cup.json").read_bytes()
    cup, exports = parse(text, "cup.json"), dict[str, Contest]()
    for league in cup["leagues"]:
        if league["contest"]:
            own = Problems()
            try:
                exports[league["name"]] = found = Contest(directory / league["name"], own)
            except ERRORS as error:
                problems.append(f"{league['name']}: cannot be read: {error}"[:300])
                return
            problems += [f"{league['name']}: {each}" for each in own]
            manifest = sha256((directory / league["name"] / "manifest.json").read_bytes())
            problems.compare(f"{league['name']}, contest", found.document["name"], league["contest"])
            problems.compare(f"{league['name']}, manifest", manifest, league["manifest"])
    names = [each[key] for key in ("name", "contest") for each in cup["leagues"] if each[key]]
    problems.expect(len(names) == len(set(names)), "cup.json: two leagues have one name")
    flags = [type(each[key]) for key in ("medals", "is_over") for each in cup["leagues"]]
    problems.expect(set(flags) <= {bool}, "cup.json: medals or is_over of a league is neither true nor false")
    _check_announcement(directory, cup, exports, problems)
    leagues = [_league(league, exports.get(league["name"]), problems) for league in cup["leagues"]]
    for league in cup["leagues"]:
        _check_promotion(league, cup, exports, problems)
    right = {"format": "judge-cup-1", "name": cup["name"], "about": cup["about"], "leagues": leagues}
    right["medals"] = _medals(leagues, exports)
    problems.expect(canonical(right) == canonical(cup), "cup.json: places and medals do not follow from the leagues")


def _check_announcement(directory: Path, cup: Row, exports: dict[str, Contest], problems: Problems) -> None:
    data = (directory / "announcement.json").read_bytes()
    announced = parse(data, "announcement.json")
    shown, right = (
        [[league.get(key, DEFAULTS.get(key)) for key in ANNOUNCED] for league in each["leagues"]]
        for each in (cup, announced)
    )
    is_same = shown == right and announced["name"] == cup["name"]
    problems.expect(is_same, "cup.json: the leagues differ from those of announcement.json")
    terms = {league["name"]: league for league in announced["leagues"]}
    words = f"league of the cup {announced['name']}, announcement {sha256(data)}"
    for name, found in exports.items():
        is_own = found.document["name"] == terms[name]["contest"]
        problems.expect(is_own, f"{name}: its contest is not the announced one")
        is_first = [(line["event"], line["text"]) for line in found.lines[:1]] == [("announced", words)]
        problems.expect(is_first, f"{name}: its log does not begin with the digest of announcement.json")
        document = parse(found.text, name)
        form = {
            key: {k: v for k, v in value.items() if k != "agents"} if value and key in ("skip", "seats") else value
            for key, value in document["format"].items()
        }
        own = {key: form if key == "format" else document[key] for key in TERMS}
        is_of_terms = sha256(canonical(own).encode()) == terms[name]["terms"]
        problems.expect(is_of_terms, f"{name}: its terms are not those of announcement.json")


def _league(league: Row, found: Contest | None, problems: Problems) -> Row:
    """A league of the document with the places of its export."""
    name, is_over = league["name"], league["is_over"]
    is_drawn = found is not None and found.document["format"]["name"] in DRAWN_AT_START
    is_right = not is_over if found is None or found.is_open else is_over or not is_drawn
    problems.expect(is_right, f"{name}: not over, because games are open; or over, because none is")
    keys = ("name", "about", "after", "medals", "contest", "manifest", "key", "is_over")
    more = {key: league[key] for key in DEFAULTS if league.get(key)}
    return {**{key: league[key] for key in keys}, **more, "places": found.places if found else []}


def _medals(leagues: list[Row], exports: dict[str, Contest]) -> list[Row]:
    """An agent that failed in each of its games gets none."""
    counts: dict[str, list[int]] = {}
    for league in leagues:
        if league["is_over"] and league["medals"]:
            lines = {row["agent"]: row for row in exports[league["name"]].tables["standings"]}
            for place, agent in league["places"]:
                if place <= 3 and lines[agent]["failures"] < lines[agent]["games"]:
                    counts.setdefault(agent, [0, 0, 0])[place - 1] += 1
    ordered = sorted(counts.items(), key=lambda each: ([-count for count in each[1]], each[0]))
    return [{"agent": agent, **dict(zip(("gold", "silver", "bronze"), each, strict=True))} for agent, each in ordered]


def _check_promotion(league: Row, cup: Row, exports: dict[str, Contest], problems: Problems) -> None:
    """The best agents of the league below take part, unless it was changed after the lock-in."""
    name, after, promoted = league["name"], league["after"], league.get("promoted", 0)
    own, below = exports.get(name), exports.get(after)
    if not promoted or own is None:
        return
    if below is None:
        problems.append(f"{name}: {after} has not begun, so no agent advances from it")
        return
    is_over = next(each["is_over"] for each in cup["leagues"] if each["name"] == after)
    changed, created = below.moments("accepted", "annulled", "disqualified"), own.moments("created")
    if not is_over or changed[-1:] > created[:1]:
        return
    order, skip = [agent for _, agent in below.places], below.document["format"].get("skip")
    known = {agent for agent, each in (skip or {"agents": {}})["agents"].items() if each["rating"] > 0}
    oldest = next((at for at, agent in enumerate(order) if agent in known), len(order))
    count = max(promoted, oldest if skip and league.get("promotes_new") else 0)
    for agent in order[:count]:
        problems.expect(agent in own.first, f"{name}: {agent} advances from {after}, but does not take part")

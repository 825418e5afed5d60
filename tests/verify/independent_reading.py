"""A second opinion on the tables of an export or a cup, for the tests alone. It imports nothing of judge.

It computes places, participants, the draw and the end again from the records and the log. It replays no game, and takes
the files as they are: verify.mjs checks signature, digests and checkpoints.
"""

import csv
import hashlib
import hmac
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.verify.independent_tables import Problems, Row, check_tables

TABLES = ("standings", "crosstable", "pairs", "games", "pairings", "disqualified", "attempts", "journal")
OPTIONAL = ("withdrawn", "entered", "fairness", "histories")
OF_CUP_ALONE = ("manifest.json", "cup.json", "announcement.json")
NOT_READ = (".html", ".png", ".css", ".js", ".mjs", ".pem", ".sig", ".pgn", ".md", "")
OF_ATTEMPT = ("started", "accepted", "void", "abandoned", "superseded", "annulled")
OF_CONTEST = (*OF_ATTEMPT, "scheduled", "disqualified", "agent-withdrawn", "entered", "open", "paused", "stopped")
MOMENT_EVENTS = ("opened", "closed", "begins")
SUBMISSION_EVENTS = ("received", "processing", "failed", "refused", "passed", "approved", "withdrawn")
FIELDS = {
    "announced": "cup? announcement?",
    "frozen": "",
    "created": "entries",
    "scheduled": "games",
    "started": "first second",
    "accepted": "reason winner? first? second?",
    "set-aside": "attempts why",
    **dict.fromkeys(("void", "abandoned", "superseded", "annulled", "released", "open", "paused"), "why"),
    "season-ended": "why? ends?",
    "standings-frozen": "first",
    "round-played": "round",
    "revealed": "why round?",
    "admissions-frozen": "why",
    "admissions-reopened": "why",
    **dict.fromkeys(("entered", "not-entered", "disqualified", "agent-withdrawn"), "agent why"),
    "rated": "agent rating error",
    "stopped": "first second attempts why",
    "all-released": "games why",
    "late": "author why",
    "settings": "changes why",
    "window": "opens? closes? starts?",
    "ratings": "source",
    "folders": "source",
    "images": "images",
    "worker-noted": "words",
    "worker-lost": "name",
    "worker-joined": "name slots",
    "worker-barred": "name why",
    **dict.fromkeys(MOMENT_EVENTS, "at"),
    **dict.fromkeys(SUBMISSION_EVENTS, "number name?"),
}
NUMBERS = ("entries", "number", "games", "attempts", "rating", "error", "slots", "first", "round")
OF_FREEZE = ("standings-frozen", "round-played", "revealed")
NEVER_WITHHELD = (*OF_FREEZE, *SUBMISSION_EVENTS, "late", "opened", "closed", "window")
MOMENTS = ("at", "opens", "closes", "starts", "ends")
CLOCK = timedelta(days=1)  # by which a clock may be wrong
LEFT_OR_ENTERED = {"disqualified": "disqualified", "agent-withdrawn": "withdrawn", "entered": "entered"}
MEASURED = ("charged_ms", "cpu_ms", "memory_peak_bytes", "lingered_ms")
NOT_IN_TERMS = ("judge", "frozen_at", "freeze", "images", "host")
DRAWN_AT_START = ("round-robin", "double-round-robin", "gauntlet")
OF_CUP = ("name", "policy", "format", "duel", "failures", "seed", "seeding", "openings", "shuffle", "transform", "box")


def problems(directory: Path) -> list[str]:
    """What contradicts what in an export or a cup; empty if nothing does."""
    found = Problems()
    check = check_cup if (directory / "cup.json").exists() else Contest
    try:
        check(directory, found)
    except (ValueError, LookupError, TypeError, AttributeError, OSError, ArithmeticError) as error:
        found.append(f"it cannot be read: {type(error).__name__}: {error}"[:300])
    return found


def read_json(data: bytes) -> Any:
    def object_of(pairs: list[tuple[str, Any]]) -> Row:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object has a key twice")
        return dict(pairs)

    return json.loads(data.decode(), object_pairs_hook=object_of)


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def derived(key: str, *purpose: str | int) -> str:
    return hmac.digest(bytes.fromhex(key), canonical(purpose), "sha256").hex()


def root_of(leaves: list[bytes]) -> bytes:
    """The root of a Merkle tree (RFC 6962, 2.1)."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root_of(leaves[:left]) + root_of(leaves[left:])).digest()


def has_fields(event: str, data: Row) -> bool:
    names = FIELDS[event].split() if event in FIELDS else ["?"]
    required = {name for name in names if not name.endswith("?")}
    is_known = required <= data.keys() <= {name.removesuffix("?") for name in names} and event in FIELDS
    return is_known and all(is_value(name, value) for name, value in data.items())


def is_value(name: str, value: Any) -> bool:
    if name in NUMBERS:
        return type(value) is int and (value >= 0 or name == "rating")
    if name in MOMENTS:
        return {"at"} <= value.keys() <= {"at", "zone"} and datetime.fromisoformat(value["at"]).tzinfo is not None
    if name == "changes":
        return bool(value) and all(each.keys() == {"name", "before", "after"} for each in value)
    return isinstance(value, str)


class Contest:
    def __init__(self, directory: Path, problems: Problems) -> None:
        self.directory, self.problems, self.expect = directory, problems, problems.expect
        self.text = (directory / "contest.json").read_bytes()
        self.document = read_json(self.text)
        self.form, self.entries, self.freeze = (self.document[key] for key in ("format", "entries", "freeze"))
        self.annuls = self.form["name"] not in ("swiss", "ladder")  # results of an agent that withdraws
        self.tables = self.read_tables()
        self.games: list[Row] = self.tables["games"]
        self.listed = [*(row for row in self.games if row["state"] == "done"), *self.tables["attempts"]]
        self.late = [read_json(row["entry"].encode()) for row in self.tables["entered"]]
        both = {**self.document, "entries": [*self.entries, *self.late]}
        self.check_records({entry["name"]: entry["seat"]["digest"] for entry in both["entries"]})
        out = self.tables["disqualified"] + (self.tables["withdrawn"] if self.annuls else [])
        check_tables(both, self.tables, {row["agent"] for row in out}, problems)
        self.lines = self.read_log()
        self.check_draw()
        self.check_lines()
        self.check_salts()
        self.check_times()
        self.check_participants()
        self.check_history()

    def read_tables(self) -> dict[str, Any]:
        """Each table is there as JSON and as CSV with the same values, and no other table or record is there."""
        known, tables = {"manifest.json", "contest.json", "chance.json", "joined.json"}, dict[str, Any]()
        for name in (*TABLES, *OPTIONAL):
            path, tables[name] = self.directory / f"data/{name}.json", []
            if name in TABLES or path.exists():
                tables[name] = rows = read_json(path.read_bytes())
                if name == "crosstable":
                    lines = zip(rows["agents"], rows["points"], strict=True)
                    rows = [{"agent": agent, **dict(zip(rows["agents"], cells, strict=True))} for agent, cells in lines]
                self.check_csv(path.with_suffix(".csv"), rows)
                known |= {f"data/{name}.json", f"data/{name}.csv"}
        known |= {row["record"] for row in (*tables["games"], *tables["attempts"])}
        for path in self.directory.rglob("*"):
            name = path.relative_to(self.directory).as_posix()
            is_known = name in known or name.startswith("log/") or path.suffix in NOT_READ
            self.expect(path.is_dir() or is_known, f"{name}: unexpected file")
        return tables

    def check_csv(self, path: Path, rows: list[Row]) -> None:
        """Texts that a spreadsheet would run as a formula begin with an apostrophe."""

        def cell_of(value: object) -> str:
            text = str(value).removesuffix(".0") if isinstance(value, float) else str(value)
            return "" if value is None else text.removeprefix("'")

        with path.open(encoding="utf-8", newline="") as file:
            for cells, row in zip(csv.DictReader(file), rows, strict=True):
                found, expected = ([cell_of(each) for each in (*one, *one.values())] for one in (cells, row))
                self.expect(found == expected, f"{path.name}: {found} differs from {path.stem}.json")

    def check_records(self, files: dict[str, str]) -> None:
        """The lines of games and attempts are those of their records, with the files and seeds of the contest."""
        key, rows = self.find_key(), {row["number"]: row for row in self.games}
        for row in self.listed:
            game, path = rows[row["number"]], row["record"]
            record = read_json((self.directory / path).read_bytes())["record"]
            self.problems.compare(path, record, {"id": game["id"], "attempt": row["attempt"]})
            digests = [files[game["first"]], files[game["second"]]]
            self.problems.compare(f"{path}, files", [seat["digest"] for seat in record["spec"]["seats"]], digests)
            if row is game:
                self.problems.compare(path, row, claims_of(record, row))
            is_void = record["verdict"] == "void" and record["winner"] is None
            states = ("void", "annulled", "superseded") if is_void else ("done", "annulled", "superseded")
            self.expect(row["state"] in states, f"{path}: not the record of an attempt that is {row['state']}")
            measured = [seat.get(name) or 0 for seat in record["seats"] for name in MEASURED]
            is_positive = min(record["seconds"], record.get("judge_late_ms", 0), *measured) >= 0
            self.expect(is_positive, f"{path}: negative measurement")
            self.check_time(path, record["started_at"])
            seed = key and derived(key, "game", game["round"], game["table"], game["leg"], row["attempt"])
            self.expect(record["spec"]["seed"] == seed or not seed, f"{path}: another seed than the draw gives")

    def check_time(self, place: str, text: str) -> None:
        self.expect(
            re.fullmatch(r"[-0-9]+T[:.0-9]+\+00:00", text) and datetime.fromisoformat(text),
            f"{place}: {text} is not a time",
        )

    def find_key(self) -> str | None:
        """The key of the draw, if the secret is revealed."""
        ranks, path = [entry["rank"] for entry in (*self.entries, *self.late)], self.directory / "chance.json"
        in_order = sorted(ranks) if self.document["seeding"] == "drawn" else ranks
        self.expect(in_order == list(range(1, len(ranks) + 1)), "ranks: not those of the list")
        if not self.freeze or not path.exists():
            return None
        chance = read_json(path.read_bytes())
        commitment = sha256(bytes.fromhex(chance["secret"]))
        right = {"contest": self.document["name"], "commitment": commitment, "secret": chance["secret"]}
        self.expect(chance == right and commitment == self.document["commitment"], "chance.json: not of this contest")
        draw = (self.freeze[name] for name in ("entries", "leaves", "root"))
        return derived(chance["secret"], "draw", self.document["name"], *draw)

    def read_log(self) -> list[Row]:
        """The lines of the journal, each with its leaf and the digest in it."""
        leaves, lines = [], []
        for path in sorted(path for path in (self.directory / "log/tile/entries").rglob("*") if path.is_file()):
            data = path.read_bytes()
            while data:
                end = 2 + int.from_bytes(data[:2])
                leaves.append(data[2:end])
                data = data[end:]
        for number, (row, leaf) in enumerate(zip(self.tables["journal"], leaves, strict=True)):
            data = read_json(row["data"].encode())
            found = read_json(leaf)
            salt = {key: value for key, value in found.items() if key == "salt" and re.fullmatch("[0-9a-f]{32}", value)}
            values = {**row, "data": data, "digest": found["digest"], **salt}
            is_same = canonical(values) == leaf and canonical(data) == row["data"].encode()
            self.expect(is_same, f"leaf {number} of the log differs from the line of the journal")
            self.check_time(f"leaf {number} of the log", row["at"])
            lines.append({**values, "leaf": leaf, "agent": data.get("agent")})
        return lines

    def check_draw(self) -> None:
        """The commitment is the first leaf. Entries and terms are locked in once, before the contest is created."""
        events, freeze = [line["event"] for line in self.lines], self.freeze
        created = [line["digest"] for line in self.lines if line["event"] == "created"]
        self.expect(created == [sha256(self.text)], "contest.json differs from that of the log")
        self.expect(freeze, "no draw depends on the log")
        if not freeze:
            return
        count = freeze["leaves"]
        is_first = events[0] == "announced" and self.lines[0]["digest"] == self.document["commitment"]
        is_once = [number for number, event in enumerate(events, 1) if event == "frozen"] == [count]
        words = f"the log does not begin with the commitment, and lock in the entries once, as leaf {count}"
        self.expect(is_first and is_once and "created" not in events[:count], words)
        terms = {key: value for key, value in self.document.items() if key not in NOT_IN_TERMS}
        terms["entries"] = [{key: value for key, value in each.items() if key != "rank"} for each in self.entries]
        is_same = sha256(canonical(terms)) == freeze["entries"] == self.lines[count - 1]["digest"]
        self.expect(is_same, "the entries and terms that the log locked in differ from those of contest.json")
        is_root = root_of([line["leaf"] for line in self.lines[:count]]).hex() == freeze["root"]
        self.expect(is_root, f"the draw depends on another log: the root of the first {count} leaves differs")

    def check_lines(self) -> None:
        """A judge writes these lines: their data, games and digests are those of their events."""
        games, voids = {row["id"]: row for row in self.games}, dict[str, str]()
        for number, line in enumerate(self.lines):
            event, data, game = line["event"], line["data"], games.get(line["game"])
            is_right = has_fields(event, data)
            of_game, has_digest = event in OF_ATTEMPT, line["digest"] is not None
            if event == "created":
                is_right = data == {"entries": len(self.entries)}
            elif game and event == "started":
                is_right = data == {"first": game["first"], "second": game["second"]}
            elif game and event == "accepted" and game["attempt"] == line["attempt"]:
                keys = ("reason", "winner") if game["winner"] else ("reason", "first", "second")
                is_right = data == {key: (game[key] or "")[:4000] for key in keys}
            elif event == "set-aside":
                is_right = is_right and data["why"] == voids.get(line["game"])
            voids |= {line["game"]: data["why"]} if event == "void" else {}
            may_have_game = (of_game or event in ("set-aside", "released")) == (line["game"] is not None)
            may_have_digest = event in (*OF_ATTEMPT, *SUBMISSION_EVENTS, "announced", "frozen", "created")
            may_have_digest = (may_have_digest and event != "started") or event in ("scheduled", "entered")
            is_right = is_right and may_have_game and (of_game or line["attempt"] is None)
            self.expect(is_right, f"leaf {number} of the log: no judge writes {event}, {data!r:.80} here")
            is_right = has_digest if event == "accepted" else may_have_digest or not has_digest
            self.expect(is_right, f"leaf {number} of the log: {event} with a digest, or without one")

    def check_salts(self) -> None:
        """A leaf has a salt if its line was withheld when it was written."""
        rounds = {row["id"]: row["round"] for row in self.games}
        new = iter(sorted(self.games, key=lambda row: row["number"]))
        first = None
        for number, line in enumerate(self.lines):
            event, data, played_in = line["event"], line["data"], rounds.get(line["game"])
            if event == "scheduled":
                played_in = min((row["round"] for _, row in zip(range(data["games"]), new, strict=False)), default=None)
            is_early = first is None or event in NEVER_WITHHELD or (played_in is not None and played_in < first)
            self.expect(("salt" in line) != is_early, f"leaf {number} of the log, {event}: withheld without a salt")
            if event in ("standings-frozen", "revealed"):
                first = data.get("first") or (data["round"] + 1 if "round" in data else None)

    def check_times(self) -> None:
        """Lines are in order, moments had passed, and records are from within their attempts."""
        times = [datetime.fromisoformat(line["at"]) for line in self.lines]
        self.expect(times == sorted(times), "the times of the log go back")
        begins, ends, before, last = dict[Any, datetime](), dict[Any, datetime](), times[0], times[0]
        for line, time in zip(self.lines, times, strict=True):
            before, last = (last, time) if time != last else (before, last)  # a clock that was set back stands still
            if line["event"] in MOMENT_EVENTS:
                moment = datetime.fromisoformat(line["data"]["at"]["at"])
                self.expect(moment <= time + CLOCK, f"{line['event']}: {moment} had not passed")
            if line["event"] in OF_ATTEMPT and line["event"] != "annulled":
                key, is_start = (line["game"], line["attempt"]), line["event"] == "started"
                (begins if is_start else ends).setdefault(key, before if is_start else time)
        events = [line["event"] for line in self.lines]
        self.check_time("frozen_at", self.document["frozen_at"])
        taken, end = datetime.fromisoformat(self.document["frozen_at"]), times[events.index("created")]
        if self.freeze:
            end = times[self.freeze["leaves"] - 1]
        begin = times[0] if self.freeze and end > times[0] else taken
        self.expect(begin - CLOCK <= taken <= end + CLOCK, "frozen_at: not between announcement and lock-in")
        ids = {row["number"]: row["id"] for row in self.games}
        for row in self.listed:
            record = read_json((self.directory / row["record"]).read_bytes())["record"]
            begun = datetime.fromisoformat(record["started_at"])
            done, key = begun + timedelta(seconds=record["seconds"]), (ids[row["number"]], row["attempt"])
            if key in begins and key in ends:
                is_within = begins[key] - CLOCK <= begun and done <= ends[key] + CLOCK
                self.expect(is_within, f"{row['record']}: not from within the attempt of the log")

    def check_participants(self) -> None:
        """Submissions that passed before the lock-in take part; those who entered or left later are in the tables."""
        passed: dict[int, tuple[str, str]] = {}
        for line in self.lines[: self.freeze["leaves"] if self.freeze else 0]:
            if line["event"] in SUBMISSION_EVENTS:
                number = line["data"]["number"]
                passed.pop(number, None)
                if line["event"] in ("passed", "approved"):
                    passed[number] = line["data"].get("name", "").lower(), line["digest"]
        files = {entry["submission"]: entry["seat"]["digest"] for entry in self.entries}
        for number in {name: number for number, (name, _) in sorted(passed.items())}.values():
            words = f"submission {number} passed before the entries were locked in, but does not take part"
            self.expect(files.get(number) == passed[number][1], words)
        for event, table in LEFT_OR_ENTERED.items():
            events = [(line["data"], line["digest"]) for line in self.lines if line["event"] == event]
            logged = sorted((data["agent"], data["why"], digest) for data, digest in events)
            digests = [sha256(row["entry"].encode()) if "entry" in row else None for row in self.tables[table]]
            rows = zip(self.tables[table], digests, strict=True)
            listed = sorted((row["agent"], row["why"], digest) for row, digest in rows)
            self.expect(logged == listed, f"the log and the tables differ in {table}")

    def check_history(self) -> None:
        """Each line is possible after those before it, and the tables have the end."""
        waiting, scheduled = sorted(self.games, key=lambda row: int(row["number"])), dict[str, Row]()
        playing, out = {entry["name"] for entry in self.entries}, set[str]()
        last, ended = {row["id"]: ("", 0) for row in self.games}, dict[tuple[str, int], Row]()
        created, state = [line["event"] for line in self.lines].index("created"), "open"
        for number, line in enumerate(self.lines):
            event, agent, game, attempt = line["event"], line["agent"], line["game"], line["attempt"]
            is_possible = number > created or event not in OF_CONTEST
            if event in ("open", "paused", "stopped"):
                state = event
            elif event == "entered":
                playing.add(agent)
            elif event == "disqualified" or (event == "agent-withdrawn" and self.annuls):
                out.add(agent)
            elif event == "agent-withdrawn":
                playing.discard(agent)
            elif event == "scheduled":
                count = line["data"]["games"]
                agents = {row[side] for row in waiting[:count] for side in ("first", "second")}
                is_possible = is_possible and agents <= playing
                scheduled |= {row["id"]: row for row in waiting[:count]}
                waiting = waiting[count:]
            elif event == "started":
                row = scheduled.get(game, {"first": None, "second": None})
                may_play = game in scheduled and state == "open" and not out & {row["first"], row["second"]}
                before, former = last[game]
                is_possible = may_play and before not in ("started", "accepted") and attempt == former + 1
                last[game] = event, attempt
            elif event == "superseded":
                is_possible = (game, attempt) in ended and last[game] != ("started", attempt)
                ended[game, attempt] = line
            elif event in OF_ATTEMPT:
                is_counted = last[game] == ("accepted", attempt)
                is_possible = last[game] == ("started", attempt) or (event == "annulled" and is_counted)
                last[game] = event, attempt
                digest = ended[game, attempt]["digest"] if is_counted else line["digest"]
                ended[game, attempt] = {**line, "digest": digest}
            self.expect(is_possible, f"leaf {number} of the log: {event} is not possible here")
        for state, last_event in (("running", "started"), ("done", "accepted")):
            listed = {row["id"] for row in self.games if row["state"] == state}
            is_same = listed == {game for game, (event, _) in last.items() if event == last_event}
            self.expect(is_same, f"other games are {state} in the log than in the tables")
        ids = {row["number"]: row["id"] for row in self.games}
        for row in self.listed:
            right = (
                {"event": row["state"], "data": {"why": row["why"]}}
                if row["state"] != "done"
                else {"event": "accepted"}
            )
            right["digest"] = sha256((self.directory / row["record"]).read_bytes())
            found = ended.pop((ids[row["number"]], row["attempt"]), None)
            self.problems.compare(f"game {row['number']}, attempt {row['attempt']}, in the log", found, right)
        is_listed = all(line["digest"] is None for line in ended.values())
        self.expect(is_listed, "the log has records of attempts that are missing in the tables")


def claims_of(record: Row, row: Row) -> Row:
    """The columns of games.json that follow from a record."""
    plies = [[ply["seat"], " ".join(ply["said"].split())] for ply in record["plies"]]
    content = [record["spec"]["opening"], plies, record["verdict"], record["winner"], record["result"]]
    claims = {key: record[key] for key in ("id", "attempt", "verdict", "reason", "result", "seconds")}
    claims |= {"number": record["spec"]["number"], "moves": sha256(json.dumps(content, separators=(",", ":")).encode())}
    claims["winner"] = None if record["winner"] is None else row[("first", "second")[record["winner"]]]
    for side, seat in zip(("first", "second"), record["seats"], strict=True):
        claims |= {f"{side}_fault": seat["fault"], f"{side}_charged_ms": seat["charged_ms"]}
        claims[f"{side}_replies"] = sum(each == (side == "second") for each, _ in plies)
    return claims


def check_cup(directory: Path, problems: Problems) -> None:
    """The leagues are the announced ones; places and medals follow from their exports."""
    data = (directory / "announcement.json").read_bytes()
    cup, announced = read_json((directory / "cup.json").read_bytes()), read_json(data)
    keys = ("name", "after", "promoted", "promotes_new", "medals")
    shown, terms = ([[each.get(key) or 0 for key in keys] for each in one["leagues"]] for one in (cup, announced))
    is_same = canonical(shown) == canonical(terms) and cup["name"] == announced["name"]
    problems.expect(is_same, "cup.json: the leagues differ from those of announcement.json")
    problems.expect(cup.keys() == {"format", "name", "about", "leagues", "medals"}, "cup.json: unknown keys")
    begun = {league["name"] for league in cup["leagues"] if league["contest"]}
    problems.expect(begun, "cup.json: no league has begun")
    for path in directory.rglob("*"):
        name = path.relative_to(directory).as_posix()
        is_known = name in OF_CUP_ALONE or name.partition("/")[0] in begun or path.suffix in NOT_READ
        problems.expect(path.is_dir() or is_known, f"{name}: unexpected file")
    medals: dict[str, Row] = {}
    for league, right in zip(cup["leagues"], announced["leagues"], strict=True):
        name, is_over = league["name"], league["is_over"]
        if not league["contest"]:
            problems.expect(not league["places"] and not is_over, f"{name}: over or with places, but not begun")
            continue
        contest = Contest(directory / name, problems)
        out = [row["agent"] for row in contest.tables["disqualified"]]
        rows = [row for row in contest.tables["standings"] if row["agent"] not in out]
        problems.compare(f"{name}, places", league["places"], [[row["place"], row["agent"]] for row in rows])
        is_open = any(row["state"] in ("pending", "running", "held") for row in contest.games)
        is_right = not is_open if is_over else is_open or contest.form["name"] not in DRAWN_AT_START
        problems.expect(is_right, f"{name}: over with open games, or not over without them")
        for key in ("skip", "seats"):
            if contest.form.get(key):
                contest.form[key].pop("agents", None)  # the leagues below may decide them
        of_cup = {
            key: contest.document[key] for key in (*OF_CUP, *(each for each in ("clocks",) if each in contest.document))
        }
        first, digest = contest.lines[0], sha256(canonical(of_cup))
        words = {"cup": announced["name"], "announcement": sha256(data)}
        found = [first["event"], first["data"], contest.document["name"], digest]
        problems.compare(f"{name}, announcement.json", found, ["announced", words, right["contest"], right["terms"]])
        for row in rows if is_over and league["medals"] else []:
            agent, place = row["agent"], row["place"]
            if place <= 3 and row["failures"] < row["games"]:
                own_medals = medals.setdefault(agent, {"agent": agent, "gold": 0, "silver": 0, "bronze": 0})
                own_medals[("gold", "silver", "bronze")[place - 1]] += 1
    ordered = sorted(medals.values(), key=lambda each: (-each["gold"], -each["silver"], -each["bronze"], each["agent"]))
    problems.compare("cup.json, medals", cup["medals"], ordered)

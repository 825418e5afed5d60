"""The journal of an export as a history: each line must be possible after the lines before it, and its end must be
what the tables say.
"""

import hashlib
import hmac
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from tests.verify.independent_files import Problems, Row, canonical, is_time, parse, sha256

KEEPS_WITHDRAWN = ("swiss", "ladder")
SUBMISSION = re.compile(r"submission ([0-9]{1,18})(?:\Z|: (.*))", re.DOTALL)
SUBMISSION_EVENTS = frozenset(["received", "processing", "failed", "refused", "passed", "approved", "withdrawn"])
OF_ATTEMPT = frozenset(["started", "accepted", "void", "abandoned", "superseded", "annulled"])
OF_SEASON = ("season-ended", "admissions-frozen", "admissions-reopened")
NEED_CREATION = frozenset(
    {*OF_SEASON, *OF_ATTEMPT, "scheduled", "disqualified", "agent-withdrawn", "entered", "open", "paused", "stopped"}
)
NOT_IN_TERMS = ("judge", "frozen_at", "freeze", "images", "host")
WIDTH = 256


def read_lines(directory: Path, journal: Sequence[Row], problems: Problems) -> list[Row]:
    """The journal with the digest of each leaf of the log, which must fit its line."""
    leaves = list(_leaves(directory, len(journal)))
    lines = []
    for number, (row, leaf) in enumerate(zip(journal, leaves, strict=True)):
        digest = parse(leaf, f"leaf {number}").get("digest")
        text = sha256(row["text"].encode())
        line = {"at": row["at"], "attempt": row["attempt"], "digest": digest, "event": row["event"]}
        same = canonical({**line, "match": row["game"], "text_sha256": text}).encode() == leaf
        is_right = same and (digest is None or isinstance(digest, str))
        problems.expect(is_right, f"leaf {number} of the log differs from the line of the journal")
        lines.append({**row, "digest": digest if isinstance(digest, str) else None, "leaf": leaf})
    return lines


def _leaves(directory: Path, count: int) -> Iterator[bytes]:
    """The leaves in the tiles of C2SP tlog-tiles."""
    for first in range(0, count, WIDTH):
        number, width = f"{first // WIDTH:03d}", min(WIDTH, count - first)
        parts = [number[-3:]]
        while number := number[:-3]:
            parts.insert(0, f"x{number[-3:]:0>3}")
        name = f"log/tile/entries/{'/'.join(parts)}{'' if width == WIDTH else f'.p/{width}'}"
        data = (directory / name).read_bytes()
        while data:
            end = 2 + int.from_bytes(data[:2])
            if len(data) < end:
                raise ValueError(f"{name}: a leaf is truncated")
            yield data[2:end]
            data = data[end:]


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root of a Merkle tree (RFC 6962, 2.1)."""
    if len(leaves) <= 1:
        return hashlib.sha256(b"\0" + leaves[0] if leaves else b"").digest()
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root_of(leaves[:left]) + root_of(leaves[left:])).digest()


# --- the draw --------------------------------------------------------------------------------------------------------


def derived(key: str, *purpose: str | int) -> str:
    return hmac.digest(bytes.fromhex(key), json.dumps(purpose, separators=(",", ":")).encode(), "sha256").hex()


def check_draw(document: str, contest: Row, lines: Sequence[Row], problems: Problems) -> None:
    """The commitment is the first leaf; entries and terms are locked in once, before the contest is created."""
    freeze, events = contest["freeze"], [line["event"] for line in lines]
    if freeze is None:
        is_drawn = {"frozen", "announced"} & set(events)
        problems.expect(
            not is_drawn, "the log locks in the entries, but the draw in contest.json does not depend on it"
        )
        return
    leaves = freeze["leaves"]
    is_first = events[:1] == ["announced"] and lines[0]["digest"] == contest["commitment"]
    problems.expect(is_first, "the log does not begin with the commitment of contest.json")
    frozen = [number for number, event in enumerate(events, 1) if event == "frozen"]
    terms = {key: value for key, value in json.loads(document).items() if key not in NOT_IN_TERMS}
    terms["entries"] = [{key: value for key, value in each.items() if key != "rank"} for each in terms["entries"]]
    if frozen != [leaves] or "created" in events[:leaves]:
        problems.append(f"the log does not lock in the entries once, as leaf {leaves}, before the contest is created")
    elif {sha256(canonical(terms).encode()), freeze["entries"]} != {lines[leaves - 1]["digest"]}:
        problems.append("the entries and terms that the log locked in differ from those of contest.json")
    elif root_of([line["leaf"] for line in lines[:leaves]]).hex() != freeze["root"]:
        problems.append(f"the draw depends on another log: the root of the first {leaves} leaves differs")
    passed: dict[int, tuple[str, str | None]] = {}
    for line in lines[:leaves]:
        if found := SUBMISSION.match(line["text"]):
            passed.pop(int(found[1]), None)
            if line["event"] in ("passed", "approved"):
                passed[int(found[1])] = (found[2] or "").lower(), line["digest"]
    entries = {entry["submission"]: entry for entry in contest["entries"]}
    for number, (name, digest) in passed.items():
        is_replaced = any(other > number and each == name for other, (each, _) in passed.items())
        what, entry = f"submission {number}", entries.get(number)
        problems.expect(
            entry or is_replaced, f"{what} passed before the entries were locked in, but does not take part"
        )
        is_same = not entry or entry["seat"]["digest"] == digest
        problems.expect(is_same, f"{what} takes part with files that differ from those that passed")


# --- the history -----------------------------------------------------------------------------------------------------


class History:
    """State of a contest while its log is read."""

    def __init__(self, contest: Row, tables: Row, problems: Problems) -> None:
        self.form, self.tables, self.problems = contest["format"], tables, problems
        self.games = {row["id"]: row for row in tables["games"]}
        self.waiting = sorted(tables["games"], key=lambda row: row["number"])
        self.entries = {entry["name"]: entry for entry in contest["entries"]}
        self.coming = {row["agent"]: row for row in tables["entered"]}
        self.scheduled: set[str] = set()
        self.running: dict[str, int] = {}
        self.done: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.ended: dict[tuple[str, int], Row] = {}
        self.out: list[str] = []
        self.withdrawn: list[str] = []
        self.is_created = self.has_ended = self.is_frozen = False
        self.is_open = True
        self.replaced = ""  # the agent whose withdrawal is the next line

    def take(self, line: Row, number: int) -> None:
        event, text = line["event"], line["text"]
        before = len(self.problems)
        self._expect(is_time(line["at"]) and len(line["at"]) == 29, f"{line['at']} is not a time")
        self._expect((line["attempt"] or 0) >= 0, "impossible number of an attempt")
        self._expect(self.is_created or event not in NEED_CREATION, "it precedes the creation of the contest")
        agent = text.partition(": ")[0]
        is_replaced = not self.replaced or (event == "agent-withdrawn" and agent == self.replaced)
        self._expect(is_replaced, f"it is not the withdrawal of {self.replaced}, which the last entry replaces")
        self.replaced = ""
        if event in OF_ATTEMPT:
            self._attempt(line)
        elif event == "created":
            self.is_created = True
        elif event == "disqualified":
            self.out.append(text)
        elif event == "agent-withdrawn":
            self.withdrawn.append(text)
        elif event == "entered":
            self._enter(agent, line)
        elif event in ("open", "paused", "stopped"):
            self.is_open = event == "open"
        elif event == "scheduled":
            self._schedule(line)
        elif event in OF_SEASON:
            self._season(line)
        self.problems[before:] = [f"leaf {number} of the log, {event}: {each}" for each in self.problems[before:]]

    def _expect(self, is_true: object, problem: str) -> None:
        self.problems.expect(is_true, problem)

    def _has_left(self, agent: str) -> bool:
        return any(text.startswith(f"{agent}: ") for text in self.withdrawn)

    def _is_at_end(self, at: str) -> bool:
        ends = self.form.get("ends")
        return ends is not None and datetime.fromisoformat(at) >= datetime.fromisoformat(ends)

    def _enter(self, agent: str, line: Row) -> None:
        found = self.coming.pop(agent, None)
        is_there = (
            found and f"{agent}: {found['why']}" == line["text"] and sha256(found["entry"].encode()) == line["digest"]
        )
        self._expect(is_there, "the tables do not contain this entry")
        self._expect(not self.is_frozen, f"{agent} entered while admissions were frozen")
        entry = self.entries.get(agent) or {}
        if not (parent := entry.get("parent")):
            return
        former = self.entries.get(parent)
        is_known = former and parent not in self.coming and former.get("author") == entry.get("author")
        self._expect(is_known, f"{agent} is a new version of {parent}, which has not entered, or is of another author")
        versions = [each for each in self.entries.values() if each.get("parent") == parent]
        self._expect(len(versions) == 1, f"{parent} has several new versions")
        if is_known and not any(text.startswith(f"{parent}: ") for text in (*self.out, *self.withdrawn)):
            self.replaced = parent

    def _schedule(self, line: Row) -> None:
        self._expect(
            not self.has_ended and not self._is_at_end(line["at"]), "a game was drawn after the end of the season"
        )
        found = re.match(r"([0-9]{1,9})( |\Z)", line["text"])
        count = int(found[1]) if found else 0
        for row in self.waiting[:count]:
            for agent in (row["first"], row["second"]):
                self._expect(not self._has_left(agent), f"a game of {agent}, which had withdrawn")
                self._expect(agent not in self.coming, f"a game of {agent}, which had not entered")
            self.scheduled.add(row["id"])
        del self.waiting[:count]

    def _season(self, line: Row) -> None:
        self._expect(self.form["name"] == "ladder", "the contest is no ladder")
        if line["event"] == "season-ended":
            self._expect(not self.has_ended, "the season had ended before")
            ends = self.form.get("ends")
            moment = ends and f"{datetime.fromisoformat(ends):%Y-%m-%d %H:%M:%S} UTC"
            is_early = line["text"] == moment and not self._is_at_end(line["at"])
            self._expect(not is_early, "it is earlier than the end of the season")
            self.has_ended = True
        else:
            freezes = line["event"] == "admissions-frozen"
            self._expect(self.is_frozen != freezes, f"admissions were {'frozen' if freezes else 'open'} before")
            self.is_frozen = freezes

    def _attempt(self, line: Row) -> None:
        event, game, attempt = line["event"], line["game"], line["attempt"] or 0
        if game not in self.games:
            self._expect(False, f"unknown game {game}")
            return
        if event == "started":
            self._start(game, attempt)
            return
        is_running, before = self.running.get(game) == attempt, self.ended.get((game, attempt))
        if not 1 <= attempt <= self.last.get(game, 0):
            self._expect(False, f"attempt {attempt} was not started")
            return
        digest = line["digest"]
        if event == "superseded":
            self._expect(not is_running, f"attempt {attempt} was running, so it cannot be superseded")
            self._expect(is_running or before, f"attempt {attempt} had not ended")
        elif event == "annulled":
            has_result = is_running or self.done.get(game) == attempt
            self._expect(has_result, f"attempt {attempt} was not running and has no counted result")
            digest = before["digest"] if before else None
            self.done.pop(game, None)
        elif not is_running:
            self._expect(False, f"attempt {attempt} was not running")
            return
        if event != "superseded":
            self.running.pop(game, None)
        if event == "accepted":
            self.done[game] = attempt
        self.ended[game, attempt] = {"event": event, "digest": digest, "text": line["text"]}

    def _start(self, game: str, attempt: int) -> None:
        last, row = self.last.get(game, 0), self.games[game]
        self._expect(game in self.scheduled, "the game was not scheduled")
        self._expect(self.is_open, "the contest was not open")
        self._expect(attempt == last + 1, f"attempt {attempt} does not follow {last}")
        self._expect(game not in self.running, f"attempt {last} of the game has not ended")
        self._expect(game not in self.done, "the game already has a result")
        for agent in (row["first"], row["second"]):
            is_out = any(text.startswith(f"{agent}: ") for text in self.out)
            self._expect(not is_out, f"{agent} was disqualified")
            is_annulled = self.form["name"] not in KEEPS_WITHDRAWN and self._has_left(agent)
            self._expect(not is_annulled, f"{agent} had withdrawn")
        self.last[game] = self.running[game] = attempt
        self.done.pop(game, None)

    def end(self, directory: Path) -> None:
        """Compare the final state with the tables and with the digests of the records."""
        expect, tables = self._expect, self.tables
        expect(self.is_created, "the log does not contain the creation of the contest")
        expect(not self.waiting, f"the log schedules {len(self.waiting)} games less than the tables have")
        expect(not self.coming, f"the log does not contain the entries of {', '.join(self.coming)}")
        expect(not self.replaced, f"the log does not contain the withdrawal of {self.replaced}")
        for name, texts in (("disqualified", self.out), ("withdrawn", self.withdrawn)):
            listed = [f"{row['agent']}: {row['why']}" for row in tables[name]]
            words = {"disqualified": "disqualify different agents", "withdrawn": "have different withdrawals"}[name]
            expect(sorted(listed) == sorted(texts), f"the log and the tables {words}")
        for game, row in self.games.items():
            is_right = (game in self.running) == (row["state"] == "running")
            expect(is_right, f"game {row['number']}: running in the log or {row['state']} in the tables, not both")
        numbers = {row["number"]: row["id"] for row in tables["games"]}
        counted = [{**row, "state": "accepted"} for row in tables["games"] if row["state"] == "done"]
        for row in (*tables["attempts"], *counted):
            right = {"event": row["state"], "digest": sha256((directory / row["record"]).read_bytes())}
            right |= {} if row["state"] == "accepted" else {"text": row["why"]}
            place = f"game {row['number']}, attempt {row['attempt']}, in the log"
            self.problems.compare(place, self.ended.pop((numbers[row["number"]], row["attempt"]), None), right)
        for (game, attempt), found in self.ended.items():
            what = f"game {game}, attempt {attempt}: {found['event']} in the log, but missing in the tables"
            expect(found["digest"] is None, what)


# --- admissions of a ladder ------------------------------------------------------------------------------------------


def check_admissions(contest: Row, tables: Row, lines: Sequence[Row], problems: Problems) -> None:
    """Late entries fit submissions that passed; these entered before the next draw, and start as the terms say."""
    late, entries = {row["agent"] for row in tables["entered"]}, {each["name"]: each for each in contest["entries"]}
    first: dict[str, str] = {}
    newest: dict[str, Row] = {}
    passed: dict[int, Row] = {}
    withdrawn: set[int] = set()
    settled: set[str | int] = set()  # agents that could not enter, and submissions that were reported
    is_frozen = has_begun = False
    waiting: dict[str, int] | None = None

    def add(entry: Row) -> None:
        first[entry["name"]] = first.get(entry.get("parent", ""), entry["name"].lower())
        newest[first[entry["name"]]] = entry

    def find_waiting() -> dict[str, int]:
        latest = {passed[number]["name"].lower(): number for number in sorted(passed)}

        def can_enter(name: str, number: int) -> bool:
            former = newest.get(name)
            if former is None:
                return True
            own = former.get("submission")
            is_changed = former["seat"]["digest"] != passed[number]["digest"] or own in withdrawn
            return own is not None and own < number and is_changed

        return {passed[number]["name"]: number for name, number in latest.items() if can_enter(name, number)}

    for entry in contest["entries"]:
        if entry["name"] not in late:
            add(entry)
    for leaf, line in enumerate(lines):
        event, agent, place = line["event"], line["text"].partition(": ")[0], f"leaf {leaf} of the log, {line['event']}"
        submission = SUBMISSION.match(line["text"])
        if event == "created":
            has_begun = True
        elif event == "not-entered":
            settled.add(agent)
        elif event.startswith("admissions-"):
            is_frozen = event == "admissions-frozen"
        elif event == "entered" and agent in entries:
            entry, waiting = entries[agent], None
            add(entry)
            found = passed.get(entry.get("submission") or 0)
            is_own = found and found["digest"] == entry["seat"]["digest"] and newest.get(found["name"].lower()) is entry
            problems.expect(is_own, f"{place}: {agent} has no submission that had passed with its name and files")
            is_of_terms = _is_same(entry.get("start"), _start_rating(contest["format"], entry))
            problems.expect(is_of_terms, f"{place}: {agent} has a start rating that differs from the terms")
        elif event in SUBMISSION_EVENTS and submission:
            number, waiting = int(submission[1]), None
            passed.pop(number, None)
            if event in ("passed", "approved"):
                passed[number] = {"name": submission[2] or "", "digest": line["digest"]}
            if event == "withdrawn":
                withdrawn.add(number)
        elif event == "scheduled" and has_begun and not is_frozen:
            waiting = find_waiting() if waiting is None else waiting
            for name, number in waiting.items():
                if not settled & {name, number}:
                    settled.add(number)
                    problems.append(f"{place}: submission {number}, {name}, had passed, but had not entered")


def _start_rating(form: Row, entry: Row) -> Mapping[str, float] | None:
    """The rating of an agent from the terms; with other files than in the last season the deviation is wider."""
    name, ratings = entry["name"], form.get("ratings") or {}
    if entry.get("parent") or name in (form.get("anchors") or {}):
        return None
    known = (each for agent, each in ratings.items() if each.get("digest") and agent.lower() == name.lower())
    found = ratings.get(name) or next(known, None)
    if not found or not found.get("digest"):
        return found
    is_same = found["digest"] == entry["seat"]["digest"]
    deviation = found["deviation"] if is_same else math.hypot(found["deviation"], form["version_deviation"])
    return {"rating": found["rating"], "deviation": min(max(deviation, 1), 2000)}


def _is_same(one: Mapping[str, float] | None, other: Mapping[str, float] | None) -> bool:
    """Whether two ratings, rounded to 0.01, are equal."""
    if one is None or other is None:
        return one is other
    return all(abs(one[key] - other[key]) < 0.011 for key in ("rating", "deviation"))

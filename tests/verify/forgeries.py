"""False statements about a published contest, each made and signed again by its organiser, and who finds them.

`FORGERIES` has for each what it does to an export, somewhere in it. If it is `fitted` the organiser makes all that is
computed fit his lie: tables, digests, the log, the draw.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from judge.contest_view.export import load_export
from judge.games.types import Verdict
from judge.journal.events import ImagesChanged
from judge.journal.state import JournalLine
from judge.publish.manifest import write_manifest
from judge.publish.tables import write_csv, write_json
from judge.record.spec import RecordFile, public_part, read_record
from judge.record.transcript import EntryKind, unseal
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import make_key
from judge.transparency.merkle import EMPTY_ROOT
from tests.publish.cups import Player, voided
from tests.referee.games import resealed
from tests.verify.forger import CRASHER, VOID, Forger, Form, Row
from tests.verify.log_forgeries import write_log

NOTE = "images"
"""A remark of the organiser in the log."""


class Found(Enum):
    """Who finds a forgery. A holder has a checkpoint of the log that has a leaf which was forged; nobody else has."""

    BY_FILES = "anybody, with judge contest verify or verify.mjs"
    BY_READING = "anybody, with judge contest verify; the independent reading also, which replays nothing"
    BY_REPLAY = "anybody, with judge contest verify; a holder with verify.mjs too, if it is in the log"
    BY_HOLDER = "a holder, with either verifier"
    BY_NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Forgery:
    """What an organiser does; `end` signs it. `suits` tells in which contests it can be done."""

    how: Callable[[Forger], object]
    found: Found
    end: Callable[[Forger], object] = Forger.sign
    suits: Callable[[Form], bool] = lambda _: True


is_fixed, is_long = attrgetter("is_fixed"), attrgetter("is_long")


P = ParamSpec("P")


def with_options(forge: Callable[Concatenate[Forger, P], None]) -> Callable[P, Callable[[Forger], None]]:
    """Called with options, it is a function of a forger alone."""
    return lambda *options, **values: lambda forger: forge(forger, *options, **values)


def unsigned(_forger: Forger) -> None:
    """It is not signed again, or was signed when it was made."""


def a_secret(forger: Forger) -> str:
    return f"{forger.chance.getrandbits(256):064x}"


def has_no_stages(form: Form) -> bool:
    """The independent reading orders agents by their criteria, and knows no stages."""
    return "knockout" not in form.plan


def is_by_results(form: Form) -> bool:
    """The independent reading computes all criteria except ratings with intervals."""
    return has_no_stages(form) and "elo" not in form.plan


def flip(forger: Forger, path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[forger.chance.randrange(len(data))] ^= 1 << forger.chance.randrange(8)
    path.write_bytes(data)


def a_file(forger: Forger) -> Path:
    """Any but the manifest, its signature, and the key, which the reader has from elsewhere."""
    return forger.chance.choice([path for path in forger.files() if path.suffix not in (".sig", ".pem")])


def swap_files(forger: Forger) -> None:
    one = a_file(forger)
    other = forger.chance.choice([path for path in forger.files() if path.read_bytes() != one.read_bytes()])
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def sign_as_another(forger: Forger) -> None:
    write_manifest(forger.directory, "spring-cup", make_key(forger.folder / "mallory.key"))


FROM_RESULTS = {
    "standings": ("agent", "points", "games", "wins", "draws", "losses", "byes", "failures", "replies"),
    "pairs": ("agent", "opponent", "points", "games", "wins", "draws", "losses"),
}
"""What of a table follows from the results alone."""

OF_RECORD = (
    "number", "winner", "verdict", "reason", "first_charged_ms", "second_charged_ms", "first_replies", "second_replies",
    "seconds", "attempt", "id",
)  # fmt: skip
"""What of a line of a game follows from its record."""


def other(value: Any) -> Any:
    """Another value of its kind."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return 1
    return value + 1 if isinstance(value, int | float) else value[:-1] + ("y" if value.endswith("x") else "x")


@with_options
def change_cell(forger: Forger, table: str, columns: Iterable[str], how: Callable[[Any], Any] = other) -> None:
    at = forger.chance.randrange(len(forger.rows(table)))
    column = forger.chance.choice(list(columns))
    forger.in_table(table, lambda rows: rows[at].update({column: how(rows[at][column])}))


def change_criterion(forger: Forger) -> None:
    columns = [column for column in forger.rows("standings")[0] if column.startswith("compared:")]
    change_cell("standings", columns)(forger)


@with_options
def in_rows(forger: Forger, how: Callable[[Forger, list[Row], int], object], *names: str) -> None:
    name = forger.chance.choice([name for name in names if len(forger.rows(name)) > 1])
    at = forger.chance.randrange(len(forger.rows(name)))
    forger.in_table(name, lambda rows: how(forger, rows, at))


def swap_rows(forger: Forger, rows: list[Row], at: int) -> None:
    to = forger.chance.choice([number for number in range(len(rows)) if number != at])
    rows[at], rows[to] = rows[to], rows[at]


def data_of(**fields: object) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


REMARK = data_of(images="a power cut")

LISTS = ("standings", "pairs", "games", "pairings", "journal")


def change_crosstable(forger: Forger) -> None:
    def forge(table: Any) -> None:
        row = forger.chance.choice([row for row in table["points"] if any(points is not None for points in row)])
        at = forger.chance.choice([number for number, points in enumerate(row) if points is not None])
        row[at] += 0.5

    forger.in_table("crosstable", forge)


@with_options
def in_game(forger: Forger, how: Callable[[Row], object], test: Callable[[Row], object] = lambda _: True) -> None:
    number = forger.game(test)["number"]
    forger.in_table("games", lambda rows: how(next(row for row in rows if row["number"] == number)))


def hand_over(row: Row) -> None:
    row["winner"] = row["second"] if row["winner"] == row["first"] else row["first"]
    row["first_points"], row["second_points"] = row["second_points"], row["first_points"]


def cancel(row: Row) -> None:
    for key in row:
        if key not in ("number", "round", "table", "leg", "first", "second", "state", "why", "id"):
            row[key] = None
    row["state"] = "cancelled"


def has_fault(row: Row) -> bool:
    return any(row[f"{side}_fault"] for side in ("first", "second"))


def swap_names_in_results(forger: Forger) -> None:
    one, two = forger.chance.sample(forger.form.agents, 2)
    names = {one: two, two: one}

    def forge(rows: list[Row]) -> None:
        for row in rows:
            for key, value in row.items():
                row[key] = names.get(value, value) if isinstance(value, str) else value

    forger.in_table("games", forge)


def disqualify_in_silence(forger: Forger) -> None:
    out = {row["agent"] for row in forger.rows("disqualified")}
    agent = forger.chance.choice([name for name in forger.form.agents if name not in out])
    forger.in_table("disqualified", lambda rows: rows.append({"agent": agent, "why": "too strong"}))


def say_twice(forger: Forger) -> None:
    """A reader that takes the first of two keys reads another value than one that takes the last."""
    path = forger.chance.choice(forger.files("contest.json", "chance.json", "data/*.json", "records/*[0-9].json"))
    text = path.read_text()
    keys = list(re.finditer(r'"(\w+)": ?', text))
    if not keys or path.stem in ("fairness", "attempts") or ".attempt" in path.name:  # not read independently
        return say_twice(forger)
    key = forger.chance.choice(keys)
    path.write_text(f'{text[: key.start()]}"{key[1]}": "nobody", {text[key.start() :]}')
    return None


def other_record(forger: Forger) -> None:
    one, two = forger.chance.sample(forger.files("records/*[0-9].json"), 2)
    one.write_bytes(two.read_bytes())


@with_options
def in_a_record(forger: Forger, how: Callable[[Forger, Any], object]) -> None:
    """Change the record of a game that counts, and make the digest of its transcript fit."""
    forger.in_record(forger.game()["record"], lambda file: how(forger, file))


def of_record(**values: Any) -> Callable[[Forger], None]:
    return in_a_record(lambda _, file: file["record"].update(values))


def of_first_seat(**values: Any) -> Callable[[Forger], None]:
    return in_a_record(lambda _, file: file["record"]["seats"][0].update(values))


@with_options
def of_document(forger: Forger, /, **values: Any) -> None:
    forger.in_document(lambda document: document.update(values))


def turn_over(_forger: Forger, file: Any) -> None:
    file["record"]["winner"] = 1 if file["record"]["winner"] == 0 else 0


@with_options
def in_checkpoint(forger: Forger, /, is_by_another: bool = False, **values: Any) -> None:
    """Sign a checkpoint with other values, by the organiser or by another key."""
    path = forger.directory / "log/checkpoint"
    checkpoint = replace(read_checkpoint(path.read_bytes(), ""), signatures=(), **values)
    key = make_key(forger.folder / "mallory.key") if is_by_another else forger.public.key
    path.write_bytes(checkpoint.signed(key).note)


@with_options
def damage(forger: Forger, pattern: str) -> None:
    flip(forger, forger.chance.choice(forger.files(pattern)))


def of_events(forger: Forger, *events: str) -> int:
    """A line of one of these events, after the draw."""
    places = [number for number, line in enumerate(forger.lines) if line.event in events and number >= forger.drawn]
    return forger.chance.choice(places)


@with_options
def drop_lines(forger: Forger, *events: str) -> None:
    forger.lines.pop(of_events(forger, *events))


@with_options
def change_line(forger: Forger, /, *events: str, **values: Any) -> None:
    at = of_events(forger, *events)
    forger.lines[at] = replace(forger.lines[at], **values)


@with_options
def insert_line(forger: Forger, /, event: str, data: str, **values: Any) -> None:
    """Somewhere after the contest was created, and not at the end, where it would only be new."""
    at = forger.chance.randrange(forger.drawn + 1, len(forger.lines))
    forger.lines.insert(at, replace(JournalLine(forger.lines[at].at, event, None, None, data), **values))


@with_options
def retime(forger: Forger, how: Callable[[str], str], spared: int = 0) -> None:
    """Another time in a line after the draw, but for the last lines, which are `spared`."""
    at = forger.chance.randrange(forger.drawn, len(forger.lines) - spared)
    forger.lines[at] = replace(forger.lines[at], at=how(forger.lines[at].at))


def move_note(forger: Forger) -> None:
    at = of_events(forger, NOTE)
    note = forger.lines.pop(at)
    places = [place for place in range(forger.drawn + 1, len(forger.lines) + 1) if place != at]
    place = forger.chance.choice(places)
    forger.lines.insert(place, replace(note, at=forger.lines[place - 1].at))


def add_void(forger: Forger) -> None:
    """One that the tables lack."""
    at = of_events(forger, "void")
    forger.lines.insert(at + 1, replace(forger.lines[at], attempt=2))


def hide_void(forger: Forger) -> None:
    """The record of a void, and its row in the tables."""
    (row, *_) = forger.rows("attempts")
    forger.in_table("attempts", lambda rows: rows.remove(row))
    (forger.directory / row["record"]).unlink()


def only_log(forger: Forger) -> None:
    """Write the log of the lines, which fits nothing else, and sign."""
    write_log(forger.public, forger.lines)


def edit_charges(forger: Forger, file: Any) -> None:
    seat = forger.chance.choice(file["record"]["seats"])
    seat["charged_ms"] = round(seat["charged_ms"] / 2, 3)


def blame(forger: Forger, file: Any) -> None:
    seat = forger.chance.choice(file["record"]["seats"])
    seat["fault"] = None if seat["fault"] else "illegal"


def moves(file: Any) -> list[list[Any]]:
    entries = [entry for block in file["transcript"]["blocks"] for entry in block["entries"]]
    return [entry for entry in entries if entry[2] == "<" and re.match(r"[0-9]+,[0-9]", str(entry[3]))]


def edit_move(forger: Forger, file: Any) -> None:
    entry = forger.chance.choice(moves(file))
    entry[3] = entry[3].replace(",", ";", 1)


def edit_moment(forger: Forger, file: Any) -> None:
    forger.chance.choice(moves(file))[0] += 100_000_000


def other_opening(forger: Forger, file: Any) -> None:
    spec = file["record"]["spec"]
    openings = json.loads((forger.directory / "contest.json").read_bytes())["openings"]
    spec["opening"] = forger.chance.choice([each for each in openings if each != spec["opening"]])


@with_options
def swap_entries(forger: Forger, *keys: str) -> None:
    one, two = forger.chance.sample(range(len(forger.form.agents)), 2)

    def swap(document: Any) -> None:
        first, second = (document["entries"][at]["seat"] for at in (one, two))
        for key in keys:
            first[key], second[key] = second[key], first[key]

    forger.in_document(swap)


def drop_pairing(forger: Forger) -> None:
    """A pairing with its games, as if it had never been; the others move up."""
    games = forger.rows("games")
    pairs = [(row["first"], row["second"]) for row in forger.rows("pairings") if row["second"] is not None]
    at, each = forger.chance.randrange(len(pairs)), len(games) // len(pairs)
    gone = range(at * each + 1, (at + 1) * each + 1)
    gone_ids = {row["id"] for row in games if row["number"] in gone}
    forger.lines = [line for line in forger.lines if line.game not in gone_ids]
    forger.in_table("pairings", lambda rows: rows.pop(at))
    for table in ("games", "attempts"):
        kept = [row for row in forger.rows(table) if row["number"] not in gone]
        for row in kept:
            if row["number"] > gone.start:
                row["number"] -= each
                was, row["record"] = row["record"], re.sub(r"\d{5}", f"{row['number']:05d}", row["record"])
                (forger.directory / was).replace(forger.directory / row["record"])
        (forger.directory / f"data/{table}.json").write_bytes(write_json(kept))
    for path in forger.files("records/*"):
        listed = {row["record"] for table in ("games", "attempts") for row in forger.rows(table)}
        if f"records/{path.name}" not in listed:
            path.unlink()


def swap_seats(forger: Forger) -> None:
    at = forger.chance.randrange(len(forger.rows("pairings")))

    def turn(rows: list[Row]) -> None:
        rows[at].update(first=rows[at]["second"], second=rows[at]["first"])

    forger.in_table("pairings", turn)
    forger.fit()
    pair = forger.rows("pairings")[at]
    for row in forger.rows("games"):
        if (row["round"], row["table"]) == (pair["round"], pair["table"]):
            forger.play_again(row["record"])


@with_options
def change_tables(forger: Forger, names: Iterable[str], how: Callable[[Forger, list[Row]], object]) -> None:
    """What no other table depends on, as JSON and as CSV."""
    for name in names:
        forger.in_table(name, lambda rows: how(forger, rows))
        rows = forger.rows(name)
        (forger.directory / f"data/{name}.csv").write_bytes(write_csv(list(rows[0]), rows))


def better_rating(forger: Forger, rows: list[Row]) -> None:
    forger.chance.choice([row for row in rows if row["elo"] is not None])["elo"] += 50


def fair_machines(forger: Forger, rows: list[Row]) -> None:
    row = forger.chance.choice([row for row in rows if row["p"] is not None])
    row["p"] /= 2


def other_reason(_forger: Forger, rows: list[Row]) -> None:
    for row in rows:
        row["why"] = "its host failed"


def replay_until_liked(forger: Forger) -> None:
    row = forger.game(lambda row: row["winner"] is not None)
    forger.play_again(row["record"], 0 if row["winner"] == row["second"] else 1)


def drop_void(forger: Forger) -> None:
    """A void is not told, and its game is played with the chance of the first attempt."""
    path = forger.directory / f"records/{VOID:05d}.attempt-1.json"
    row = forger.rows("games")[VOID - 1]
    spec = read_record(path).record.spec
    path.unlink()
    forger.in_table("attempts", lambda rows: rows.clear())
    forger.in_table("games", lambda rows: rows[VOID - 1].update(attempt=1))
    of_game = [line for line in forger.lines if line.game == row["id"]]
    forger.lines = [line for line in forger.lines if line not in of_game[1:3]]
    forger.lines = [replace(line, attempt=1) if line in of_game else line for line in forger.lines]
    (forger.directory / row["record"]).write_bytes(forger.play(spec, 1).to_json())


def exchange_void(forger: Forger) -> None:
    """The evidence of a void is another game that was stopped."""
    path = f"records/{VOID:05d}.attempt-1.json"
    forger.play_again(path)
    file = read_record(forger.directory / path)
    (forger.directory / path).write_bytes(public_part(voided(file)).to_json())


def reword_void(forger: Forger) -> None:
    forger.in_table("attempts", lambda rows: [row.update(why="its host failed") for row in rows])
    change_line("void", data=data_of(why="its host failed"))(forger)


def disqualify(forger: Forger) -> None:
    agent = forger.chance.choice(forger.form.agents)
    forger.in_table("disqualified", lambda rows: rows.append({"agent": agent, "why": "too strong"}))
    # After its games: those that come later would not be started.
    last = max(at for at, line in enumerate(forger.lines) if line.event == "started")
    at = forger.chance.randrange(last + 1, len(forger.lines))
    data = data_of(agent=agent, why="too strong")
    forger.lines.insert(at, JournalLine(forger.lines[at].at, "disqualified", None, None, data))


def under_other_names(forger: Forger) -> None:
    one, two = forger.chance.sample(forger.form.agents, 2)
    cast = dict(forger.form.cast)
    forger.begin_again({**cast, one: cast[two], two: cast[one]})


def with_other_agents(forger: Forger) -> None:
    agent = forger.chance.choice([name for name in forger.form.agents if name != CRASHER])
    skill, luck = forger.chance.random(), forger.chance.randrange(1, 999)
    forger.begin_again({**forger.form.cast, agent: lambda seed: Player(agent, skill, seed + luck)})


def choose_draw(forger: Forger) -> None:
    """A line more before the entries are frozen gives another draw, by which all is played."""
    text = str(forger.chance.getrandbits(32))
    forger.begin_again(between=lambda store: store.log_once("spring-cup", ImagesChanged(text), "judge"))


def choose_secret(forger: Forger) -> None:
    forger.begin_again(secret=a_secret(forger))


def drop_entry(forger: Forger) -> None:
    gone = forger.chance.choice(forger.form.agents)
    forger.begin_again({name: make for name, make in forger.form.cast.items() if name != gone})


def change_line_before_draw(forger: Forger) -> None:
    at = forger.chance.randrange(forger.drawn)
    forger.lines[at] = replace(forger.lines[at], at=forger.lines[at].at.replace(".000", ".001"))


def measure(forger: Forger, file: Any) -> None:
    file["record"]["judge_late_ms"] += 1.5
    forger.chance.choice(file["record"]["seats"])["memory_peak_bytes"] = 7 << 20


def hide(forger: Forger, file: Any) -> None:
    forger.chance.choice(file["transcript"]["blocks"])["private_sha256"] = a_secret(forger)


def claim(forger: Forger) -> None:
    changes: list[dict[str, Any]] = [
        {"host": {"cpu": "a better one", "cores": 64, "kernel": "6.9"}},
        {"judge": "9.9.9"},
        {"frozen_at": "2013-03-02T03:00:00+00:00"},
        {"images": {"native": {"id": "sha256:" + "3" * 64, "content": "4" * 64}}},
    ]
    forger.in_document(lambda document: document.update(forger.chance.choice(changes)))


def change_terms(forger: Forger) -> None:
    """Rules and entries that no game had occasion for."""
    changes: list[dict[str, Any]] = [{"about": "A large cup."}, {"failures": {"limit": 0.9, "after": 99}}]
    forger.in_document(lambda document: document.update(forger.chance.choice(changes)))


def change_page(forger: Forger) -> None:
    path = forger.chance.choice(forger.files("**/*.html", "*.pgn", "*.css", "*.js", "*.mjs", "data/README.md"))
    with path.open("a") as file:
        file.write("\nanna has won\n")


def won_at_first(forger: Forger) -> tuple[Row, int, int]:
    """A game that ended by the rules at its first attempt; its lines `started` and `accepted`."""
    row = forger.game(lambda row: row["attempt"] == 1 and "row" in row["reason"])
    positions = [at for at, line in enumerate(forger.lines) if line.game == row["id"]]
    started, accepted = (
        next(at for at in positions if forger.lines[at].event == event) for event in ("started", "accepted")
    )
    return row, started, accepted


def play_second(forger: Forger, row: Row) -> str:
    """Attempt 2 of a game, until the other agent wins it; the path for the record of attempt 1."""
    contest, _ = load_export(forger.directory)
    game = next(each for each in contest.games if each.number == row["number"])
    record = read_record(forger.directory / row["record"]).record
    spec = record.spec.model_copy(update={"seed": contest.tournament.seed_of(game, 2)})
    (forger.directory / row["record"]).write_bytes(forger.play(spec, 2, 1 - (record.winner or 0)).to_json())
    forger.in_table("games", lambda rows: [r.update(attempt=2) for r in rows if r["number"] == row["number"]])
    return game.attempt_path(1)


@with_options
def play_out(forger: Forger, *events: str, how: Callable[[RecordFile], RecordFile] | None = None) -> None:
    """A finished game is said to have ended otherwise (`events`), and a second attempt counts, with the other winner.

    `how` changes the record of the first attempt, which is the evidence; without it the attempt has no record.
    """
    row, started, accepted = won_at_first(forger)
    first = read_record(forger.directory / row["record"])
    path = play_second(forger, row)
    start, end = forger.lines[started], forger.lines[accepted]
    lines = [replace(end, event=event, data=data_of(why="the Engine was gone"), digest=None) for event in events]
    if how is not None:
        (forger.directory / path).write_bytes(how(first).to_json())
        digest = hashlib.sha256((forger.directory / path).read_bytes()).hexdigest()
        lines[-1] = replace(lines[-1], digest=digest)
        values = {"number": row["number"], "attempt": 1, "state": events[-1], "why": "the Engine was gone"}
        forger.in_table("attempts", lambda rows: rows.append({**values, "record": path}))
        forger.in_table("attempts", lambda rows: rows.sort(key=lambda each: (each["number"], each["attempt"])))
    again = [replace(start, attempt=2, at=end.at), replace(end, attempt=2)]
    forger.lines[accepted : accepted + 1] = [*lines, *again]


def as_void(file: RecordFile) -> RecordFile:
    """The whole game, with the word `void`."""
    seats = tuple(seat.model_copy(update={"fault": None, "why": "", "evidence": None}) for seat in file.record.seats)
    values = {"verdict": Verdict.VOID, "winner": None, "reason": "the Engine was gone", "result": "", "seats": seats}
    return RecordFile(record=file.record.model_copy(update=values), transcript=file.transcript)


def cut_off(count: int | None = None) -> Callable[[RecordFile], RecordFile]:
    """As `as_void`, without the last entries of the transcript; None: up to the answer that ended the game."""

    def cut(file: RecordFile) -> RecordFile:
        entries = unseal(file.transcript)
        answers = [
            at for at, e in enumerate(entries) if e.kind is EntryKind.READ and re.match(rb"[0-9]+,[0-9]", e.data)
        ]
        return public_part(resealed(as_void(file), entries[: answers[-1] + 1] if count is None else entries[:-count]))

    return cut


def departing(file: RecordFile) -> RecordFile:
    """As `as_void`; the judge's first request is another one, so the replay stops there."""
    entries = unseal(file.transcript)
    at = next(number for number, entry in enumerate(entries) if entry.kind is EntryKind.WROTE)
    entries[at] = entries[at]._replace(data=entries[at].data + b" ")
    return public_part(resealed(as_void(file), entries))


def really_void(file: RecordFile) -> RecordFile:
    """A record that a host's failure would leave: the organiser ended the game himself, or cut its record."""
    return public_part(voided(file))


def never_ended(forger: Forger) -> None:
    row, started, accepted = won_at_first(forger)
    play_second(forger, row)
    forger.lines[accepted] = replace(forger.lines[accepted], attempt=2)
    forger.lines.insert(started + 1, replace(forger.lines[started], attempt=2))


def start_at_the_end(forger: Forger) -> None:
    row = forger.game()
    line = next(line for line in forger.lines if line.game == row["id"])
    data = data_of(first=row["first"], second=row["second"])
    forger.lines.append(replace(line, event="started", attempt=row["attempt"] + 1, data=data, digest=None))


def skip_an_attempt(forger: Forger) -> None:
    row, started, accepted = won_at_first(forger)
    play_second(forger, row)
    for at in (started, accepted):
        forger.lines[at] = replace(forger.lines[at], attempt=2)


@with_options
def move_line(forger: Forger, event: str, to: str) -> None:
    line = forger.lines.pop(next(at for at, each in enumerate(forger.lines) if each.event == event))
    forger.lines.insert(max(at for at, each in enumerate(forger.lines) if each.event == to) + 1, line)


def swap_start(forger: Forger) -> None:
    _, started, accepted = won_at_first(forger)
    forger.lines[started], forger.lines[accepted] = forger.lines[accepted], forger.lines[started]


def pause_before_start(forger: Forger) -> None:
    at = of_events(forger, "started")
    forger.lines.insert(at, JournalLine(forger.lines[at].at, "paused", None, None, data_of(why="a power cut")))


def start_disqualified(forger: Forger) -> None:
    row = forger.game()
    out = {each["agent"] for each in forger.rows("disqualified")}
    agent = next(name for name in (row["first"], row["second"], *forger.form.agents) if name not in out)
    at = next(at for at, line in enumerate(forger.lines) if line.event == "started")
    data = data_of(agent=agent, why="too strong")
    forger.lines.insert(at, JournalLine(forger.lines[at].at, "disqualified", None, None, data))
    forger.in_table("disqualified", lambda rows: rows.insert(0, {"agent": agent, "why": "too strong"}))


@with_options
def all_times(forger: Forger, year: str) -> None:
    start = forger.drawn
    forger.lines[start:] = [replace(line, at=f"{year}{line.at[4:]}") for line in forger.lines[start:]]


@with_options
def of_void(forger: Forger, /, **values: Any) -> None:
    forger.in_record(f"records/{VOID:05d}.attempt-1.json", lambda file: file["record"].update(values))


ODD_LINES: Mapping[str, tuple[str, str]] = {
    "an event that no judge writes": ("Disqualified", data_of(agent="anna", why="too strong")),
    "an event in wide letters": ("\uff41ccepted", data_of(reason="5 in a row", winner="anna")),
    "a submission without a number": ("passed", data_of(name="anna", number="one")),
    "a rating without a number": ("rated", data_of(agent="anna", error=30, rating="the best")),
    "a start at no moment": ("begins", data_of(at={"at": "tomorrow"})),
    "a start at a later moment": ("begins", data_of(at={"at": "2013-04-02T18:00:00+00:00"})),
    "a start at a moment that no calendar has": ("begins", data_of(at={"at": "2013-02-30T18:00:00+00:00"})),
    "a schedule without moments": ("window", data_of(words="submissions are welcome")),
    "a stop without agents": ("stopped", data_of(why="for lunch")),
    "a game set aside without a void": ("set-aside", data_of(attempts=3, why="the Engine was gone")),
    "a setting without values": ("settings", data_of(changes=[], why="all is new")),
}
"""Lines of events with data that no judge writes."""


@with_options
def add_file(forger: Forger, path: str, data: bytes | None = None) -> None:
    """A signed file that no export has; None: a copy of a record."""
    record = forger.files("records/*")[0].read_bytes()
    (forger.directory / path).parent.mkdir(parents=True, exist_ok=True)
    (forger.directory / path).write_bytes(record if data is None else data)


@with_options
def in_csv(forger: Forger, name: str, old: str, new: str) -> None:
    path = forger.directory / f"data/{name}.csv"
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


FILES, READING, REPLAY = Found.BY_FILES, Found.BY_READING, Found.BY_REPLAY
HOLDER, NOBODY = Found.BY_HOLDER, Found.BY_NOBODY


def fitted(
    how: Callable[[Forger], object], found: Found = REPLAY, suits: Callable[[Form], bool] = lambda _: True
) -> Forgery:
    return Forgery(how, found, Forger.fit, suits)


FORGERIES: Mapping[str, Forgery] = {
    # By somebody who has no key.
    "a byte of a file, not signed": Forgery(lambda forger: flip(forger, a_file(forger)), FILES, unsigned),
    "a file removed, not signed": Forgery(lambda forger: a_file(forger).unlink(), FILES, unsigned),
    "a file added, not signed": Forgery(add_file("data/more.html", b"hello"), FILES, unsigned),
    "two files swapped, not signed": Forgery(swap_files, FILES, unsigned),
    "signed by another key": Forgery(lambda _: None, FILES, sign_as_another),
    # In one place, and signed.
    "a value of the standings": Forgery(change_cell("standings", FROM_RESULTS["standings"]), READING),
    "a criterion of the standings": Forgery(change_criterion, READING, suits=is_by_results),
    "a place in the standings": Forgery(change_cell("standings", ["place"]), READING, suits=has_no_stages),
    "a value of a pair": Forgery(change_cell("pairs", FROM_RESULTS["pairs"]), READING),
    "a value of a game": Forgery(change_cell("games", OF_RECORD), READING),
    "a cell of the crosstable": Forgery(change_crosstable, READING),
    "a row dropped": Forgery(in_rows(lambda _, rows, at: rows.pop(at), *LISTS), READING),
    "a row twice": Forgery(in_rows(lambda _, rows, at: rows.insert(at, rows[at]), *LISTS), READING),
    "two rows swapped": Forgery(in_rows(swap_rows, "standings", "games", "pairings", "journal"), READING),
    "the winner of a game": Forgery(in_game(hand_over, lambda row: row["winner"] is not None), READING),
    "a fault taken away": Forgery(
        in_game(lambda row: row.update(first_fault=None, second_fault=None), has_fault), READING
    ),
    "a game called cancelled": Forgery(in_game(cancel), READING),
    "seats swapped in a result": Forgery(
        in_game(lambda row: row.update(first=row["second"], second=row["first"])), READING
    ),
    "names swapped in the results": Forgery(swap_names_in_results, READING),
    "an agent disqualified in silence": Forgery(disqualify_in_silence, READING),
    "a key that is there twice": Forgery(say_twice, READING),
    "the winner in a record": Forgery(in_a_record(turn_over), READING),
    "what an agent wrote": Forgery(in_a_record(edit_move), READING),
    "the times in a record": Forgery(in_a_record(edit_charges), READING),
    "a record of another game": Forgery(other_record, READING),
    "the files of an entry": Forgery(
        lambda forger: forger.in_document(
            lambda each: forger.chance.choice(each["entries"])["seat"].update(digest="f" * 64)
        ),
        READING,
    ),
    "another secret": Forgery(lambda forger: forger.reveal(a_secret(forger)), READING),
    "claims in contest.json": Forgery(claim, READING),
    # The log alone.
    "a checkpoint of another root": Forgery(in_checkpoint(root=EMPTY_ROOT), FILES),
    "a checkpoint of another size": Forgery(lambda forger: in_checkpoint(size=len(forger.lines) - 1)(forger), FILES),
    "a checkpoint of another log": Forgery(in_checkpoint(origin="judge-contest/other"), FILES),
    "a checkpoint that another key signed": Forgery(in_checkpoint(is_by_another=True), FILES),
    "a leaf of the log": Forgery(damage("log/tile/entries/*/*"), FILES),
    "a hash of the log": Forgery(damage("log/tile/0/*/*"), FILES),
    "no log": Forgery(Forger.drop_log, FILES),
    "a result without its leaf": Forgery(drop_lines("accepted"), READING, only_log),
    "a void without its leaf": Forgery(drop_lines("void"), READING, only_log),
    "a leaf of another record": Forgery(change_line("accepted", "void", digest="d" * 64), READING, only_log),
    "a leaf of another contest.json": Forgery(change_line("created", digest="d" * 64), READING, only_log),
    "a leaf of another schedule": Forgery(change_line("scheduled", digest="d" * 64), REPLAY, only_log),
    "a void in the log alone": Forgery(add_void, READING, only_log),
    "the record of a void hidden": Forgery(hide_void, FILES),
    "a start without its leaf": Forgery(drop_lines("started"), READING, only_log),
    "a disqualification in the log alone": Forgery(
        lambda forger: forger.lines.append(
            JournalLine(forger.lines[-1].at, "disqualified", None, None, data_of(agent="anna", why="too strong"))
        ),
        READING,
        only_log,
    ),
    # A lie that all the rest is made to fit: against the rules, the schedule or the draw.
    "the winner in a record, fitted": fitted(in_a_record(turn_over), suits=is_fixed),
    "the reason in a record, fitted": fitted(of_record(reason="a blunder")),
    "the times in a record, fitted": fitted(in_a_record(edit_charges)),
    "the fault in a record, fitted": fitted(in_a_record(blame)),
    "a move in a record, fitted": fitted(
        in_a_record(lambda forger, file: forger.chance.choice(file["record"]["plies"]).update(said="0,0"))
    ),
    "what an agent wrote, fitted": fitted(in_a_record(edit_move)),
    "when an agent answered, fitted": fitted(in_a_record(edit_moment)),
    "another opening, fitted": fitted(in_a_record(other_opening)),
    "another seed, fitted": fitted(
        in_a_record(lambda forger, file: file["record"]["spec"].update(seed=a_secret(forger))), READING
    ),
    "another secret, fitted": fitted(lambda forger: forger.reveal(a_secret(forger)), READING),
    "entries swapped, fitted": fitted(swap_entries("digest"), READING),
    "a pairing dropped, fitted": fitted(drop_pairing, suits=is_fixed),
    "seats swapped, fitted": fitted(swap_seats, suits=is_fixed),
    "terms changed, fitted": fitted(change_terms, READING),
    "a line before the draw, fitted": fitted(change_line_before_draw, READING),
    "a rating": Forgery(change_tables(["standings"], better_rating), REPLAY),
    "a test of the machines": Forgery(change_tables(["fairness"], fair_machines), REPLAY, suits=is_long),
    "the reason of a void": Forgery(change_tables(["attempts"], other_reason), READING),
    # A history that follows from the rules, and is not what happened.
    "a game replayed until liked": fitted(replay_until_liked, HOLDER, is_fixed),
    "a void dropped": fitted(drop_void, HOLDER, is_fixed),
    "the evidence of a void": fitted(exchange_void, HOLDER),
    "an agent disqualified afterwards": fitted(disqualify, HOLDER, is_fixed),
    "a contest replayed under other names": Forgery(under_other_names, HOLDER, unsigned),
    "a contest replayed until liked": Forgery(with_other_agents, HOLDER, unsigned),
    "a draw chosen": Forgery(choose_draw, HOLDER, unsigned),
    "a secret chosen": Forgery(choose_secret, HOLDER, unsigned),
    "an entry dropped": Forgery(drop_entry, HOLDER, unsigned),
    "a time of the log": fitted(retime(lambda at: at.replace(".000", ".001")), HOLDER),
    "an action dropped": fitted(drop_lines(NOTE), HOLDER),
    "an action added": fitted(insert_line(NOTE, data_of(images="all agreed")), HOLDER),
    "an action moved": fitted(move_note, HOLDER),
    "the words of an action": fitted(change_line(NOTE, data=data_of(images="nothing happened")), HOLDER),
    "the words of a void": fitted(reword_void, REPLAY),
    "where a game was played": fitted(
        in_a_record(lambda _, file: file["record"]["placement"].update(host="host-9", slot_cores=[7])), HOLDER
    ),
    "when a game was played": fitted(of_record(started_at="2013-03-02T03:00:00+00:00"), HOLDER),
    "what was measured": fitted(in_a_record(measure), HOLDER),
    "what was private": fitted(in_a_record(hide), HOLDER),
    "claims in contest.json, fitted": fitted(claim, HOLDER),
    # An attempt that does not count.
    "a finished game called void, fitted": fitted(play_out("void", how=lambda file: file), READING, is_fixed),
    "a finished game with the word void, fitted": fitted(play_out("void", how=as_void), REPLAY, is_fixed),
    "the same without the last entry, fitted": fitted(play_out("void", how=cut_off(1)), REPLAY, is_fixed),
    "the same without the last three, fitted": fitted(play_out("void", how=cut_off(3)), REPLAY, is_fixed),
    "the same up to the last answer, fitted": fitted(play_out("void", how=cut_off()), REPLAY, is_fixed),
    "the same with another request, fitted": fitted(play_out("void", how=departing), REPLAY, is_fixed),
    "a finished game called superseded, fitted": fitted(
        play_out("superseded", how=lambda file: file), READING, is_fixed
    ),
    "an attempt that never ended, fitted": fitted(never_ended, READING, is_fixed),
    "an attempt at the end that never ended, fitted": fitted(start_at_the_end, READING),
    "an attempt without the one before it, fitted": fitted(skip_an_attempt, READING, is_fixed),
    # Named by the verifier: the games of attempts that do not count.
    "a game that was stopped, fitted": fitted(play_out("void", how=really_void), HOLDER, is_fixed),
    "a void without a record, fitted": fitted(play_out("void"), HOLDER, is_fixed),
    "an attempt abandoned, fitted": fitted(play_out("abandoned"), HOLDER, is_fixed),
    # The order, times and states of the log.
    "the schedule after the results, fitted": fitted(move_line("scheduled", "accepted"), READING, is_fixed),
    "the contest created after its results, fitted": fitted(move_line("created", "accepted"), READING),
    "a game ended before it began, fitted": fitted(swap_start, READING),
    "a start in a pause, fitted": fitted(pause_before_start, READING),
    "a start of a disqualified agent, fitted": fitted(start_disqualified, READING, is_fixed),
    "no time, fitted": fitted(retime(lambda _: "not a time"), READING),
    "a time that no calendar has, fitted": fitted(retime(lambda _: "2013-02-30T18:00:00.000+00:00"), READING),
    "a time of another zone, fitted": fitted(retime(lambda _: "2013-03-02T18:00:00.000+02:00"), READING),
    # Times that the log bounds, and texts that follow from its event and the tables.
    "a line of 1999, fitted": fitted(retime(lambda _: "1999-01-01T00:00:00.000+00:00"), READING),
    "a line after the end, fitted": fitted(retime(lambda _: "9999-12-31T23:59:59.999+00:00", spared=1), READING),
    "a log of a later year, fitted": fitted(all_times("2014"), READING),
    "a snapshot of 1999, fitted": fitted(of_document(frozen_at="1999-01-01T00:00:00+00:00"), READING),
    "a snapshot of another form, fitted": fitted(of_document(frozen_at="2013-03-02 18:00:00+00:00"), READING),
    "a snapshot after the lock-in, fitted": fitted(of_document(frozen_at="2013-04-01T00:00:00+00:00"), READING),
    "a game of 1999, fitted": fitted(of_record(started_at="1999-01-01T00:00:00+00:00"), READING),
    "a game after the end, fitted": fitted(of_record(started_at="2999-01-01T00:00:00+00:00"), READING),
    "a game of the day before the lock-in, fitted": fitted(of_record(started_at="2013-03-01T17:00:00+00:00"), READING),
    "a void of 1999, fitted": fitted(of_void(started_at="1999-01-01T00:00:00+00:00"), READING),
    "a void after the end, fitted": fitted(of_void(started_at="2999-01-01T00:00:00+00:00"), READING),
    "words of the creation, fitted": fitted(change_line("created", data=data_of(entries=9)), READING),
    "a text of the creation, fitted": fitted(change_line("created", data=data_of(entries="anna has paid")), READING),
    "a text of the schedule": Forgery(
        change_line("scheduled", data=data_of(games=2, words="anna won both")), READING, only_log
    ),
    "the agents of a start, fitted": fitted(
        change_line("started", data=data_of(first="anna", second="nobody")), READING
    ),
    "the words of a result": Forgery(
        change_line("accepted", data=data_of(reason="the others slept", winner="anna")), READING, only_log
    ),
    "a game in a line that has none, fitted": fitted(insert_line("images", REMARK, game="x"), READING),
    "an attempt in a line that has none, fitted": fitted(insert_line("images", REMARK, attempt=1), READING),
    "a digest in a line that has none, fitted": fitted(insert_line("images", REMARK, digest="d" * 64), READING),
    **{f"{name}, fitted": fitted(insert_line(event, data), READING) for name, (event, data) in ODD_LINES.items()},
    # Files that no export has.
    "a record of no game": Forgery(add_file("records/00099.json"), READING),
    "a record of no attempt": Forgery(add_file("records/00001.attempt-9.json"), READING),
    "a record in another folder": Forgery(add_file("old/00001.json"), READING),
    "a table of no export": Forgery(add_file("data/winners.json", b"[]"), READING),
    "a tile of no log": Forgery(add_file("log/tile/0/001", bytes(32)), FILES),
    "a program of no export": Forgery(add_file("winner.exe", b"anna"), READING),
    # Impossible measurements.
    "a game of negative length": Forgery(of_record(seconds=-100.0), READING),
    "a judge that was early, fitted": fitted(of_record(judge_late_ms=-1.0), READING),
    "negative memory, fitted": fitted(of_first_seat(memory_peak_bytes=-1), READING),
    "negative processor time, fitted": fitted(of_first_seat(cpu_ms=-1), READING),
    "negative lingering, fitted": fitted(of_first_seat(lingered_ms=-0.5), READING),
    "a beginning that is no time": Forgery(of_record(started_at="yesterday"), READING),
    "a beginning without a time": Forgery(of_record(started_at="2013-03-02"), READING),
    # Numbers and texts in tables.
    "a little more points": Forgery(change_cell("standings", ["points"], lambda value: value + 0.0009), READING),
    "a millionth of a point": Forgery(change_cell("standings", ["points"], lambda value: value + 0.000001), READING),
    "a part of a game": Forgery(change_cell("standings", ["games"], lambda value: value + 0.0009), READING),
    "an integer as a float": Forgery(change_cell("standings", ["games"], lambda value: value + 0.0), READING),
    "a little less time": Forgery(change_cell("standings", ["charged_ms"], lambda value: value - 0.0005), READING),
    "a name in CSV": Forgery(in_csv("standings", "bert", "bert.0"), READING, suits=lambda form: "bert" in form.agents),
    "an integer in CSV": Forgery(in_csv("games", "\r\n1,", "\r\n1.0,"), READING),
    # What is only signed.
    "a page, a program or the PGN": Forgery(change_page, NOBODY),
}

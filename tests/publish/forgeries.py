"""False statements about a published contest, each made by somebody who can sign it with the organiser's key.

`FORGERIES` has for each what it does to a directory; whoever verifies must say that something is wrong.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from judge.publish.manifest import MANIFEST, write_manifest
from tests.publish.public import Public

Forgery = Callable[[Path], None]


def change(path: Path, how: Callable[[Any], None]) -> None:
    document = json.loads(path.read_bytes())
    how(document)
    path.write_text(json.dumps(document))


def in_table(name: str, how: Callable[[Any], None]) -> Forgery:
    return lambda directory: change(directory / f"data/{name}.json", how)


def in_record(number: int, how: Callable[[Any], None]) -> Forgery:
    return lambda directory: change(directory / f"records/{number:05d}.json", how)


def row_of(rows: Any, number: int) -> Any:
    return next(row for row in rows if row["number"] == number)


def hand_over(rows: Any) -> None:
    """The first game that was won is the loser's."""
    row = next(row for row in rows if row["winner"] is not None)
    row["winner"] = row["second"] if row["winner"] == row["first"] else row["first"]
    row["first_points"], row["second_points"] = row["second_points"], row["first_points"]


def swap_names(rows: Any) -> None:
    """Of all that the tables say, two agents have each other's."""
    for row in rows:
        for key, value in row.items():
            row[key] = {"anna": "bert", "bert": "anna"}.get(value, value) if isinstance(value, str) else value


def turn_over(file: Any) -> None:
    record = file["record"]
    record["winner"] = 1 if record["winner"] == 0 else 0


def edit_byte(file: Any) -> None:
    """What an agent wrote."""
    for block in file["transcript"]["blocks"]:
        for entry in block["entries"]:
            if entry[2] == "<" and isinstance(entry[3], str) and "," in entry[3]:
                entry[3] = entry[3].replace(",", ";", 1)
                return


def edit_times(file: Any) -> None:
    for seat in file["record"]["seats"]:
        seat["charged_ms"] = round(seat["charged_ms"] / 2, 3)


def say_twice(directory: Path) -> None:
    """A reader that takes the first of two keys reads another winner than one that takes the last."""
    path = directory / "data/games.json"
    path.write_text(path.read_text().replace('"winner": ', '"winner": "nobody",\n  "winner": ', 1))


def other_files(document: Any) -> None:
    document["entries"][0]["seat"]["digest"] = "f" * 64


def other_secret(chance: Any) -> None:
    chance["secret"] = hashlib.sha256(chance["secret"].encode()).hexdigest()


def no_faults(rows: Any) -> None:
    for row in rows:
        row.update(first_fault=None, second_fault=None)


def drop_game(rows: Any) -> None:
    row = row_of(rows, 3)
    for key in row:
        if key not in ("number", "round", "table", "game", "first", "second", "state", "why", "match"):
            row[key] = None
    row["state"] = "cancelled"


def move_bye(rows: Any) -> None:
    next(row for row in rows if row["second"] is None)["round"] += 1


def other_record(directory: Path) -> None:
    (directory / "records/00001.json").write_bytes((directory / "records/00003.json").read_bytes())


FORGERIES: Mapping[str, Forgery] = {
    "a point more in the standings": in_table("standings", lambda rows: rows[3].update(points=rows[3]["points"] + 1)),
    "a better place": in_table("standings", lambda rows: rows[1].update(place=1)),
    "two lines of the standings swapped": in_table("standings", lambda rows: rows.reverse()),
    "a criterion of the standings": in_table("standings", lambda rows: rows[0].update({"criterion:direct": 9.0})),
    "a cell of the crosstable": in_table("crosstable", lambda table: table["points"][0].__setitem__(1, 0.5)),
    "a pair's wins": in_table("pairs", lambda rows: rows[0].update(wins=rows[0]["wins"] + 1)),
    "a pair that never met": in_table("pairs", lambda rows: rows.append(dict(rows[0], opponent="nobody"))),
    "the winner of a game": in_table("games", hand_over),
    "the reason of a result": in_table("games", lambda rows: rows[0].update(reason="a blunder")),
    "the number of a game": in_table("games", lambda rows: rows[0].update(number=99)),
    "the time of an agent": in_table("games", lambda rows: rows[0].update(first_charged_ms=1.0)),
    "a fault taken away": in_table("games", no_faults),
    "a game dropped": in_table("games", drop_game),
    "a game that is there twice": in_table("games", lambda rows: rows.append(rows[0])),
    "a game deleted": in_table("games", lambda rows: rows.pop(4)),
    "names swapped in the results": in_table("games", swap_names),
    "seats swapped": in_table("games", lambda rows: rows[0].update(first=rows[0]["second"], second=rows[0]["first"])),
    "a pairing deleted": in_table("pairings", lambda rows: rows.pop(2)),
    "an agent disqualified in silence": in_table(
        "disqualified", lambda rows: rows.append({"agent": "anna", "why": "too strong"})
    ),
    "a key that is there twice": say_twice,
    "the winner in a record": in_record(2, turn_over),
    "a byte that an agent wrote": in_record(2, edit_byte),
    "the times in a record": in_record(2, edit_times),
    "the files of an entry": lambda directory: change(directory / "contest.json", other_files),
    "another secret": lambda directory: change(directory / "chance.json", other_secret),
    "a record of another game": other_record,
}  # fmt: skip


def sign_again(public: Public) -> None:
    """As the organiser would: the manifest lists the forged files."""
    contest = json.loads((public.directory / MANIFEST).read_bytes())["contest"]
    write_manifest(public.directory, contest, public.key)

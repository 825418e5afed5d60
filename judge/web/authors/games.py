"""Pages and files of an author's games, with private data of the author's own seats (`judge.publish.redaction`)."""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judge.base.text import decode, printable
from judge.catalog.files import steps_of
from judge.contest_games import PublishedGame, ScheduledGame
from judge.formats.fault_report import case_lines, cases_of
from judge.formats.steps import Stepped
from judge.publish.redaction import entries_for, private_part
from judge.record.spec import RecordFile, outcome_for, public_part
from judge.record.transcript import EntryKind, unseal
from judge.referee.blame import fix_of
from judge.site.game_files import read_stored
from judge.site.game_page import GamePageContext, game_pages, large_record_page
from judge.site.pages import PagePlace
from judge.store.practice_games import PracticeGame
from judge.store.types import NotFoundError
from judge.submissions.service import IntakeDirectory
from judge.tournament.snapshot import Snapshot
from judge.web.kit.rendering import MAX_PAGE_RECORD_BYTES, RecordTask
from judge.web.schemas import practice_reason

KINDS: Mapping[str, EntryKind] = {"stderr": EntryKind.STDERR, "debug": EntryKind.READ}

SHOWN_BYTES = 16 << 10

SHOWN_LOG_BYTES, MOVE_LOG_BYTES = 96 << 10, 4 << 10
"""Maximum bytes of logs next to the board: of the page, the last moves first, and of one move, its end."""

LINE_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class PrivateRecord:
    """A stored record. Its reader may see the private data of `seats`."""

    files: Path
    digest: str
    path: str
    """Of its public part, for commands."""
    seats: Sequence[int]

    def private_file(self, seat: int, ending: str) -> RecordTask:
        """A seat's private data. Raises NotFoundError; the task raises InputError for a damaged record."""
        if seat not in self.seats:
            raise NotFoundError("no agent of yours had this seat")
        return RecordTask(self.files, self.digest, private_bytes, (seat, ending))

    def page(
        self, context: GamePageContext, place: PagePlace, template: str, values: Mapping[str, Any], address: str
    ) -> RecordTask | bytes:
        """Its page; for a large record the bytes of a page that links its public part at `address`."""
        arguments = (tuple(self.seats), context, place.file, template, {**values, "record_path": self.path})
        task = RecordTask(self.files, self.digest, author_page, arguments)
        if task.record_bytes <= MAX_PAGE_RECORD_BYTES:
            return task
        return large_record_page(place, context, task.record_bytes, address)


def record_of_game(
    files: Path, game: PublishedGame, agents: Collection[str], attempt: int | None = None
) -> PrivateRecord:
    """Of an author with these `agents`. Raises NotFoundError without a record."""
    return PrivateRecord(files, _existing(game.record_of(attempt)), game.path_of(attempt), _own_seats(game, agents))


def record_of_practice(directory: IntakeDirectory, game: PracticeGame) -> PrivateRecord:
    """Raises NotFoundError without a record."""
    return PrivateRecord(directory.practice, _existing(game.record), f"practice-{game.id:05d}.json", [game.seat])


def _own_seats(game: PublishedGame, agents: Collection[str]) -> Sequence[int]:
    return [seat for seat, agent in enumerate((game.first, game.second)) if agent in agents]


def _existing(digest: str | None) -> str:
    if digest is None:
        raise NotFoundError("the game has no record")
    return digest


def private_bytes(files: Path, digest: str, seat: int, ending: str) -> bytes:
    """A seat's private data."""
    part = private_part(read_stored(files, digest), seat)
    return part.model_dump_json(ensure_ascii=True).encode() if ending == "json" else part.bytes_of(KINDS[ending])


def author_game_page(
    files: Path, contest: Snapshot, game: PublishedGame, agents: Collection[str], attempt: int | None, place: PagePlace
) -> RecordTask | bytes:
    """Page of a game or attempt. Raises as `record_of_game`."""
    stems = {entry.name: f"{number:03d}" for number, entry in enumerate(contest.entries, 1)}
    entries = contest.by_name()
    # An agent that entered in a withheld round is not in the public contest.
    first, second = (entries[name].title if name in entries else "" for name in (game.first, game.second))
    titles, seats = (first, second), (stems.get(game.first, ""), stems.get(game.second, ""))
    has_rounds = contest.format.has_rounds
    context = GamePageContext(contest.shown_name, game, seats, titles=titles, has_rounds=has_rounds)
    values = {"has_authors": True, "attempt": attempt, "others": game.uncounted}
    record = record_of_game(files, game, agents, attempt)
    return record.page(context, place, "author_game.html", values, f"{place.top}{record.path}")


def practice_page(directory: IntakeDirectory, game: PracticeGame, place: PagePlace, folder: str) -> RecordTask | bytes:
    """Page of a practice game. Raises as `record_of_practice`."""
    first, second = seat_names(game)
    practice = ScheduledGame(str(game.id), game.id, 0, 0, game.number, first, second, "", game.state, game.attempt)
    context = GamePageContext(directory.contest, PublishedGame.of(practice, None), ("", ""))
    values = {"has_authors": True, "submission": game.submission, "folder": folder}
    address = f"{context.game.stem}.json"
    return record_of_practice(directory, game).page(context, place, "author_practice.html", values, address)


def practice_line(game: PracticeGame) -> Mapping[str, Any]:
    """Fields of a practice game or challenge, `names` by seat, `outcome`, and `why` without the host's failures."""
    outcome = outcome_for(game.seat, game.verdict, game.winner) if game.verdict else ""
    return {**asdict(game), "why": practice_reason(game), "names": seat_names(game), "outcome": outcome}


@dataclass(frozen=True, slots=True)
class OwnGame:
    """A line of the author's list: a game from the view of one of the author's seats."""

    game: PublishedGame
    opponent: str
    outcome: str
    """won, lost, drawn or void."""
    verdict: str
    reason: str


def own_line(game: PublishedGame, agents: Collection[str]) -> OwnGame:
    """A line of the list of an author with these agents."""
    seat = next(iter(_own_seats(game, agents)), 0)
    names, result = (game.first, game.second), game.result
    if result is None:
        return OwnGame(game, names[1 - seat], "void", "void", game.uncounted[-1].why)
    winner = None if result.winner is None else names.index(result.winner)
    outcome = outcome_for(seat, result.verdict, winner)
    return OwnGame(game, names[1 - seat], outcome, result.verdict.value, result.reason)


def seat_names(game: PracticeGame) -> tuple[str, str]:
    """Before the end the agent's seat is unknown."""
    return (game.agent, game.opponent) if game.seat == 0 else (game.opponent, game.agent)


def author_page(
    files: Path,
    digest: str,
    seats: Sequence[int],
    context: GamePageContext,
    place: str,
    template: str,
    more: Mapping[str, Any],
) -> bytes:
    """A game's page with the private data of `seats`."""
    file = read_stored(files, digest)
    public = public_part(file)
    replay = steps_of(public)
    attempt = more.get("attempt")
    values = {
        "attempt": None,
        "others": (),
        **more,
        "stem": context.game.stem + ("" if attempt is None else f".attempt-{attempt}"),
        "logs": [log for seat in seats for log in move_logs(file, replay, seat)],
        "own": [_private_values(file, seat) for seat in seats],
        "faults": [
            (case.name, _preformatted(case_lines(case, file.record, more["record_path"])), fix_of(case.verdict))
            for case in cases_of(file.record, entries_for(file, seats))
        ],
    }
    at = PagePlace.of_file(place)
    return next(game_pages(replay, public.record, context, [at], template, values, __package__))


def move_logs(file: RecordFile, replay: Stepped, seat: int) -> Sequence[Mapping[str, Any]]:
    """What a seat wrote to stderr and in DEBUG lines, by step: 0 is the start, the last one has the rest."""
    frozen = [each.ns for each in unseal(file.transcript) if each.seat == seat and each.kind is EntryKind.FROZEN]
    ends: list[tuple[int, int]] = [(frozen[0], 0)] if frozen else []
    for number, step in enumerate(replay.steps):
        if step.seat == seat and step.at_ns is not None:
            after = bisect_left(frozen, step.at_ns)
            ends.append((frozen[after] if after < len(frozen) else step.at_ns, number))
    times = [ns for ns, _ in ends]
    texts: dict[int, bytes] = {}
    last = len(replay.steps) - 1
    for entry in private_part(file, seat).entries:
        place = bisect_left(times, entry.ns)
        number = ends[place][1] if place < len(ends) else last
        texts[number] = texts.get(number, b"") + entry.text.encode("latin-1")
    name = file.record.seats[seat].name
    room, logs = SHOWN_LOG_BYTES, []
    for number, data in sorted(texts.items(), reverse=True):
        shown = data[-min(MOVE_LOG_BYTES, room) :] if room > 0 else b""
        room -= len(shown)
        if shown:
            logs.append({"step": number, "name": name, "shown": _lines(shown)})
    return logs[::-1]


def _private_values(file: RecordFile, seat: int) -> Mapping[str, Any]:
    part = private_part(file, seat)
    texts = {ending: part.bytes_of(kind) for ending, kind in KINDS.items()}
    return {
        "seat": seat,
        "name": part.agent,
        "texts": [
            {"ending": ending, "bytes": len(data), "shown": _lines(data), "is_cut": len(data) > SHOWN_BYTES}
            for ending, data in texts.items()
        ],
    }


def _lines(data: bytes) -> Markup:
    shown = data[-SHOWN_BYTES:]
    return _preformatted(decode(shown).removesuffix("\n").split("\n") if shown else [])


def _preformatted(lines: Any) -> Markup:
    text = "\n".join(printable(line.removesuffix("\r"), LINE_CHARACTERS) for line in lines)
    return Markup(escape(text))  # noqa: S704 it is escaped, and every line is printable

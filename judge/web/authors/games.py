"""Pages and files of an author's games, with private data of the author's own seats (`judge.publish.redaction`)."""

from collections.abc import Collection, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judge.base.text import decode, printable
from judge.catalog.steps import steps_of
from judge.contest_games import PublishedGame, ScheduledGame
from judge.publish.redaction import entries_for, private_part
from judge.records.evidence import cases_of
from judge.records.fault_report import case_lines
from judge.referee.spec import RecordFile, public_part
from judge.referee.transcript import EntryKind
from judge.site.game_files import read_stored
from judge.site.game_page import GamePageContext, game_page
from judge.site.pages import PagePlace
from judge.store.practice_games import PracticeGame
from judge.store.submission_types import UnknownSubmissionError
from judge.submissions.service import IntakeDirectory
from judge.tournament.snapshot import Snapshot

KINDS: Mapping[str, EntryKind] = {"stderr": EntryKind.STDERR, "debug": EntryKind.READ}

SHOWN_BYTES = 16 << 10

LINE_CHARACTERS = 400


def private_file(
    files: Path, game: PublishedGame, agents: Collection[str], attempt: int | None, seat: int, ending: str
) -> bytes:
    """Return a seat's private data, if one of the author's `agents` had it.

    Raises UnknownSubmissionError, or InputError for a damaged record.
    """
    return _private_bytes(_record(files, game.record_of(attempt)), seat, ending, _own_seats(game, agents))


def _own_seats(game: PublishedGame, agents: Collection[str]) -> Sequence[int]:
    return [seat for seat, agent in enumerate((game.first, game.second)) if agent in agents]


def _private_bytes(file: RecordFile, seat: int, ending: str, own_seats: Collection[int]) -> bytes:
    """`ending` is `json` for all, or one of `KINDS`."""
    if seat not in own_seats:
        raise UnknownSubmissionError("no agent of yours had this seat")
    part = private_part(file, seat)
    return part.model_dump_json(ensure_ascii=True).encode() if ending == "json" else part.bytes_of(KINDS[ending])


def _record(files: Path, digest: str | None) -> RecordFile:
    if digest is None:
        raise UnknownSubmissionError("the game has no record")
    return read_stored(files, digest)


def author_game_page(
    files: Path, contest: Snapshot, game: PublishedGame, agents: Collection[str], attempt: int | None, place: PagePlace
) -> bytes:
    """Return the page of a game or attempt. Raises as `private_file`."""
    file = _record(files, game.record_of(attempt))
    stems = {entry.name: f"{number:03d}" for number, entry in enumerate(contest.entries, 1)}
    context = GamePageContext(contest.name, game, (stems[game.first], stems[game.second]))
    values = {"has_authors": True, "attempt": attempt, "others": game.uncounted}
    return _page(file, _own_seats(game, agents), context, place, "author_game.html", values)


def practice_page(directory: IntakeDirectory, game: PracticeGame, place: PagePlace, folder: str) -> bytes:
    """Raises as `private_file`."""
    file = _record(directory.practice, game.record)
    first, second = seat_names(game)
    practice = ScheduledGame(str(game.id), game.id, 0, 0, game.number, first, second, "", game.state, game.attempt)
    context = GamePageContext(directory.contest, PublishedGame.of(practice, None), ("", ""))
    values = {"has_authors": True, "submission": game.submission, "folder": folder}
    return _page(file, [game.seat], context, place, "author_practice.html", values)


def practice_file(directory: IntakeDirectory, game: PracticeGame, ending: str, seat: int | None = None) -> bytes:
    """Public record, or `seat`'s private data. Raises as `private_file`."""
    file = _record(directory.practice, game.record)
    if seat is None:
        return public_part(file).to_json(as_read=True)
    return _private_bytes(file, seat, ending, (game.seat,))


def seat_names(game: PracticeGame) -> tuple[str, str]:
    """Before the end the agent's seat is unknown."""
    return (game.agent, game.opponent) if game.seat == 0 else (game.opponent, game.agent)


def _page(
    file: RecordFile,
    seats: Sequence[int],
    context: GamePageContext,
    place: PagePlace,
    template: str,
    more: Mapping[str, Any],
) -> bytes:
    public = public_part(file)
    attempt = more.get("attempt")
    values = {
        "attempt": None,
        "others": (),
        **more,
        "stem": context.game.stem + ("" if attempt is None else f".attempt-{attempt}"),
        "own": [_private_values(file, seat) for seat in seats],
        "faults": [
            (case.name, _preformatted(case_lines(case, file.record, context.game.record_path)))
            for case in cases_of(file.record, entries_for(file, seats))
        ],
    }
    return game_page(steps_of(public), public.record, context, place, template, values, __package__)


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

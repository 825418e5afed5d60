"""Writes one game's files of an export: public record, page, PGN, and the authors' private files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from judge.base.parsing import Model, parse_json
from judge.catalog import game_entry
from judge.catalog.files import steps_of
from judge.contest_games import GameConditions
from judge.contest_view.values import conditions_of
from judge.formats.gomoku.pgn import write_pgn
from judge.formats.gomoku.record import WINNERS, FiveRecord, Outcome
from judge.formats.search_figures import EvaluatedGame, evaluate_game, search_figures
from judge.formats.steps import Stepped
from judge.games.types import SEATS, Verdict
from judge.publish.redaction import private_part
from judge.record.spec import GameRecord, RecordFile, public_part
from judge.record.transcript import EntryKind
from judge.render.miniature import write_miniature
from judge.site.game_page import GamePageContext, game_pages, game_picture
from judge.site.pages import PagePlace
from judge.store.files import Files
from judge.translations.language import languages


class PublishedFiles(NamedTuple):
    """`pgn`: its part of games.pgn. `about`: ABOUT fields by agent. `listed`: SHA-256 and size by path.
    `board`: the last position as a small SVG.
    """

    pgn: bytes
    evaluated: EvaluatedGame | None
    about: Mapping[str, Mapping[str, str]]
    conditions: GameConditions
    listed: Mapping[str, tuple[str, int]]
    board: str


def publish_game(files: Path, target: Path, private: Path, context: GamePageContext) -> PublishedFiles:
    """Write the files of a game with a result; `private` has a folder for each agent.

    Raises InputError if the record is missing or was changed.
    """
    game = context.game
    if game.result is None:
        raise ValueError(f"game {game.number} has no result")
    file = read_stored(files, game.result.record)
    public = public_part(file)
    record = public.to_json(as_read=True)
    (target / game.record_path).write_bytes(record)
    write_private(file, (private / game.first, private / game.second), game.stem)
    spoken = languages(context.languages)
    places = [PagePlace(f"games/{game.stem}.html", language, spoken) for language in spoken]
    names = [place.file for place in places] + ([game.picture_path] if context.address else [])
    replay = steps_of(public)
    rendered = [*game_pages(replay, public.record, context, places)]
    if context.address:
        rendered.append(game_picture(replay, public.record, context))
    figures = [
        (step.seat, search_figures(step.search, step.messages, step.ms).searched_evaluation) for step in replay.steps
    ]
    evaluated = evaluate_game([(seat, value) for seat, value in figures if seat is not None], public.record.winner)
    listed = {game.record_path: (hashlib.sha256(record).hexdigest(), len(record))}
    for name, data in zip(names, rendered, strict=True):
        (target / name).write_bytes(data)
        listed[name] = hashlib.sha256(data).hexdigest(), len(data)
    about = {seat.name: dict(seat.about) for seat in file.record.seats}
    pgn = _pgn(public, replay, context)
    return PublishedFiles(
        pgn, evaluated, about, conditions_of(file.record), listed, write_miniature(replay.steps[-1].view)
    )


def read_stored(files: Path, digest: str) -> RecordFile:
    """A stored record. Raises InputError if it is invalid."""
    stored = Files(files)
    return parse_json(RecordFile, stored.get(digest), f"{stored.path(digest)}: not a record of a game")


class _RecordPart(Model):
    record: GameRecord


def read_stored_record(files: Path, digest: str) -> GameRecord:
    """A stored record without its transcript, which is the second part of the file and most of its size.

    Raises as `read_stored`.
    """
    stored = Files(files)
    data = stored.get(digest)
    part = data[: data.find(b',"transcript":')] + b"}"
    return parse_json(_RecordPart, part, f"{stored.path(digest)}: not a record of a game").record


def public_record(files: Path, digest: str) -> bytes:
    """The bytes of the public part of a stored record. Raises InputError if it is invalid."""
    return public_part(read_stored(files, digest)).to_json(as_read=True)


def write_private(file: RecordFile, folders: tuple[Path, Path], stem: str) -> None:
    """Write each seat's withheld entries and stderr to its agent's directory."""
    for seat in SEATS:
        part = private_part(file, seat)
        if not part.entries:
            continue
        folder = folders[seat]
        # Both seats may have the same agent.
        name = stem if folders[0] != folders[1] else f"{stem}.seat-{seat}"
        data = part.model_dump_json(ensure_ascii=True).encode()
        try:
            (folder / f"{name}.json").write_bytes(data)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.json").write_bytes(data)
        stderr = part.bytes_of(EntryKind.STDERR)
        if stderr:
            (folder / f"{name}.stderr").write_bytes(stderr)


def _pgn(file: RecordFile, replay: Stepped, context: GamePageContext) -> bytes:
    record, game = file.record, context.game
    event, round_name = context.event, f"{game.round}.{game.table}.{game.number}"
    pgn = game_entry(record.spec.policy.game.name).write_pgn(replay, event, round_name)
    if pgn is not None:
        return pgn
    # PGN has no result for a game in which both agents are at fault.
    outcome: Outcome = "draw" if record.verdict is Verdict.DRAW else ""
    five = FiveRecord(
        width=0,
        height=0,
        moves=(),
        names=record.names,
        outcome=outcome if record.winner is None else WINNERS[record.winner],
        verdict=record.verdict.value,
        event=event,
        round=round_name,
        date=record.started_at[:10],
    )
    return write_pgn(five)

"""`judge convert`: games of five in a row from any format of the field, or from a judge's record, to another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from judge.errors import HostError, InputError
from judge.records.formats import FORMATS, FileFormat, read_games, write_games
from judge.records.gomoku.record import FiveRecord
from judge.text import printable

EXAMPLES = """
Examples:

judge convert records/*.json --to pgn -o cup.pgn

judge convert game.psq --to sgf
"""


def convert(
    files: Annotated[list[Path], typer.Argument(help=".psq, .rec, .sgf, .pgn or a judge's .json, by content.")],
    to: Annotated[str, typer.Option(help=f"{', '.join(FORMATS)}.", autocompletion=lambda: list(FORMATS))],
    output: Annotated[
        str, typer.Option("-o", "--output", help="File for all games, or directory; else beside the source.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Write over files that exist.")] = False,
) -> None:
    """Write games of five in a row in another format.

    What a format has no words for is lost: a .psq has no rule, PGN no times. Nothing is written
    where anything is wrong.
    """
    form = FORMATS.get(to)
    if form is None:
        raise InputError(f"--to {printable(to)}: it is one of {', '.join(FORMATS)}")
    sources = {path: read_games(path) for path in files}
    planned = _targets(sources, form, output)
    written = {target: _written(target, records, to) for target, records in planned.items()}
    if not force:
        _refuse_to_overwrite(written)
    for target, data in written.items():
        _write(target, data, force)
        print(f"{printable(str(target), 500)}: {_summary(planned[target])}")


def _targets(
    sources: Mapping[Path, Sequence[FiveRecord]], form: FileFormat, output: str
) -> Mapping[Path, Sequence[FiveRecord]]:
    """What is written where. Several games of one file get numbers where the format holds one."""
    is_folder = output.endswith("/") or Path(output or ".").is_dir()
    if not is_folder:
        return {Path(output): [record for records in sources.values() for record in records]}
    targets: dict[Path, Sequence[FiveRecord]] = {}
    for source, records in sources.items():
        place = (Path(output) if output else source.parent) / source.with_suffix(form.ending).name
        if form.holds_many or len(records) == 1:
            parts = {place: records}
        else:
            parts = {place.with_stem(f"{place.stem}-{n}"): [record] for n, record in enumerate(records, 1)}
        for target in parts.keys() & targets.keys():
            raise InputError(f"{target}: two of the files would be written here; give them another -o")
        targets |= parts
    return targets


def _written(target: Path, records: Sequence[FiveRecord], to: str) -> bytes:
    try:
        return write_games(records, to)
    except InputError as error:
        raise InputError(f"{target}: {error}") from None


def _refuse_to_overwrite(targets: Mapping[Path, bytes]) -> None:
    for target in targets:
        if target.exists():
            raise InputError(f"{target}: exists; --force writes over it, -o writes elsewhere")


def _write(target: Path, data: bytes, force: bool) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb" if force else "xb") as stream:
            stream.write(data)
    except OSError as error:
        raise HostError(f"{target}: not written: {error.strerror}") from None


def _summary(records: Sequence[FiveRecord]) -> str:
    games = "1 game" if len(records) == 1 else f"{len(records)} games"
    unknown = sum(not record.outcome for record in records)
    return f"{games}, {unknown} without a result" if unknown else games

"""`judge convert`: convert finished games between formats."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import HostError, InputError, naming, os_errors_as
from judge.base.text import printable
from judge.cli.options import ForceOption, complete_format
from judge.terminal.output import refuse_source

if TYPE_CHECKING:
    from judge.catalog.files import FileContent

EXAMPLES = """
judge convert records/*.json --to pgn -o cup.pgn
judge convert game.psq --to sgf
"""


def convert(
    files: Annotated[
        list[Path], typer.Argument(help="Records, or game files in any known format; file names do not matter.")
    ],
    to: Annotated[
        str, typer.Option(help="The format; without it, all formats are listed.", autocompletion=complete_format)
    ] = "",
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="File for all games, or directory. Default: the folder of each source."),
    ] = "",
    encoding: Annotated[
        str, typer.Option(help="Encoding of the files, such as gbk or windows-1251, if they do not declare it.")
    ] = "",
    force: ForceOption = False,
) -> None:
    """Convert finished games to another format.

    Information that a format cannot express is lost: a .psq has no rule, PGN no times. After an error no file is
    written.
    """
    from judge.catalog.files import format_names, read_games

    if to not in format_names():
        raise InputError(f"--to{printable(to and f' {to}')}: use one of {', '.join(format_names())}")
    sources = {path: read_games(path, encoding) for path in files}
    for path, content in sources.items():
        if to not in content.formats.by_name:
            names = ", ".join(content.formats.by_name)
            raise InputError(f"{path}: a game of {content.entry.name} cannot be written as {to}, only as {names}")
    planned = _targets(sources, to, output)
    written: dict[Path, bytes] = {}
    for target, content in planned.items():
        with naming(target):
            written[target] = content.formats.write(content.games, to)
    for target in written:
        refuse_source(target, sources)
        if not force and target.exists():
            raise InputError(f"{target}: exists; --force overwrites it, -o writes elsewhere")
    for target, content in planned.items():
        with os_errors_as(HostError, f"{target}: not written"):
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb" if force else "xb") as stream:
                stream.write(written[target])
        games = "1 game" if len(content.games) == 1 else f"{len(content.games)} games"
        unknown = sum(not content.formats.has_result(game) for game in content.games)
        without = f", {unknown} without a result" if unknown else ""
        print(f"{printable(str(target), 500)}: {games}{without}")
    notes = [content.note for content in sources.values() if content.note]
    for note in [*notes, *_name_notes(planned, to)]:
        print(printable(note, 500), file=sys.stderr)


def _targets(sources: Mapping[Path, FileContent], to: str, output: str) -> Mapping[Path, FileContent]:
    if not (output.endswith("/") or Path(output or ".").is_dir()):
        first = next(iter(sources.values()))
        for path, content in sources.items():
            if content.entry is not first.entry:
                raise InputError(f"{path}: {content.entry.name} and {first.entry.name} cannot be in one file")
        return {Path(output): replace(first, games=[game for content in sources.values() for game in content.games])}
    targets: dict[Path, FileContent] = {}
    for source, content in sources.items():
        form = content.formats.by_name[to]
        place = (Path(output) if output else source.parent) / source.with_suffix(form.ending).name
        if form.holds_many or len(content.games) == 1:
            parts = {place: content}
        else:
            parts = {
                place.with_stem(f"{place.stem}-{number}"): replace(content, games=[game])
                for number, game in enumerate(content.games, 1)
            }
        for target in parts.keys() & targets.keys():
            raise InputError(f"{target}: two of the files would be written here; give them another -o")
        targets |= parts
    return targets


def _name_notes(planned: Mapping[Path, FileContent], to: str) -> Iterator[str]:
    for target, content in planned.items():
        changed = {name for game in content.games for name in content.formats.changed_names(game, to)}
        if changed:
            others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            yield f"{target}: {to} has no letters for the name {min(changed)}{others}: written with other letters"

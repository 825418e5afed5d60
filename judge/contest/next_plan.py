"""The text of the next contest's file, made from the last one's."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.contest.opening_files import SHIPPED
from judge.contest.plan import Planned
from judge.contest.toml_edit import Document, edited, set_item, set_value

_OPENINGS = ("openings", "file")

PATH_KEYS = frozenset(
    {_OPENINGS, ("folders", "from"), ("ratings", "with"), ("ratings", "from"), ("format", "skip", "ratings")}
    | {("format", "skip", "above"), ("format", "seats", "previous")}
)
"""Keys with paths relative to the file; also policy and agents have some."""

_ONLY_OF_THE_LAST = (
    *(("submissions", key) for key in ("opens", "closes")),
    *(("contest", key) for key in ("starts", "resumes")),
    *(("freeze", key) for key in ("at", "reveal_at")),
    ("format", "ends"),
    ("cup",),
)


def with_changes(changes: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """`new` changes replace those of the same key."""
    found = {each.partition("=")[0].strip(): each for each in changes}
    return tuple((found | {each.partition("=")[0].strip(): each for each in new}).values())


def next_text(
    last: Planned, folder: Path, values: Mapping[tuple[str, ...], object], joined: Sequence[str], source: str
) -> str:
    """The last file without schedule and cup, with paths relative to `folder`.

    `joined`: contests of `[ratings] with`; `source`: a ladder starts from it, unless empty. Raises InputError if the
    file cannot be changed.
    """

    def edit(document: Document) -> None:
        for keys in _ONLY_OF_THE_LAST:
            set_value(document, keys, None)
        move_paths(document, lambda named: relocated(named, last.folder, folder))
        for keys, value in values.items():
            set_value(document, keys, value)
        if joined or "ratings" in document:
            set_value(document, ("ratings", "with"), list(joined) or None)
            set_value(document, ("ratings", "from"), source if source and not last.plan.format.has_rounds else None)
        if not joined and "ratings" in document:
            set_value(document, ("ratings", "anchors"), None)

    return edited(last.text, edit)


def relocated(named: str, last: Path, folder: Path) -> str:
    """`named`, relative to `last`, as relative to `folder`."""
    if not named or Path(named).is_absolute() or not (last / named).exists():
        return named
    return os.path.relpath((last / named).resolve(), folder.resolve())


def move_paths(document: Document, move: Callable[[str], str]) -> None:
    """Replace the paths in a contest's document, of agents and of its policy, by what `move` returns for them."""
    file, colon, variant = str(document["policy"]).partition(":")
    if file.endswith(".toml") and (moved := move(file)) != file:
        set_value(document, ("policy",), moved + colon + variant)
    for agent in document.get("agents", ()):
        _move(agent, ("path",), move)
    for keys in sorted(PATH_KEYS):
        _move(document, keys, move)


def _move(document: Document, keys: Sequence[str], move: Callable[[str], str]) -> None:
    found: Any = document
    for key in keys:
        if not isinstance(found, Mapping) or key not in found:
            return
        found = found[key]
    if keys == _OPENINGS and str(found).startswith(SHIPPED):
        return
    if isinstance(found, list):
        for at, named in enumerate(list(found)):
            if (moved := move(str(named))) != named:
                set_item(found, at, moved)
    elif (moved := move(str(found))) != found:
        set_value(document, keys, moved)

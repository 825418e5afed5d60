"""`judge contest folders`: list, export and import the agents' persistent folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable
from judge.cli.options import HERE, ContestArgument, ForceOption, JsonOption
from judge.terminal.output import print_json

if TYPE_CHECKING:
    from judge.contest.folder_transfer import AgentFolder

EXAMPLES = """
judge contest folders cup
judge contest folders cup --export learned
judge contest folders next-cup --from learned
"""


def folders(
    contest: ContestArgument = HERE,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write them to a new directory, as judge match --folders uses them."),
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="FROM", help="Import them from a directory or a contest, before the first run."),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the agents' persistent folders, or those with which the contest will begin; export or import them.

    An export has their state after the last games, all or nothing.
    """
    if export is not None and from_ is not None:
        raise InputError("--export and --from: give one of them")
    if export is not None:
        _export(export, contest, force)
    elif from_ is not None:
        _import(from_, contest, force)
    else:
        _list(contest, as_json)


def _list(contest: Path, as_json: bool) -> None:
    from judge.contest.contest import opened_if_begun
    from judge.contest.folder_transfer import brought, left_by
    from judge.contest.plan import load_plan

    planned = load_plan(contest)
    with opened_if_begun(planned) as found:
        if found is not None:
            folders = left_by(found)
        else:
            will = brought(planned)
            folders = [] if will is None else will.folders
    if as_json:
        documents = [
            {
                "agent": each.name,
                "program": each.program,
                "state": each.state.digest,
                "bytes": each.state.size_bytes,
                "files": each.state.inodes,
            }
            for each in folders
        ]
        print_json({"folders": documents}, indent=None)
        return
    _print(folders)
    if not folders:
        print("all folders are empty")


def _export(directory: Path, contest: Path, force: bool) -> None:
    from judge.api.contests import contest as contest_of
    from judge.contest.folder_transfer import left_by, refuse_while_running, write_folders
    from judge.contest.plan import load_plan
    from judge.contest.run_lock import alone
    from judge.journal.events import FoldersTransferred, cut

    with alone(load_plan(contest)), contest_of(contest).opened() as found:
        refuse_while_running(found)
        folders = left_by(found)
        write_folders(folders, directory, force)
        said = "; ".join(f"{each.name} {each.state.digest}" for each in folders) or "all are empty"
        found.store.remark(found.name, FoldersTransferred(cut(f"exported to {directory}: {said}")))
    _print(folders)
    print(f"wrote {directory}: {len(folders)} folders")


def _import(source: Path, contest: Path, force: bool) -> None:
    from judge.contest.contest import opened_if_begun
    from judge.contest.folder_transfer import bring
    from judge.contest.plan import load_plan
    from judge.contest.run_lock import alone

    planned = load_plan(contest)
    with alone(planned), opened_if_begun(planned) as begun:
        if begun is not None:
            raise InputError(
                f"the contest {planned.name!r} has begun and is locked in; import folders before its first run"
            )
        found = bring(planned, source, force)
    _print(found.folders)
    print(f"{planned.name} begins with {len(found.folders)} folders of {printable(found.source)};")
    print(f"  judge contest plan {planned.path}       lists their agents")


def _print(folders: Sequence[AgentFolder]) -> None:
    for each in folders:
        state = each.state
        print(f"  {each.name:<24} {state.digest[:16]}  {state.size_bytes:>10} bytes  {state.inodes:>5} files")

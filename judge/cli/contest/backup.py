"""`judge contest backup` and `restore`."""

from pathlib import Path
from typing import Annotated

import typer

from judge.base.text import printable
from judge.cli.options import ContestArgument
from judge.terminal.output import note, progress_bar

EXAMPLES = {
    "backup": """
judge contest backup cup /backup/cup
judge contest backup cup /backup/cup --keys /safe/cup-keys
judge contest backup cup /backup/cup --dump cup.dump
""",
    "restore": """
judge contest restore /backup/cup cup
judge contest restore /backup/cup cup --since kept-checkpoint
""",
}


def backup(
    contest: ContestArgument,
    target: Annotated[
        Path, typer.Argument(metavar="TO", help="A new directory, or an earlier backup, which is continued.")
    ],
    keys: Annotated[
        Path | None, typer.Option(help="A new directory for private keys and passwords. Default: they are not copied.")
    ] = None,
    dump: Annotated[
        Path | None,
        typer.Option(help="For a contest in PostgreSQL: its dump by pg_dump --format=custom, which is checked."),
    ] = None,
    sample: Annotated[
        int, typer.Option(metavar="N", min=0, help="Replay N games from the copies, chosen at random.")
    ] = 20,
) -> None:
    """Copy a contest with its store, records, agents and folders, also while it runs.

    The copy passes the checks of a restore before it replaces an earlier one, which restore --former still reads.
    TO has the contest's secret: keep it as private as the contest's folder.
    """
    from judge.contest.backup import back_up
    from judge.contest.plan import load_plan

    report = back_up(load_plan(contest), target, keys, dump, progress_bar(), sample)
    manifest = report.manifest
    print(f"{target}: {manifest.games} games, {len(manifest.stored)} records and folders, {report.new_files} new files")
    print(f"log      {manifest.log_size} leaves, root {manifest.log_root}")
    if report.links:
        note(f"judge: links to directories are not in the backup: {printable(', '.join(report.links))}")
    if manifest.keys:
        where = "are not in the backup" if keys is None else f"were copied to {keys}"
        note(f"judge: private keys {where}: {printable(', '.join(manifest.keys))}")


def restore(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A directory that judge contest backup wrote.")],
    contest: Annotated[Path, typer.Argument(metavar="CUP", help="The contest's folder: new or empty.")],
    sample: Annotated[int, typer.Option(metavar="N", min=0, help="Replay N games, chosen at random.")] = 50,
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="CHECKPOINT", help="A published checkpoint of the log: refuse a backup that is older or of a fork."
        ),
    ] = None,
    former: Annotated[bool, typer.Option("--former", help="Restore the backup before the newest one.")] = False,
    store: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="For a contest in PostgreSQL: the database with the loaded dump, which contest.toml then names.",
        ),
    ] = "",
) -> None:
    """Restore a contest from a backup, and check its files, its log and a sample of its games."""
    from judge.contest.restore import restore as restore_backup

    report = restore_backup(source, contest, sample, since, progress_bar(), store=store, former=former)
    manifest = report.manifest
    place, moment = printable(str(contest), None), printable(manifest.taken_at)
    print(f"{place}: {manifest.games} games, of {moment}; {report.replayed} records replayed")
    print(f"log      {manifest.log_size} leaves, root {manifest.log_root}")
    if since is None:
        note(
            "judge: results after this backup are lost. If a later checkpoint was published, continuing forks the log: "
            "check with --since CHECKPOINT"
        )
    if manifest.keys:
        note(f"judge: copy the private keys to {contest}: {printable(', '.join(manifest.keys))}")

"""`judge contest import`: a contest that was planned for another manager of its field."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from judge.catalog.managers import contest_manager
from judge.cli.contest.options import manager_names
from judge.cli.host_setup import build_missing_image, clean_up, place_on_host, tell_person
from judge.cli.output import note
from judge.cli.submit import UploadHost
from judge.contest.imported_folder import needs_boxes, write_imported
from judge.contest.plan import PLAN_FILE
from judge.errors import InputError
from judge.records.managers import ImportedAgent, ImportedContest
from judge.sandbox.box import BoxPolicy
from judge.sandbox.owner import owned_directory
from judge.submissions import unpack
from judge.submissions.sandbox_task import TaskHost
from judge.text import printable

EXAMPLES = {
    "import": """
Examples:

judge contest import gomocup server/tournament/cup.txt

judge contest import gomocup server/tournament/cup.txt contests/cup
""",
}


ManagerArgument = Annotated[
    str,
    typer.Argument(metavar="MANAGER", help="The manager that the file is of: gomocup.", autocompletion=manager_names),
]


def import_contest(
    manager: ManagerArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Its file of a tournament, in its own directories.")],
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The new folder. Default: the tournament's name.")
    ] = None,
) -> None:
    """Make a contest's folder of a tournament that was planned for another manager.

    The folder gets a contest.toml, the openings and the programs, unpacked. What has no equal here is printed, with the
    field and what to do, and is in the contest.toml as comments.
    """
    known = contest_manager(manager)
    if known.read is None:
        raise InputError(f"{manager}: contests cannot be imported from it ({known.about})")
    contest = known.read(file)
    folder = directory or Path(contest.name)
    with _host(contest) as host:
        write_imported(contest, folder, host, _tell)
    for remark in contest.remarks:
        note(f"judge: {file}, {printable(remark, 600)}")
    size = f"{len(contest.agents)} agents, {max(1, len(contest.openings))} openings"
    print(f"{folder / PLAN_FILE}: {size}; look at it, then")
    print(f"  judge contest plan {folder}       games, hours, and what is missing")
    print(f"  judge contest run {folder}        play it")


@contextmanager
def _host(contest: ImportedContest) -> Iterator[TaskHost]:
    """Where archives are unpacked; nothing is prepared where there are none."""
    with owned_directory() as room:
        policy = BoxPolicy(freeze="none")
        if not needs_boxes(contest):
            yield TaskHost(policy, (), room)
            return
        clean_up()
        build_missing_image(unpack.IMAGE)
        with UploadHost(place_on_host(), tell_person).aside() as cores:
            yield TaskHost(policy, cores, room)


def _tell(agent: ImportedAgent, text: str, is_good: bool) -> None:
    print(f"{'ok' if is_good else 'FAIL':<5} {agent.name}: {printable(text, 600)}", flush=True)

"""`judge contest import` and `compare`: contests of another manager of the field, planned or played."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable
from judge.catalog.files import contest_manager
from judge.cli.contest.options import manager_names, opened_if_begun
from judge.cli.host_setup import build_missing_image, clean_up, place_on_host, tell_person
from judge.cli.options import HERE, ContestArgument, JsonOption
from judge.cli.submit import UploadHost
from judge.contest.folders.imported import needs_boxes, write_imported
from judge.contest.plan import PLAN_FILE, load_plan
from judge.export.manager_files import finished_contest, planned_contest
from judge.records.managers import DifferenceKind, ImportedAgent, ImportedContest
from judge.sandbox.box import BoxPolicy
from judge.sandbox.machine.owner import owned_directory
from judge.submissions import trees
from judge.submissions.trees import TaskHost
from judge.terminal.output import note, print_json

EXAMPLES = {
    "import": """
Examples:

judge contest import gomocup server/tournament/cup.txt

judge contest import gomocup server/tournament/cup.txt contests/cup
""",
    "compare": """
Examples:

judge contest compare gomocup server/result/cup cup

judge contest compare gomocup server/result/cup cup --all --json
""",
}

SHOWN = 50
"""Differences that are printed without --all."""


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
        build_missing_image(trees.IMAGE)
        with UploadHost(place_on_host(), tell_person).aside() as cores:
            yield TaskHost(policy, cores, room)


def _tell(agent: ImportedAgent, text: str, is_good: bool) -> None:
    print(f"{'ok' if is_good else 'FAIL':<5} {agent.name}: {printable(text, 600)}", flush=True)


def compare(
    manager: ManagerArgument,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Its files of a tournament that was played.")],
    contest: ContestArgument = HERE,
    everything: Annotated[bool, typer.Option("--all", help="List the differences that change no result, too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare a tournament of another manager with a contest: each difference, and of which kind it is.

    Its games are judged by the contest's rules and clocks, and compared with the contest's own games of the same
    agents, colours and opening, as far as those are played.
    """
    known = contest_manager(manager)
    if known.compare is None:
        raise InputError(f"{manager}: its tournaments cannot be compared ({known.about})")
    planned = load_plan(contest)
    with opened_if_begun(planned) as found:
        ours = planned_contest(planned) if found is None else finished_contest(found, known)
        compared = known.compare(directory, ours)
    if as_json:
        print_json(asdict(compared))
        return
    print(f"{directory}: {compared.theirs} games; {planned.name}: {compared.ours}")
    print(f"{compared.aligned} of the same agents, colours and opening, of which {compared.same} went and ended alike")
    for kind in DifferenceKind:
        of_kind = [each for each in compared.differences if each.kind is kind]
        changing = sum(each.changes_result for each in of_kind)
        print(f"  {kind.value:<8} {len(of_kind):>6} differences, {changing} with another winner")
    listed = [each for each in compared.differences if everything or each.changes_result]
    for each in listed if everything else listed[:SHOWN]:
        game = f"game {each.number}" if each.number else "our rules"
        print(f"{printable(each.game or '-', 60)}  {game}  {each.kind.value}: {printable(each.text, 400)}")
    if len(listed) > SHOWN and not everything:
        print(f"and {len(listed) - SHOWN} more with another winner; --all lists every difference")

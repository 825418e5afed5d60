"""`judge contest import` and `compare`: planned and played tournaments of other contest managers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable
from judge.cli.options import HERE, ContestArgument, JsonOption, complete_manager
from judge.contest.file_names import PLAN_FILE
from judge.terminal.output import note, print_json, print_notice

if TYPE_CHECKING:
    from judge.catalog.managers import ImportedAgent, ImportedContest
    from judge.submissions.trees import TaskHost

EXAMPLES = {
    "import": """
judge contest import gomocup server/tournament/cup.txt
judge contest import gomocup server/tournament/cup.txt contests/cup
""",
    "compare": """
judge contest compare gomocup server/result/cup cup
judge contest compare gomocup server/result/cup cup --all --json
""",
}

SHOWN_DIFFERENCES = 50


ManagerArgument = Annotated[
    str,
    typer.Argument(
        metavar="MANAGER",
        help="The manager that wrote the files. For an unknown name, the known ones are printed.",
        autocompletion=complete_manager,
    ),
]


def import_contest(
    manager: ManagerArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The manager's tournament file, inside its directories.")
    ],
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The new folder. Default: the tournament's name.")
    ] = None,
) -> None:
    """Create a contest's folder from a tournament planned for another manager.

    The folder gets a contest.toml, the openings and the unpacked programs. Settings without an equivalent are printed
    with field and advice, and kept as comments in contest.toml.
    """
    from judge.catalog.managers import MANAGERS
    from judge.contest.imported_contest import write_imported

    known = MANAGERS.entry(manager)
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
    print(f"  judge contest plan {folder}       checks it: games, duration, missing items")
    print(f"  judge contest run {folder}        plays it")


@contextmanager
def _host(contest: ImportedContest) -> Iterator[TaskHost]:
    from judge.base.owner import owned_directory
    from judge.cli.submit import UploadHost
    from judge.contest.host_setup import build_missing_images, clean_up, place_on_host
    from judge.contest.imported_contest import needs_boxes
    from judge.sandbox.box import BoxPolicy
    from judge.submissions import trees
    from judge.submissions.trees import TaskHost

    with owned_directory() as room:
        policy = BoxPolicy(freeze="none")
        if not needs_boxes(contest):
            yield TaskHost(policy, (), room)
            return
        clean_up(print_notice)
        build_missing_images([trees.IMAGE], print_notice)
        with UploadHost(place_on_host(), print_notice).aside() as cores:
            yield TaskHost(policy, cores, room)


def _tell(agent: ImportedAgent, text: str, is_good: bool) -> None:
    print(f"{'ok' if is_good else 'FAIL':<5} {agent.name}: {printable(text, 600)}", flush=True)


def compare(
    manager: ManagerArgument,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Result files of a finished tournament.")],
    contest: ContestArgument = HERE,
    everything: Annotated[bool, typer.Option("--all", help="Also list the differences that change no result.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare a tournament of another manager with a contest: list each difference and its kind.

    Its games are judged under the contest's rules and clocks. They are compared with the contest's finished games of
    the same agents, colours and opening.
    """
    from judge.catalog.managers import MANAGERS, DifferenceKind
    from judge.contest.contest import opened_if_begun
    from judge.contest.plan import load_plan
    from judge.publish.export.manager_files import finished_contest, planned_contest

    known = MANAGERS.entry(manager)
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
    print(
        f"{compared.aligned} of the same agents, colours and opening, "
        f"{compared.same} of these with the same moves and result"
    )
    for kind in DifferenceKind:
        of_kind = [each for each in compared.differences if each.kind is kind]
        changing = sum(each.changes_result for each in of_kind)
        print(f"  {kind.value:<8} {len(of_kind):>6} differences, {changing} with another winner")
    listed = [each for each in compared.differences if everything or each.changes_result]
    for each in listed if everything else listed[:SHOWN_DIFFERENCES]:
        game = f"game {each.number}" if each.number else "our rules"
        print(f"{printable(each.game or '-', 60)}  {game}  {each.kind.value}: {printable(each.text, 400)}")
    if len(listed) > SHOWN_DIFFERENCES and not everything:
        print(f"and {len(listed) - SHOWN_DIFFERENCES} more with another winner; --all lists every difference")

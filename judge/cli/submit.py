"""`judge submit`, and what commands and services share for the submissions of a contest."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import quote, suggest
from judge.cli.options import CONTEST_HELP, HERE, JsonOption, cup_at
from judge.terminal.output import note, print_json, print_notice

if TYPE_CHECKING:
    from judge.play.venue import Slot
    from judge.sandbox.machine.cores import CorePlacement, Tell
    from judge.store.submissions import Register
    from judge.submissions.pipeline import Processor, Workplace
    from judge.submissions.service import IntakeDirectory

LEAGUE_COLUMNS = ("author", "league", "link")
"""Of a table of authors' links to the leagues of a cup, which `judge tokens make-all` prints."""

MAX_LINKS_BYTES = 1 << 20

EXAMPLES = """
judge submit my-agent.zip cup
judge submit pbrain-five.zip cup --name five --author "Ada L." --json
judge submit pbrain-five.zip cup --title "Žofinka 五"
judge submit my-agent.zip --url 'https://example.org/cup/author/index.html#TOKEN' --wait
judge submit my-agent.zip spring --league fastgame --league renju --author "Ada L."
judge submit my-agent.zip --links my-links.csv --league fastgame --league renju --wait
judge submit my-agent.zip --url https://example.org/cup --token-file token.txt --wait --receipt my-agent.receipt

Exit codes: 0 it passed, 1 it was refused or the host failed, 2 the command was wrong.
"""


def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive of programs or sources, or one program.")],
    contest: Annotated[
        Path | None, typer.Argument(metavar="CONTEST", help=CONTEST_HELP, show_default=str(HERE))
    ] = None,
    name: Annotated[str, typer.Option(help="The agent's name; default: the name in its manifest.")] = "",
    title: Annotated[
        str, typer.Option(help="The agent's name on the pages, in any script; default: that of its last version.")
    ] = "",
    author: Annotated[str, typer.Option(help="The author's name; default: the organiser.")] = "",
    url: Annotated[str, typer.Option(help="The address of judge serve or the author's link, instead of CONTEST.")] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token that the organiser gave you, for --url.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="With --url: print the steps and the result.")] = False,
    receipt: Annotated[
        Path | None, typer.Option(help="With --url: write the receipt for the file, a proof of the upload.")
    ] = None,
    league: Annotated[
        list[str] | None, typer.Option(help="Of a cup: a league that the agent enters. Repeatable.")
    ] = None,
    links: Annotated[
        Path | None, typer.Option(help="With --league: the organiser's file of your links to the leagues.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Submit FILE to a contest: unpack it, build it, check it, and register the agent.

    Of a cup, to each league of --league, which checks it under its own policy.
    """
    from judge.base.logs import set_level
    from judge.cli.submission_output import REPEATED, print_received, print_result, print_step, submission_json
    from judge.contest.admissions import joins_later
    from judge.store.tokens import checked_author
    from judge.store.types import ENTERS, ORGANISER
    from judge.submissions.service import process_claimed, receive_file, requeue_lost, working

    set_level(logging.ERROR)
    cup = None if url else cup_at(contest or HERE)
    if links is not None or cup is not None:
        if url or as_json or token_file is not None or receipt is not None:
            raise InputError("a cup: leave out --url, --token-file, --receipt and --json")
        if links is None and wait:
            raise InputError("--links is missing: --wait is for services")
        if links is not None and (author or contest is not None):
            raise InputError("--links: the services know the author and the cup; leave out --author and CUP")

        def submit_to(path: Path | None, link: str) -> None:
            submit(file, path, name, title, author, url=link, wait=wait)

        _submit_to_leagues(cup or HERE, league or [], links, submit_to)
        return
    if league:
        raise InputError("--league is for a cup: name the cup, or give --links")
    if url:
        if contest is not None or author:
            raise InputError("--url: the service knows contest and author; leave out CONTEST and --author")
        from judge.cli.submit_remote import submit_remote

        submit_remote(file, url, token_file, name, title, is_waiting=wait, as_json=as_json, receipt=receipt)
        return
    if token_file is not None or wait or receipt is not None:
        raise InputError("--url is missing: --token-file, --wait and --receipt are for a service")
    contest = contest or HERE
    directory = open_intake(contest)
    if author:
        checked_author(author)
    tell = (lambda _: None) if as_json else print_step
    with closing(directory.register()) as register, working(directory) as worker:
        if register.has_begun() and not joins_later(register):
            note("the contest has begun: FILE is checked, but does not take part by itself")
        requeue_lost(directory, register, worker)
        taken, is_repeated = receive_file(directory, register, file, name, author or ORGANISER, worker, title)
        if not as_json:
            print_received(taken)
        if is_repeated:
            note(REPEATED)
        ended = taken if is_repeated else process_claimed(directory, register, taken, processor(directory), tell)
        if as_json:
            print_json(submission_json(directory, register, ended))
        else:
            print_result(directory, register, ended, contest)
    if ended.state not in ENTERS:
        raise SystemExit(1)


def _submit_to_leagues(
    cup: Path, leagues: Sequence[str], links: Path | None, submit_to: Callable[[Path | None, str], None]
) -> None:
    """`submit_to` submits the file to a contest, or else to an author's link."""
    from judge.cup.plan import load_cup

    known = _read_links(links) if links is not None else {}
    planned = None if links is not None else load_cup(cup)
    names = list(known) if planned is None else list(planned.cup.by_name)
    chosen = list(dict.fromkeys(leagues))
    if not chosen:
        raise InputError(f"--league is missing: name one or more of {', '.join(names)}")
    for each in chosen:
        if each not in names:
            raise InputError(f"--league {quote(each)}: no such league; {suggest(each, names)}")
    failed = []
    for each in chosen:
        print(f"{each}:", flush=True)
        try:
            if planned is None:
                submit_to(None, known[each])
            else:
                contest = planned.write(each, is_complete=not planned.cup.by_name[each].after)
                submit_to(contest.path, "")
        except SystemExit:
            failed.append(each)
        except InputError as error:
            if len(chosen) == 1:
                raise
            note(f"judge: {error}")
            failed.append(each)
    if failed:
        print(f"refused by {', '.join(failed)}")
        raise SystemExit(1)


def _read_links(path: Path) -> Mapping[str, str]:
    import csv

    data = read_bounded(path, MAX_LINKS_BYTES, "give the lines of judge tokens make-all", links=True)
    rows = [*csv.reader(data.decode("utf-8", "replace").splitlines())]
    if not rows or tuple(rows[0]) != LEAGUE_COLUMNS:
        raise InputError(f"{path}, line 1: write {','.join(LEAGUE_COLUMNS)}, as judge tokens make-all prints it")
    found: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(LEAGUE_COLUMNS):
            raise InputError(
                f"{path}, line {number}: {len(row)} values; the first line has {len(LEAGUE_COLUMNS)} columns"
            )
        if row[1] in found:
            raise InputError(f"{path}, line {number}: the league {quote(row[1])} is listed twice; leave one line out")
        found[row[1]] = row[2]
    return found


def open_intake(contest: Path) -> IntakeDirectory:
    """The intake directory of a contest file, after starting its log, so that the log has every upload. Raises
    InputError as `load_plan` and `announce` do.
    """
    from judge.contest.begin import announce
    from judge.contest.contest import open_store
    from judge.contest.entries import intake_directory
    from judge.contest.plan import load_plan

    planned = load_plan(contest)
    with closing(open_store(planned)) as store:
        announce(store, planned)
    return intake_directory(planned)


@contextmanager
def opened_register(contest: Path) -> Iterator[tuple[IntakeDirectory, Register]]:
    """Context manager: the intake directory of a contest, as `open_intake`, and its register."""
    directory = open_intake(contest)
    with closing(directory.register()) as register:
        yield directory, register


def processor(directory: IntakeDirectory, tell: Tell = print_notice, host: Workplace | None = None) -> Processor:
    """A function that processes uploads on this host, after removing leftovers of killed judges.

    The callback gets the process that holds a core; it must be importable by name. Raises HostError if no Engine
    answers.
    """
    from judge.contest.host_setup import clean_up, place_on_host
    from judge.submissions.pipeline import process_upload

    clean_up(tell)
    host = host or UploadHost(place_on_host(directory.policy), tell)
    return partial(process_upload, workplace=host, limits=directory.intake.limits)


def hosting(directory: IntakeDirectory, tell: Tell) -> tuple[Processor, Workplace]:
    """Like `processor`, with the host for practice games."""
    from judge.contest.host_setup import place_on_host

    host = UploadHost(place_on_host(directory.policy), tell)
    return processor(directory, tell, host), host


@dataclass(frozen=True, slots=True)
class UploadHost:
    """This host as a `judge.submissions.pipeline.Workplace`: unpacking on the judge's core, the rest in a slot."""

    placement: CorePlacement
    tell: Tell

    @contextmanager
    def aside(self) -> Iterator[tuple[int, ...]]:
        from judge.sandbox.machine.cores import CoreLocks

        with CoreLocks(self.placement.judge if self.placement.shared else (), self.tell):
            yield self.placement.judge

    def slot(self) -> AbstractContextManager[Slot]:
        from judge.contest.host_setup import slot_alone

        return slot_alone("docker", self.tell, self.placement)

    def free_slot(self) -> AbstractContextManager[Slot | None]:
        from judge.contest.host_setup import free_slot

        return free_slot(self.placement, self.tell)

    def need(self, image: str) -> None:
        from judge.contest.host_setup import build_missing_images

        build_missing_images([image], self.tell)

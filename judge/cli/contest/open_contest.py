"""Makes a new contest ready for authors: key, announcement and links."""

from collections.abc import Iterator, Sequence
from contextlib import closing

from judge.base.durable_files import create_private, write_durably
from judge.base.errors import HostError, os_errors_as
from judge.base.moments import moment_text
from judge.cli.contest.announce import announcement, clock_words
from judge.cli.contest.init_options import EXPECTED_AGENTS
from judge.cli.options import operator
from judge.cli.submit import open_intake
from judge.cli.tokens import author_link, note_lookalikes, organiser_link
from judge.contest.estimate import longest_words, size_of
from judge.contest.file_names import LINKS, PLAN_FILE
from judge.contest.plan import Planned
from judge.contest.slots import slots_on_host
from judge.store.tokens import TokenRole
from judge.transparency.keys import KEY_FILE, make_key, public_pem

ANNOUNCEMENT = "announcement.txt"


def make_ready_for_authors(planned: Planned, authors: Sequence[str], address: str) -> None:
    """Write key, announcement and links to the contest's folder. Raises InputError and HostError."""
    folder = planned.folder
    public = make_key(folder / KEY_FILE).public_key()
    with os_errors_as(HostError, folder):
        write_durably((folder / KEY_FILE).with_suffix(".pem"), public_pem(public))
    directory = open_intake(planned.path)
    with closing(directory.tokens()) as tokens:
        lines = [f"organiser: {organiser_link(address, tokens.make('organiser', operator(), TokenRole.ORGANISER))}"]
        lines += [f"{author}: {author_link(address, tokens.make(author, operator()))}" for author in authors]
    note_lookalikes(authors, directory)
    with os_errors_as(HostError, folder):
        create_private(folder / LINKS, "".join(f"{line}\n" for line in lines).encode())
        write_durably(folder / ANNOUNCEMENT, "".join(f"{line}\n" for line in announcement(planned, address)).encode())


def chosen_lines(planned: Planned, agents: int, authors: int) -> Iterator[str]:
    """Yield what was chosen for a contest with this number of listed agents and authors, and what is where."""
    plan, policy, folder = planned.plan, planned.policy, planned.folder
    expected = agents + authors or EXPECTED_AGENTS
    size = size_of(planned, plan.format, [f"agent {number}" for number in range(1, expected + 1)])
    slots = len(slots_on_host(plan.slots.cores, sharing=policy.box.sharing, ponders=policy.clock.ponder))
    yield f"{planned.path}: change there until the start what was chosen:"
    yield f"  policy    {plan.policy}: {clock_words(planned)}"
    about = "" if plan.format.counts_games else "about "
    yield f"  format    {plan.format.name}, {plan.format.games} games of each pairing"
    if size.games:  # the format may need another number of agents
        yield f"            {about}{size.games} games if {expected} agents take part"
        yield f"  time      {longest_words(planned, size, slots)}"
    if plan.openings.file:
        yield f"  openings  {plan.openings.file}, each with both colours"
    if plan.windows.closes is not None:
        yield f"  closes    {moment_text(plan.windows.closes)}"
    if plan.windows.starts is not None:
        yield f"  starts    {moment_text(plan.windows.starts)}"
    yield f"{folder / ANNOUNCEMENT}: publish it now, where only you can write, with {folder / 'organiser.pem'}"
    yield f"  after a change of {PLAN_FILE}: judge contest announce {folder} prints it again"
    links = f", and a link for each of {authors} authors: send each author only one" if authors else ""
    yield f"{folder / LINKS}: your link{links}"

"""The orders that the pages offer. Two of them write files: an export, and the live pages.

Files get their final name when complete, before the order is stored. After a kill, repeating the order completes both.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.folder_names import EXPORTS, PUBLISHED
from judge.contest.orders.order import ContestOrder, Effect, Order
from judge.contest.orders.submission_orders import AuthorsOrder, RegisterOrder
from judge.contest.orders.table import ORDERS
from judge.publish.export.export import refuse_withheld
from judge.publish.export.folder import write_export
from judge.store.orders import Orders, OrganiserOrder
from judge.store.types import NotFoundError
from judge.transparency.keys import KEY_FILE
from judge.web.organisers.console import Console, PublishPages


class FileOrder(Order[Orders]):
    """An order that writes files. It takes long, and is carried out after the answer."""

    command = ""
    readers = "organisers"
    done = ""
    words: ClassVar[str]
    note: str

    def __init__(self, console: Console, given: OrganiserOrder) -> None:
        super().__init__(console.orders, console.planned.name, given)
        self.console = console

    def read(self) -> None:
        self.console.begun()

    def write_files(self) -> None:
        if self.part.get(self.given.id) is None:
            self.done = self.write()

    @abstractmethod
    def write(self) -> str:
        """Write the files in another process; return a description. Raises InputError, HostError, NotNowError."""

    def do(self, _: Orders) -> Effect:
        return Effect(self.done, self.words, self.note)


class Export(FileOrder):
    """Write an export, as `judge contest export`."""

    action = "export"
    label = sentence("Export")
    title = sentence("Export: the signed results")
    words = sentence(
        "Writes tables, records and pages with a signature that everybody can verify. After the end, the page Verify "
        "offers the newest export."
    )
    note = sentence(f"The files go to a new directory in {EXPORTS}. This may take minutes.")

    def read(self) -> None:
        refuse_withheld(self.console.begun())
        key = self.console.planned.folder / KEY_FILE
        if not key.exists():
            raise InputError(
                f"an export is signed, and there is no {KEY_FILE} in the contest's folder: make it once with "
                f"judge contest key {key}, and open this page again"
            )

    def write(self) -> str:
        return self.console.written(write_export, str(self.console.planned.path), self.given.id)


class Publish(FileOrder):
    """Write the live pages, as `judge contest export --unsigned`."""

    action = "publish"
    label = sentence("Publish")
    link = sentence("Publish the pages")
    title = sentence("Publish: the live pages")
    words = sentence(
        "Writes the current pages as files for a web server. They are not signed: for verification, export."
    )

    def read(self) -> None:
        contest = self.console.begun()
        is_final = contest.view().is_over and contest.store.withheld_from(contest.name) is None
        self.note = (
            sentence(f"The contest is over: {PUBLISHED} gets the final pages.")
            if is_final
            else sentence(f"The contest runs: {PUBLISHED} gets its present state. Publish again after the end.")
        )

    def write(self) -> str:
        planned = self.console.planned
        return self.console.written(
            write_pages, self.console.publish, str(planned.path), str(planned.folder / PUBLISHED)
        )


def export_of(console: Console, number: str, part: str) -> Path:
    """Directory of a part. Raises NotFoundError."""
    done = console.orders.get(number)
    directory = console.planned.folder / EXPORTS / number / part
    if done is None or done.order.action != "export" or not directory.is_dir():
        raise NotFoundError("there is no such export")
    return directory


def write_pages(write: PublishPages, plan: str, directory: str) -> str:
    """Write the live pages; return a description."""
    target = Path(directory)
    if write(Path(plan), target):
        return sentence(f"{target.name} has the final pages")
    return sentence(f"{target.name} has the current pages and events")


Kind = type[ContestOrder | AuthorsOrder | RegisterOrder | FileOrder]

ACTIONS: Mapping[str, Kind] = {**ORDERS, Export.action: Export, Publish.action: Publish}


def order_of(console: Console, given: OrganiserOrder, attempt: int | None = None) -> Order[Any]:
    """Raises InputError for an unknown order, or before the contest begins."""
    kind = ACTIONS.get(given.action)
    if kind is None:
        raise InputError("there is no such order: give one from the page of the game, the agent or the submission")
    if issubclass(kind, ContestOrder):
        return kind(console.begun(), given, attempt)
    if issubclass(kind, AuthorsOrder):
        return kind(console.state.notices, given)
    return kind(console, given) if issubclass(kind, FileOrder) else kind(console.state.register, given)


def offered(**conditions: bool) -> Mapping[str, Sequence[Kind]]:
    """The orders that a page offers under these conditions, by the name of their target."""
    found = defaultdict[str, list[Kind]](list)
    for kind in ACTIONS.values():
        if not kind.needs or conditions.get(kind.needs):
            found[kind.target.name].append(kind)
    return found

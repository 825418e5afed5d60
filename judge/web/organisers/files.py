"""Orders that write files: an export, and the live pages.

Files get their final name when complete, before the order is noted. After a kill, repeating the order completes both.
"""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from judge.base.errors import HostError
from judge.base.text import sentence
from judge.contest.contest import Contest, open_store
from judge.contest.folder_names import EXPORTS, PUBLISHED
from judge.contest.plan import load_plan
from judge.export.export import publish
from judge.publish.manifest import MANIFEST
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.store.types import UnknownSubmissionError
from judge.transparency.keys import load_key
from judge.transparency.log import KEY_FILE
from judge.web.organisers.console import Console, Publish


def export(console: Console, order: OrganiserOrder) -> DoneOrder:
    """Write an export, as `judge contest export`. Raises InputError, HostError, NotNowError."""
    target = console.planned.folder / EXPORTS / order.id
    return _once(console, order, write_export, str(console.planned.path), str(target))


def _once(console: Console, order: OrganiserOrder, task: Callable[..., str], *given: object) -> DoneOrder:
    done = console.orders.get(order.id)
    if done is not None:
        return console.orders.note(order, done.done)
    console.begun()
    return console.orders.note(order, console.written(task, *given))


def write_export(plan: str, directory: str) -> str:
    """Write an export to a new directory; return a description."""
    planned, target = load_plan(Path(plan)), Path(directory)
    public, private = target / "public", target / "private"
    warnings: Sequence[str] = ()
    if not public.exists():
        # Without the public part the export is incomplete.
        try:
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
        except OSError as error:
            raise HostError(f"{error.filename}: {error.strerror}: the export is not written") from None
        with closing(open_store(planned)) as store:
            contest = Contest(store, planned)
            key = load_key(planned.folder / KEY_FILE)
            warnings = publish(contest, public, private, key).warnings
    digest = hashlib.sha256((public / MANIFEST).read_bytes()).hexdigest()
    place = f"{EXPORTS}/{target.name}"
    words = sentence(f"{place}/public is for everybody, {place}/private for the authors; manifest {digest}")
    return "; ".join([words, *warnings])


def export_of(console: Console, number: str, part: str) -> Path:
    """Directory of a part. Raises UnknownSubmissionError."""
    done = console.orders.get(number)
    directory = console.planned.folder / EXPORTS / number / part
    if done is None or done.order.action != "export" or not directory.is_dir():
        raise UnknownSubmissionError("there is no such export")
    return directory


def publish_pages(console: Console, order: OrganiserOrder) -> DoneOrder:
    """Write the live pages, as `judge contest publish`. Raises InputError, HostError, NotNowError."""
    target = console.planned.folder / PUBLISHED
    return _once(console, order, write_pages, console.publish, str(console.planned.path), str(target))


def write_pages(write: Publish, plan: str, directory: str) -> str:
    """Write the live pages; return a description."""
    target = Path(directory)
    if write(Path(plan), target):
        return sentence(f"{target.name} has the final pages")
    return sentence(f"{target.name} has the current pages and events")

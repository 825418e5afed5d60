"""What every command of a contest begins with: its file, its store, and the contest if it has begun."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.plan import PLAN_FILE, load_plan
from judge.errors import InputError

ContestFile = Annotated[Path, typer.Argument(metavar="CONTEST", help="The contest.toml, or the folder that it is in.")]
HERE = Path(PLAN_FILE)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Why = Annotated[str, typer.Option(help="The reason; it stands in the contest's log for good.")]


@contextmanager
def opened(path: Path) -> Iterator[Contest]:
    """The contest of a file; InputError where it has not begun."""
    planned = load_plan(path)
    if not planned.has_no_store:
        with closing(open_store(planned)) as store:
            if has_begun(store, planned):
                yield Contest(store, planned)
                return
    raise InputError(f"the contest {planned.name!r} has not begun; judge contest run {planned.path} begins it")


def reasoned(why: str) -> str:
    """A reason that says something; InputError for an empty one."""
    if not why.strip():
        raise InputError("--why: say why; the reason stands in the contest's log")
    return why.strip()

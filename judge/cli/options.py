"""Options and arguments that several commands share, and their shell completion."""

import getpass
import importlib.util
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from judge import DISTRIBUTION
from judge.base.durable_files import is_file
from judge.base.errors import InputError
from judge.base.text import printable
from judge.contest.file_names import CUP_FILE, PLAN_FILE
from judge.terminal.output import print_notice

if TYPE_CHECKING:
    from judge.sandbox.box import BoxKind


def number(low: float, high: float) -> Callable[[str], float]:
    """A parser of options: finite numbers from `low` to `high`. Typer's own accepts nan and inf."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise typer.BadParameter(f"{printable(str(text), 40)}: write a number from {low:g} to {high:g}")
        return value

    parse.__name__ = "number"
    return parse


def complete_policy(incomplete: str) -> Iterator[str]:
    """Complete names of policies and `policy:variant`, and paths that end in .toml."""
    from judge.record.policy import policy_names, variants_of

    for name in policy_names():
        words = [name, *(f"{name}:{variant}" for variant in variants_of(name))]
        yield from (word for word in words if word.startswith(incomplete))
    yield from _paths(incomplete, ".toml")


def complete_agent(incomplete: str) -> Iterator[str]:
    """Complete names of house agents, and paths."""
    from judge.base.resources import house_agent_names

    yield from (name for name in house_agent_names() if name.startswith(incomplete))
    yield from _paths(incomplete, "")


def complete_manager() -> Iterable[str]:
    """Names of contest managers, of which typer takes those that match."""
    from judge.catalog.managers import MANAGERS

    return MANAGERS.names()


def complete_page() -> Iterable[str]:
    """Names of pages of other packages."""
    from judge.publish.pages import PAGES

    return PAGES.names()


def complete_format() -> Iterable[str]:
    """Names of formats of games."""
    from judge.catalog.files import format_names

    return format_names()


def _paths(incomplete: str, ending: str) -> Iterator[str]:
    folder, _, start = incomplete.rpartition("/")
    before = f"{folder}/" if folder else ""
    try:
        paths = sorted(Path(folder or ("/" if incomplete.startswith("/") else ".")).iterdir())
    except OSError:
        return
    for path in paths:
        if path.name.startswith(start) and not path.name.startswith("."):
            if path.is_dir():
                yield f"{before}{path.name}/"
            elif path.name.endswith(ending):
                yield f"{before}{path.name}"


POLICY_HELP = "A policy name, name:variant, or a .toml file; see judge policies."

PolicyOption = Annotated[str, typer.Option("--policy", help=POLICY_HELP, autocompletion=complete_policy)]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Override a value of the policy: clock.turn_ms=1000. Repeatable.")
]
CLOCK_HELP = "Time control in seconds: 60+0.6, 60d2, 40/300, 600|3x30, 600|20/300, 600@30; 300,240 for each seat."
ClockOption = Annotated[str, typer.Option("--clock", metavar="CONTROL", help=CLOCK_HELP)]
BoxOption = Annotated[str, typer.Option("--box", help="docker, or process (isolates nothing).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite what exists.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        help="The database of a contest that keeps none in its folder. The one in its contest.toml is not opened.",
    ),
]
WhyOption = Annotated[str, typer.Option("--why", help="The reason, stored in the journal.")]
TlsOption = Annotated[
    Path | None, typer.Option("--tls", help="This host's folder from judge cluster; not needed on loopback.")
]

SLOTS_HELP = "Games at the same time; 0 means as many as the cores allow."

CONTEST_HELP = "The contest.toml, or the folder that contains it."
HERE = Path(PLAN_FILE)
ContestArgument = Annotated[Path, typer.Argument(metavar="CONTEST", help=CONTEST_HELP)]
ContestOrCupArgument = Annotated[
    Path, typer.Argument(metavar="CONTEST", help=f"{CONTEST_HELP} Or a cup.toml, or its folder.")
]
SubmissionIdArgument = Annotated[int, typer.Argument(metavar="ID", help="The number of a submission.")]


def cup_at(path: Path) -> Path | None:
    """The file of the cup at a path, a file or folder; None of a contest. `HERE` is what the current folder has."""
    if path.name == CUP_FILE:
        return path
    file = (path.parent if path == HERE and not path.exists() else path) / CUP_FILE
    return file if is_file(file) else None


def refuse_given(why: str, **options: Any) -> None:
    """Raise InputError for the first of these options that was given."""
    for name, value in options.items():
        if value:
            raise InputError(f"--{name.rstrip('_').replace('_', '-')} {why}; leave it out")


def box_kind(text: str) -> "BoxKind":
    """Parse the value of `--box`. Raises InputError if it is unknown."""
    if text == "docker":
        return "docker"
    if text == "process":
        print_notice(
            "WARNING: --box process isolates nothing. The agents run as you, with your files, your network and no "
            "memory limit. Use it only for programs that you trust."
        )
        return "process"
    raise InputError(f"--box {text}: use docker or process")


def required_reason(why: str) -> str:
    """The text of `--why`. Raises InputError if it is empty."""
    if not why.strip():
        raise InputError("--why is missing: give a reason; it is stored in the journal")
    return why.strip()


def checked_address(url: str) -> str:
    """An `--url` without a final slash. Raises InputError."""
    if not _is_address(url):
        raise InputError(f"--url {printable(url, 60)}: not an address; write it as https://example.org/cup")
    return url.rstrip("/")


def _is_address(url: str) -> bool:
    if not re.fullmatch(r"https?://[A-Za-z0-9\[][!-~]{0,200}", url) or set(url) & set("#?"):
        return False
    try:
        parts = urlsplit(url)
        # Reading the port checks it; sockets encode the name.
        return parts.port != 0 and bool((parts.hostname or "").encode("idna"))
    except ValueError:  # such as http://[, or a name with an empty label
        return False


def operator() -> str:
    """The user at this terminal for the journal, such as `organiser (ada)`."""
    try:
        return f"organiser ({getpass.getuser()})"
    except (KeyError, OSError):
        return "organiser"


@contextmanager
def of_web_extra() -> Iterator[None]:
    """Raise InputError if an import in this block fails: the `web` extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install '{DISTRIBUTION}[web]'") from None


def require_dask() -> None:
    """Raise InputError unless the `cluster` extra is installed."""
    if importlib.util.find_spec("distributed") is None:
        raise InputError(f"a contest on several machines needs dask: pip install '{DISTRIBUTION}[cluster]'")

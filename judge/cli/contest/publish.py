"""`judge contest key`, `export` and `verify`: what the world gets of a contest, and whether it is true."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.contest.options import HERE, ContestFile, opened
from judge.cli.text import note
from judge.errors import InputError
from judge.publish.export import publish
from judge.publish.keys import fingerprint, load_key, make_key, public_pem
from judge.publish.verify_export import VerificationReport, verify_export
from judge.text import printable

KEY_FILE = "organiser.key"

EXAMPLES = {
    "key": "Example: judge contest key cup/organiser.key",
    "export": """
Examples:

judge contest export public cup

judge contest export public cup/contest.toml --key ~/organiser.key --private authors
""",
    "verify": "Example: judge contest verify public --key organiser.pem",
}

SHOWN = 50
"""How many problems are printed."""

KeyFile = Annotated[Path | None, typer.Option("--key", help=f"Your key; else {KEY_FILE} beside the contest.toml.")]


def key(path: Annotated[Path, typer.Argument(metavar="FILE", help="The new file; keep it secret.")]) -> None:
    """Make the key that exports are signed with; the public half goes into a .pem beside it, to be announced."""
    half = path.with_suffix(".pem")
    if half.exists() or half == path:
        raise InputError(f"{half} is there already, or is FILE itself; give another name")
    public = make_key(path).public_key()
    half.write_bytes(public_pem(public))
    print(f"{half}: the public half; announce it where nobody else can write")
    print(f"fingerprint {fingerprint(public)}")
    note(f"judge: {path} is the secret half: whoever has it can sign in your name")


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory.")],
    contest: ContestFile = HERE,
    key: KeyFile = None,
    private: Annotated[
        Path | None, typer.Option(help="A new directory for what only authors may see; else DIR-private.")
    ] = None,
) -> None:
    """Write tables, records, site and signed manifest of a contest, for everybody to have and to check.

    DEBUG lines and stderr are their author's own: they go into a directory for each agent, apart from the rest.
    """
    authors = private or directory.with_name(f"{directory.name}-private")
    with opened(contest) as found:
        signing = load_key(key or found.planned.folder / KEY_FILE)
        exported = publish(found, directory, authors, signing)
    if exported.unfinished:
        note(f"judge: {exported.unfinished} games have no result yet; the export says so")
    print(f"{directory}: {exported.played} games; open {directory}/index.html")
    print(f"{authors}: what each author alone may see")
    print(f"manifest {exported.digest}")
    print(f"key      {exported.fingerprint}")
    print("Announce both, where nobody else can write.")


def verify(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What was exported.")],
    key: Annotated[
        Path | None, typer.Option(help="The organiser's public key, from elsewhere than the directory.")
    ] = None,
) -> None:
    """Check an export: files and signature, every game replayed, schedule and tables computed again."""
    if not directory.is_dir():
        raise InputError(f"{directory}: no directory; give one that judge contest export wrote")
    report = verify_export(directory, key)
    _warn(report)
    for problem in report.problems[:SHOWN]:
        print(f"  {printable(problem, 500)}")
    if len(report.problems) > SHOWN:
        print(f"  and {len(report.problems) - SHOWN} more")
    for decision in report.decisions:
        print(f"decided by the organiser: {printable(decision, 300)}")
    checked = report.checked
    print(f"manifest {checked.digest}")
    print(f"key      {checked.fingerprint}")
    if report.chance:
        print(f"chance   {report.chance}")
    print(_summary(directory, report))
    if report.problems:
        raise SystemExit(1)


def _warn(report: VerificationReport) -> None:
    """What a good answer does not mean."""
    if report.checked.is_own_key:
        note(
            "judge: WARNING: this is the key that lies in the directory itself. It shows that the files fit "
            "each other, NOT who published them: get the organiser's key from elsewhere and give it with --key FILE"
        )
    if not report.is_over:
        open_games = f"{report.unfinished} games have no result" if report.unfinished else "no end"
        note(f"judge: the contest is not shown to be over: {open_games}")


def _summary(directory: Path, report: VerificationReport) -> str:
    if report.problems:
        count = len(report.problems)
        return f"{directory}: FAILED: {count} problem{'s' if count > 1 else ''}"
    name, games = printable(report.contest), report.replayed
    return f"{directory}: ok: {name}, {games} games replayed, schedule and tables computed again"

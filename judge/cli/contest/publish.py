"""`judge contest key` and `export`: publish a contest or a cup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge import DISTRIBUTION
from judge.base.errors import InputError
from judge.base.text import printable, suggest
from judge.cli.options import (
    HERE,
    ContestOrCupArgument,
    complete_manager,
    complete_page,
    cup_at,
    of_web_extra,
    refuse_given,
)
from judge.terminal.output import note, print_notice, progress_bar
from judge.translations.language import CODES

if TYPE_CHECKING:
    from judge.publish.export.export import PageOptions

EXAMPLES = {
    "key": "Example: judge contest key cup/organiser.key",
    "export": """
judge contest export public cup
judge contest export public cup/contest.toml --key ~/organiser.key --private authors
judge contest export results cup --as gomocup
judge contest export public spring/cup.toml
judge contest export pages cup --unsigned --follow

Unsigned pages are the live pages as files. While the contest runs, copy them to a file server repeatedly, or let the
server read them: the pages poll it every few seconds. After the end they are the final pages.
""",
}


def key(path: Annotated[Path, typer.Argument(metavar="FILE", help="The new file for the private key.")]) -> None:
    """Create a key pair to sign exports with.

    FILE gets the private key, and a .pem file in the same folder the public key. Announce the public key in a place
    where only you can write.
    """
    from judge.transparency.keys import fingerprint, make_key, public_pem

    pem = path.with_suffix(".pem")
    if pem.exists() or pem == path:
        raise InputError(f"{pem} exists, or is FILE itself; give another name")
    public = make_key(path).public_key()
    pem.write_bytes(public_pem(public))
    print(f"{pem}: the public key; announce it in a place where only you can write")
    print(f"fingerprint {fingerprint(public)}")
    note(f"judge: {path} is the private key: keep it secret, it allows signing in your name")


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory.")],
    contest: ContestOrCupArgument = HERE,
    key: Annotated[
        Path | None, typer.Option(help="Your private key. Default: organiser.key in the contest's folder.")
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="A new directory for the authors' private files. Default: DIR-private.")
    ] = None,
    address: Annotated[
        str,
        typer.Option(metavar="URL", help="The future address of the site; links to games then show a preview picture."),
    ] = "",
    archive: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The future address of the export as a tar archive; the page Verify links to it."
        ),
    ] = "",
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE", help=f"A language of the pages: {', '.join(CODES)}. May be repeated. Default: all."
        ),
    ] = None,
    page: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Also write a page of another package. For an unknown name, the known ones are printed. May be "
            "repeated.",
            autocompletion=complete_page,
        ),
    ] = None,
    as_: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="MANAGER",
            help="Instead write only the result files of another manager. For an unknown name, the known ones are "
            "printed. Nothing is signed.",
            autocompletion=complete_manager,
        ),
    ] = "",
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Instead write the live pages to DIR, which this may repeat.")
    ] = False,
    withheld: Annotated[
        bool,
        typer.Option("--withheld", help="Also export results that are withheld. The export is not for publication."),
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="With --unsigned: keep them current until the contest is over.")
    ] = False,
) -> None:
    """Write the signed results, which everybody can verify: tables, records, pages. Of a cup, one site.

    DEBUG lines and stderr are not published: they go to a separate directory for each agent, for its author.
    """
    from judge.api.contests import ContestFolder
    from judge.catalog.managers import MANAGERS
    from judge.contest.plan import read_plan
    from judge.contest_games import GameState
    from judge.publish.export.export import refuse_withheld
    from judge.publish.export.manager_files import write_for_manager

    if (cup := cup_at(contest)) is not None:
        refuse_given("is not for a cup", as_=as_, archive=archive, unsigned=unsigned, withheld=withheld, follow=follow)
        _export_cup(directory, cup, key, private, _page_options(address, language, page))
        return
    if follow and not unsigned:
        raise InputError("--follow is for live pages: also give --unsigned")
    if unsigned:
        if as_ or key or private or address or language or page or withheld:
            raise InputError(
                "--unsigned writes the live pages: leave out --as, --key, --private, --address, --language, --page and "
                "--withheld"
            )
        _write_pages(directory, contest, archive, is_followed=follow)
        return
    if as_:
        if key or private or address or archive or language or page:
            raise InputError(
                "--as writes no pages and signs nothing: leave out --key, --private, --address, --archive, "
                "--language, --page"
            )
        with ContestFolder(read_plan(contest)).opened() as found:
            if not withheld:
                refuse_withheld(found)
            count = write_for_manager(found, MANAGERS.entry(as_), directory)
            counts = found.view().counts
            unfinished = sum(counts.values()) - counts[GameState.DONE]
        if unfinished:
            note(f"judge: {unfinished} games have no result; the files omit them")
        print(f"{directory}: {count} files")
        return
    authors = private or directory.with_name(f"{directory.name}-private")
    options = replace(_page_options(address, language, page), archive=checked_archive(archive), withheld=withheld)
    exported = ContestFolder(read_plan(contest)).export(
        directory, key=key, private=authors, options=options, progress=progress_bar(), notify=print_notice
    )
    _note_unfinished(exported.unfinished)
    if withheld:
        note("judge: with results that are withheld: do not publish it before they are revealed")
    print(f"{directory}: {exported.played} games; open {directory}/index.html")
    print(f"{authors}: private files per author")
    _print_signature(exported.digest, exported.fingerprint)


def _export_cup(directory: Path, path: Path, key: Path | None, private: Path | None, options: PageOptions) -> None:
    from judge.cup.export import export_cup
    from judge.cup.plan import load_cup
    from judge.transparency.keys import KEY_FILE, load_key

    cup = load_cup(path)
    signing = load_key(key or cup.folder / KEY_FILE)
    authors = private or directory.with_name(f"{directory.name}-private")
    exported = export_cup(cup, directory, authors, signing, options, progress_bar())
    _note_unfinished(sum(league.unfinished for league in exported.leagues.values()))
    for name, league in exported.leagues.items():
        print(f"{directory}/{name}: {league.played} games")
    print(f"{directory}: {len(exported.leagues)} leagues; open {directory}/index.html")
    print(f"{authors}: private files per league and author")
    _print_signature(exported.digest, exported.fingerprint)


def _note_unfinished(games: int) -> None:
    if games:
        note(f"judge: {games} games have no result yet; the pages show them as unfinished")


def _print_signature(digest: str, fingerprint: str) -> None:
    print(f"manifest {digest}")
    print(f"key      {fingerprint}")
    print("Announce both in a place where only you can write.")


def _write_pages(directory: Path, contest: Path, archive: str, *, is_followed: bool) -> None:
    from judge.contest.plan import load_plan

    with of_web_extra():
        from judge.web.live.serve import follow as write
    planned = load_plan(contest)
    if write(planned, directory, once=not is_followed, archive=checked_archive(archive)):
        print(f"{directory}: the final pages of {planned.name}")
    else:
        print(f"{directory}: pages of {planned.name}, which is not over; --follow keeps them current")


def checked_archive(address: str) -> str:
    """The value of `--archive`. Raises InputError."""
    # Pages' commands contain it.
    if address and not re.fullmatch(r"https?://[\w.~:/%-]{1,200}/[\w.-]{1,80}\.(tar(\.\w+)?|tgz)", address, re.ASCII):
        raise InputError(
            f"--archive {printable(address, 60)}: not the address of a tar archive; write it as "
            "https://example.org/cup.tar.gz"
        )
    return address


def _page_options(address: str, languages: Sequence[str] | None, pages: Sequence[str] | None) -> PageOptions:
    from judge.publish.export.export import PageOptions
    from judge.publish.pages import PAGES

    for code in languages or ():
        if code not in CODES:
            raise InputError(f"--language {printable(code, 20)}: {suggest(code, CODES)}")
    if address and not re.fullmatch(r"https?://[!-~]{1,200}", address):
        raise InputError(f"--address {printable(address, 60)}: not an address; write it as https://example.org/cup/")
    if address and find_spec("PIL") is None:
        raise InputError(f"--address: pictures of games for links need Pillow: pip install '{DISTRIBUTION}[pictures]'")
    added = [PAGES.entry(name) for name in dict.fromkeys(pages or ())]
    site = f"{address.rstrip('/')}/" if address else ""
    return PageOptions(site, tuple(dict.fromkeys(languages or CODES)), added=added)

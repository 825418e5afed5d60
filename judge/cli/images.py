"""`judge images`: build, list and prune what agents run in."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.naming import named_in
from judge.cli.text import note
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.host.prune import remove_unnamed
from judge.sandbox import images
from judge.text import printable

app = typer.Typer(help="Build, list and prune the images that agents run in.", no_args_is_help=True)


@app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="base, keeper, native, python; when asked for: java, unpacker, toolchain."),
    ] = None,
) -> None:
    """Build the base image and the runtimes from distribution packages, and the house agents."""
    build_images(names or [], print)
    build_house_agents(print)


@app.command()
def prune(
    places: Annotated[
        list[Path] | None, typer.Argument(help="Policies, contests and records, or folders with them.")
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say it, and remove nothing.")] = False,
) -> None:
    """Remove the copies that boxes made of local images, where nothing names them any more.

    Looked at are the judge's own policies, and all that is found in PLACES (else in this folder): what stands elsewhere
    is not known. An image of one's own is never removed, only the copy that the judge made of it; a game that needs the
    copy again makes it again, but a contest that has begun would take it for another image.
    """
    named = named_in(places or [Path()])
    found = remove_unnamed(named.words, is_trial=dry_run)
    note(f"judge: looked at {named}")
    for each in found:
        verb = "would be removed" if dry_run else "removed"
        print(printable(f"{f'kept, {each.kept}' if each.kept else verb}: {each.image}", 400))
    gone = [each.image for each in found if not each.kept]
    size = sum(image.own_bytes for image in gone) / 1e6
    print(f"{len(gone)} of {len(found)} copies{' would be' if dry_run else ''} removed, {size:.1f} MB")


@app.command("list")
def list_images() -> None:
    """List the images with their digests."""
    for image in images.listing():
        print(image)

"""`judge images`: build and list what agents run in."""

from typing import Annotated

import typer

from judge.sandbox import images

app = typer.Typer(help="Build and list the images that agents run in.", no_args_is_help=True)


@app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="base, keeper, native, python; when asked for: java, unpacker, toolchain."
        ),
    ] = None,
) -> None:
    """Build the base image and the runtimes from distribution packages, and the house agents."""
    images.build(names or [], print)
    images.build_house_agents(print)


@app.command("list")
def list_images() -> None:
    """List the images with their digests."""
    for image in images.listing():
        print(image)

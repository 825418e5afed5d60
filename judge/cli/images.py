"""`judge images`: build, show, list and prune the images that agents run in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import InputError, os_errors_as
from judge.base.resources import DEFAULT_BASE
from judge.base.text import printable
from judge.cli.lazy import lazy_group
from judge.terminal.output import note

if TYPE_CHECKING:
    from judge.record.policy import Policy

app = lazy_group(
    {
        "build": "judge.cli.images:build",
        "show": "judge.cli.images:show",
        "prune": "judge.cli.images:prune",
        "list": "judge.cli.images:list_images",
    },
    help="Build, show, list and prune the images that agents run in.",
)


def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Default: base, keeper, native, python. `judge images list` lists the others."),
    ] = None,
    *,
    file: Annotated[Path | None, typer.Option("--from", help="Build your own runtime NAME from this file.")] = None,
    way: Annotated[
        str,
        typer.Option(
            help="engine: from a base image. packages: from this host's packages (Debian and Ubuntu with mmdebstrap). "
            "Default: $JUDGE_IMAGES_WAY; else engine where the Engine has the base image or can pull it.",
        ),
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            help=f"Base image of Debian or Ubuntu, for way engine. Default: $JUDGE_IMAGES_BASE, else {DEFAULT_BASE}."
        ),
    ] = "",
    build_arg: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE for way engine: MIRROR, APT_OPTIONS or PIP_INDEX_URL. Repeatable."),
    ] = None,
) -> None:
    """Build the images that are missing or out of date, and compile the house agents."""
    from judge.host.build_images import build_images, build_recipes
    from judge.host.build_ways import BuildOptions
    from judge.host.house_agents import build_house_agents
    from judge.sandbox.runtimes import load_runtime

    options = BuildOptions.given(way, base, build_arg or ())
    if file is None:
        build_images(names or [], print, options)
        build_house_agents(print)
        return
    if len(names or []) != 1:
        raise InputError(f"name the one runtime that {file} is for: judge images build NAME --from {file}")
    build_recipes([load_runtime((names or [""])[0], file)], print, options)


def show(
    name: Annotated[str, typer.Argument(help="An image of `judge images list`.")],
    *,
    file: Annotated[Path | None, typer.Option("--from", help="Show your own runtime NAME of this file.")] = None,
    dockerfile: Annotated[bool, typer.Option("--dockerfile", help="Print the Dockerfile.")] = False,
    context: Annotated[
        Path | None, typer.Option(help="Write the Dockerfile and its files into this new folder, for `docker build`.")
    ] = None,
) -> None:
    """Show what the Engine has of an image: its origin and packages."""
    from judge.host import dockerfile as dockerfiles
    from judge.host.build_images import find_recipe
    from judge.sandbox.docker import images
    from judge.sandbox.runtimes import load_runtime

    recipe = load_runtime(name, file) if file else find_recipe(name)
    if context is not None:
        with os_errors_as(InputError, context, ": name a new folder"):
            context.mkdir(parents=True)
            dockerfiles.write_files(dockerfiles.context(recipe), context)
        note(f"judge: docker build --tag NAME {context}")
    elif dockerfile:
        print(dockerfiles.dockerfile(recipe), end="")
    else:
        state = images.find_built(recipe)
        print(state)
        for package in state.facts.packages:
            print(f"  {package}")


def prune(
    places: Annotated[
        list[Path] | None,
        typer.Argument(help="Policies, contests, records, or folders with them; default: this folder."),
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the copies without removing them.")] = False,
) -> None:
    """Remove the judge's copies of local images that are no longer used.

    A copy is used if one of the judge's policies or a document in PLACES names it or its image. Your own images are
    never removed. The judge makes a removed copy again when a game needs it, but a contest that has begun treats the
    new copy as a different image.
    """
    named = _references(places or [Path()])
    from judge.host.prune import remove_unnamed  # many dependencies that only this command needs

    copies = remove_unnamed(named.words, is_trial=dry_run)
    note(f"judge: searched {named}")
    for copy in copies:
        verb = "would be removed" if dry_run else "removed"
        print(printable(f"{f'kept, {copy.kept}' if copy.kept else verb}: {copy}", 400))
    gone = [copy for copy in copies if not copy.kept]
    size = sum(image.own_bytes for image in gone) / 1e6
    print(f"{len(gone)} of {len(copies)} copies{' would be' if dry_run else ''} removed, {size:.1f} MB")


def list_images() -> None:
    """List the images with their digests."""
    from judge.sandbox.docker import images

    for image in images.listing():
        print(image)


QUOTED = re.compile(r'"([^"\n]{1,300})"|\'([^\'\n]{1,300})\'')
IN_JSON = re.compile(r'"runtimes?": ?(?:"([^"]{1,300})"|(\{[^}]{1,20000}\}))|(sha256:[0-9a-f]{64})')
KINDS = ('"judge-record-3"', '"judge-contest-1"')
HEAD_CHARACTERS = 1 << 20


@dataclass(slots=True)
class References:
    """Image names in use, each with the document that names it, and the number of documents of each kind."""

    words: dict[str, str] = field(default_factory=dict)
    policies: int = 0
    contests: int = 0
    records: int = 0

    def __str__(self) -> str:
        return f"{self.policies} policies, {self.contests} contests and {self.records} records"

    def add(self, words: Iterable[str], document: str) -> None:
        """Add the words of a document; a word keeps the first document that has it."""
        for word in filter(None, words):
            self.words.setdefault(word, document)


def _references(places: Sequence[Path]) -> References:
    from judge.record.policy import load_policy, policy_names

    named = References()
    for name in policy_names():
        named.policies += 1
        named.add(_images_of(load_policy(name)), f"policy {name}")
    for place in places:
        if not place.exists():
            raise InputError(f"{place} does not exist; name policies, contests, records, or folders")
        if not place.is_dir():
            _add_document(place, named)
            continue
        for path in sorted(place.rglob("*")):
            if path.suffix in (".toml", ".json") and path.is_file() and not path.is_symlink():
                _add_document(path, named)
    return named


def _add_document(path: Path, named: References) -> None:
    with os_errors_as(InputError, path), path.open(encoding="utf-8", errors="replace") as file:
        head = file.read(HEAD_CHARACTERS)
    if path.suffix == ".toml":
        # any string can be an image's name
        named.add((word for pair in QUOTED.findall(head) for word in pair), str(path))
        try:
            document = tomllib.loads(head)
        except (ValueError, RecursionError):
            document = {}
        if {"policy", "format"} <= document.keys():
            _add_contest(path, named)
        elif "game" in document:
            named.policies += 1
    elif any(kind in head[:200] for kind in KINDS):
        named.records += 1
        for runtime, runtimes, digest in IN_JSON.findall(head):
            named.add((runtime, digest, *(word for word, _ in QUOTED.findall(runtimes))), str(path))


def _add_contest(path: Path, named: References) -> None:
    from judge.contest.contest import has_begun, open_store
    from judge.contest.plan import load_plan
    from judge.tournament.snapshot import read_snapshot

    planned = load_plan(path)
    named.contests += 1
    named.add(_images_of(planned.policy), f"contest {planned.name}")
    if planned.has_no_store:
        return
    with closing(open_store(planned)) as store:
        if not has_begun(store, planned):
            return
        snapshot = read_snapshot(store.document(planned.name))
    named.add((image.id for image in snapshot.images.values()), f"contest {planned.name}")
    named.add(snapshot.images, f"contest {planned.name}")
    named.add(_images_of(snapshot.policy), f"contest {planned.name}")


def _images_of(policy: Policy) -> Iterator[str]:
    yield from policy.runtimes.values()
    yield from policy.box.seccomp_of

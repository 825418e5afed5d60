"""What a command needs and can build, it builds, and says so."""

from collections.abc import Iterable

from judge.agents.agents import WINE
from judge.cli.text import note
from judge.host.build_images import build_images
from judge.sandbox import images


def bring(names: Iterable[str]) -> None:
    """Build those images of ours that are missing or out of date; other names are passed over. Raises HostError."""
    for name in images.missing_images(names):
        note(f"judge: building the image {name}, once; this may take some minutes")
        build_images([name], note)


def bring_for_strangers(name: str) -> None:
    """The same for what a submission needs. Who admits Windows programs opens a door of the kernel, and decides it."""
    if name != WINE:
        bring([name])

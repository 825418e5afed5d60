"""A finding of `doctor`: a light, a text and a fix."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from judge.host.host import Host


class Light(StrEnum):
    """Lights in ascending severity."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class HostFinding:
    """One line of the report."""

    check: str
    light: Light
    says: str
    fix: str = ""
    """Advice; empty if no action is needed."""


Check = Callable[[Host], Iterator[HostFinding]]


def finding(check: str, holds: bool, good: str, bad: str, fix: str, light: Light = Light.YELLOW) -> HostFinding:
    """Green if `holds`, otherwise `light`."""
    return HostFinding(check, Light.GREEN, good) if holds else HostFinding(check, light, bad, fix)

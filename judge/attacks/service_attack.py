"""An attack on a service or on the host's readers of files: played against the real command, and with a defence off."""

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import ClassVar

from judge.base.errors import HostError
from judge.sandbox.machine.owner import owned_directory


@dataclass(frozen=True, slots=True)
class Result:
    """Whether an attack succeeded, and its effect in words."""

    is_success: bool
    seen: str


@dataclass(frozen=True, slots=True)
class ServiceControl:
    """The same attack with one defence off."""

    off: str
    """The defence that is off, in words."""
    expected: str
    """The harm that is expected, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAttack:
    """One row."""

    id: str
    title: str
    """What the attacker does, as a sentence without its subject."""
    play: str
    """Its function, as MODULE:NAME: gets a directory and whether the defence is off, and returns a `Result`. It is
    imported when it is played, because services need extras of the package."""
    danger: str
    """What it would mean for a contest if it succeeded."""
    expected: str
    """The expected result with all defences on, in words."""
    control: ServiceControl
    extra: str = "web"
    """The extra of the package that it needs; empty: none."""
    image: str = ""
    """The image that it needs; empty: no Engine is needed."""
    is_quick: ClassVar[bool] = True

    @property
    def lacks(self) -> str:
        """The missing package that it needs; empty if all are installed."""
        module = {"web": "uvicorn", "cluster": "distributed"}.get(self.extra, "")
        return f"judge[{self.extra}]" if module and find_spec(module) is None else ""


@dataclass(frozen=True, slots=True)
class ServiceTrial:
    """The result of a service attack or its control."""

    held: bool
    seen: str
    seconds: float


def try_service(attack: ServiceAttack, control: ServiceControl | None) -> ServiceTrial:
    """Play an attack, or with its control the same with the defence off. Raises HostError if the service fails."""
    began = time.monotonic()
    with owned_directory() as directory:
        try:
            result: Result = resolve_name(attack.play)(directory, control is not None)
        except OSError as error:
            raise HostError(f"the service does not answer: {error}") from None
    return ServiceTrial(result.is_success == (control is not None), result.seen, time.monotonic() - began)

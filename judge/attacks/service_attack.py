"""An attack on a service or on file readers."""

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import ClassVar

from judge.base.errors import HostError
from judge.sandbox.machine.owner import owned_directory


@dataclass(frozen=True, slots=True)
class Result:
    """Whether an attack succeeded, and its effect."""

    is_success: bool
    seen: str


@dataclass(frozen=True, slots=True)
class ServiceControl:
    """The same attack without one defence."""

    off: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAttack:
    """A row."""

    id: str
    title: str
    play: str
    """MODULE:NAME of a directory and `is_off`. Imported late: services need extras."""
    danger: str
    expected: str
    control: ServiceControl
    extra: str = "web"
    image: str = ""
    is_quick: ClassVar[bool] = True

    @property
    def lacks(self) -> str:
        """The missing package, or ""."""
        module = {"web": "uvicorn", "cluster": "distributed"}.get(self.extra, "")
        return f"judge[{self.extra}]" if module and find_spec(module) is None else ""


@dataclass(frozen=True, slots=True)
class ServiceTrial:
    """The result of a service attack or its control."""

    held: bool
    seen: str
    seconds: float


def try_service(attack: ServiceAttack, control: ServiceControl | None) -> ServiceTrial:
    """Raises HostError if the service fails."""
    began = time.monotonic()
    with owned_directory() as directory:
        try:
            result: Result = resolve_name(attack.play)(directory, control is not None)
        except OSError as error:
            raise HostError(f"the service does not answer: {error}") from None
    return ServiceTrial(result.is_success == (control is not None), result.seen, time.monotonic() - began)

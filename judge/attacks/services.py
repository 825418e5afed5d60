"""Attacks on services and on file readers: S on the web service, U by uploads, W on the cluster."""

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import ClassVar

from judge import DISTRIBUTION
from judge.base.errors import HostError
from judge.base.owner import owned_directory


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
        module = {"web": "uvicorn", "cluster": "distributed"}.get(self.extra, "")
        return f"{DISTRIBUTION}[{self.extra}]" if module and find_spec(module) is None else ""


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


WEB, UPLOADS, SCHEDULER = "judge.attacks.web", "judge.attacks.uploads", "judge.attacks.scheduler"

SERVICE_ATTACKS = (
    ServiceAttack(
        id="S1", title="begins forms through a proxy until the service's capacity is used up",
        play=f"{WEB}:fill_by_one_client",
        danger="one client could block all others", expected="others get their page",
        control=ServiceControl(
            off="the limit of each client, and its share of a full service", expected="others are refused pages",
        ),
    ),
    ServiceAttack(
        id="S2", title="uses up the capacity for viewers and authors, from many addresses",
        play=f"{WEB}:keep_organiser_out",
        danger="no organiser could pause the contest during an attack", expected="the organiser gets a page",
        control=ServiceControl(off="the capacity reserved for organisers", expected="the organiser gets none"),
    ),
    ServiceAttack(
        id="S3", title="requests all events on many streams and reads none",
        play=f"{WEB}:read_nothing",
        danger="viewers could use up the memory of the host", expected="each reader costs a bounded number of bytes",
        control=ServiceControl(off="the bound on unsent bytes", expected="each costs all events"),
    ),
    ServiceAttack(
        id="S4", title="posts a token from a page of another site",
        play=f"{WEB}:sign_in_from_another_site",
        danger="an author could unknowingly submit as another", expected="the form is refused",
        control=ServiceControl(off="the comparison of Origin", expected="the form signs in"),
    ),
    ServiceAttack(
        id="U1", title="uploads an endless file",
        play=f"{WEB}:upload_without_end",
        danger="one upload could fill the disk", expected="refused",
        control=ServiceControl(off="upload_bytes", expected="all bytes are taken"),
    ),
    ServiceAttack(
        id="U2", title="sends an archive that expands a thousandfold",
        play=f"{UPLOADS}:expand", extra="", image="unpacker",
        danger="small uploads could fill the disk", expected="refused",
        control=ServiceControl(off="the ratio of an archive", expected="it is unpacked"),
    ),
    ServiceAttack(
        id="U3", title="sends archives with a named pipe and with a path outside",
        play=f"{UPLOADS}:write_outside", extra="", image="unpacker",
        danger="an upload could write the judge's files, or block their reader", expected="both are refused",
        control=ServiceControl(off="all checks of members", expected="both are made"),
    ),
    ServiceAttack(
        id="U4", title="sends sources that keep their reader busy for hours",
        play=f"{UPLOADS}:occupy_reader", extra="",
        danger="one upload could keep all others waiting", expected="refused",
        control=ServiceControl(off="read_s", expected="the reader continues"),
    ),
    ServiceAttack(
        id="W1", title="connects to the scheduler without a certificate of the cluster",
        play=f"{SCHEDULER}:connect_without_certificate", extra="cluster",
        danger="any peer of the scheduler could use the workers", expected="the scheduler sends nothing",
        control=ServiceControl(off="TLS", expected="the scheduler answers"),
    ),
    ServiceAttack(
        id="W2", title="keeps many connections to the scheduler open without a certificate",
        play=f"{SCHEDULER}:keep_others_out", extra="cluster",
        danger="other machines could use up the scheduler's connections", expected="few stay open",
        control=ServiceControl(off="the bounded connections", expected="all stay open"),
    ),
    ServiceAttack(
        id="W3", title="sends the scheduler a compressed message of 600 MiB with a worker's certificate",
        play=f"{SCHEDULER}:send_packed_message", extra="cluster",
        danger="the owner of one worker could end the scheduler", expected="refused before decompression",
        control=ServiceControl(off="the bounded messages", expected="it is unpacked"),
    ),
    ServiceAttack(
        id="W4", title="announces a message of 600 MiB to the scheduler",
        play=f"{SCHEDULER}:claim_long_message", extra="cluster",
        danger="the owner of one worker could end the scheduler", expected="refused before memory is allocated",
        control=ServiceControl(off="the bounded messages", expected="the memory is taken"),
    ),
    ServiceAttack(
        id="W5", title="registers a worker with an absurd number of slots",
        play=f"{SCHEDULER}:register_absurd_slots", extra="cluster",
        danger="the owner of one worker could end the contest", expected="refused",
        control=ServiceControl(off="the check of slots", expected="the worker is taken"),
    ),
    ServiceAttack(
        id="W6", title="sends a record with many invalid values",
        play=f"{UPLOADS}:read_wrong_values", extra="",
        danger="the owner of one worker could use up the memory of a host",
        expected="refused at the first invalid value",
        control=ServiceControl(off="failing at the first error", expected="the reader takes hundreds of MiB"),
    ),
)  # fmt: skip

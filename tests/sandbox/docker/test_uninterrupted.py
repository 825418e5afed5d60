"""Reads and calls that go on after SIGKILL: none that an agent can make uses much of a processor."""

from contextlib import closing
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.sandbox.box import BoxPolicy, Channel, Limits, Tenant
from judge.sandbox.open_box import open_box
from tests.examples import evidence
from tests.sandbox.guest import Guest

pytestmark = pytest.mark.docker

LONG_MS = 60.0
"""Above the noise of a busy host. The longest call that is left uses 18 ms, a read of pagemap 300 to 1,300 ms."""
SPAN_MIB = "512"
PAGEMAP = "preadv of /proc/self/pagemap"
MAPS = "/proc/self/maps"


def measure(program: Path, what: str, digest: str) -> dict[str, float | None]:
    """Milliseconds of processor time after SIGKILL, by call or file; None: denied.

    A digest makes the box copy the program.
    """
    build_images(["native"])
    tenant = Tenant("killed", program, ("uninterrupted", SPAN_MIB, what), "native", 0, "killed", digest=digest)
    with closing(Guest(open_box("docker", tenant, Limits(), BoxPolicy()), program)) as guest:
        guest.move_in()
        assert 0 == guest.end().number
        lines = guest.heard[Channel.OUT].decode().splitlines()
    rows = (line.split(" ", 1) for line in lines)
    return {name: None if ms == "denied" else float(ms) for ms, name in rows}


def long_ones(measured: dict[str, float | None]) -> set[str]:
    return {name for name, ms in measured.items() if ms is not None and ms > LONG_MS}


@evidence
def test_no_call_and_no_file_of_the_kernel_goes_on_for_long_after_sigkill(program: Path) -> None:
    measured = measure(program, "files", "1")
    again = measure(program, "files", "1") if long_ones(measured) else {}
    assert not long_ones(measured) & long_ones(again)
    assert measured[PAGEMAP] is None
    assert measured[MAPS] is not None
    assert len(measured) > 50


def test_a_copied_program_cannot_read_pagemap_and_its_read_of_maps_ends(program: Path) -> None:
    measured = measure(program, "maps", "1")
    assert {PAGEMAP, MAPS} == measured.keys()
    assert measured[PAGEMAP] is None
    assert measured[MAPS] is not None
    assert not long_ones(measured)


def test_a_process_that_may_be_dumped_reads_pagemap_after_sigkill(program: Path) -> None:
    assert PAGEMAP in long_ones(measure(program, "maps", ""))

"""Attacks on services and on file readers: S on the web service, U by uploads, W on the cluster.

The defence holds; and with that one defence off the attack succeeds.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from judge.host.build_images import build_images
from tests.attacks import scheduler, uploads, web
from tests.attacks.serving import Result
from tests.examples import evidence

SERVICE_ATTACKS: Mapping[str, Callable[[Path, bool], Result]] = {
    "S1": web.fill_by_one_client,
    "S2": web.keep_organiser_out,
    "S3": web.read_nothing,
    "S4": web.sign_in_from_another_site,
    "U1": web.upload_without_end,
    "U2": uploads.expand,
    "U3": uploads.write_outside,
    "U4": uploads.occupy_reader,
    "W1": scheduler.connect_without_certificate,
    "W2": scheduler.keep_others_out,
    "W3": scheduler.send_packed_message,
    "W4": scheduler.claim_long_message,
    "W5": scheduler.register_absurd_slots,
    "W6": uploads.read_wrong_values,
}
"""By id, functions of a folder and of whether the defence is off."""

UNPACKED = ("U2", "U3")
"""In a box."""

OF_FULL_LANE = ("S1", "U2", "W3")
"""One of each kind."""


def parameter(name: str) -> Any:
    marks = [pytest.mark.docker if name in UNPACKED else pytest.mark.slow]
    return pytest.param(name, marks=marks if name in OF_FULL_LANE else [*marks, evidence])


@pytest.mark.parametrize("is_off", [False, True], ids=["defence on", "defence off"])
@pytest.mark.parametrize("name", [parameter(name) for name in SERVICE_ATTACKS])
def test_attack_succeeds_only_with_its_defence_off(name: str, is_off: bool, tmp_path: Path) -> None:
    if name in UNPACKED:
        build_images(["unpacker"])

    result = SERVICE_ATTACKS[name](tmp_path, is_off)

    assert is_off == result.is_success, result.seen

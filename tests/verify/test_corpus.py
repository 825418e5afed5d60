"""The verifier judges every input of a corpus as it says, and verify.mjs with the independent reading, too."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.publish.verify.export import verify_export
from tests.examples import of_lanes
from tests.publish.public import Public, sign_again
from tests.verify.second_opinion import second_opinion

CASES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "corpus/changes.toml").read_text())["case"]

OF_FULL_LANE = [*{(case["file"], case["expected"], case.get("same_values")): case for case in CASES}.values()]
"""One of each file and judgement; tests/corpus gives all of them to the verifier."""


def changed(data: bytes, case: dict[str, Any]) -> bytes:
    """The bytes of a file with the change of a case."""
    new = bytes.fromhex(case["newhex"]) if "newhex" in case else case.get("new", "").encode()
    if "write" in case:
        return bytes.fromhex(case["write"])
    if "old" in case:
        old = case["old"].encode()
        assert old in data
        return data.replace(old, new, -1 if case.get("all") else 1)
    if "regex" in case:
        return re.sub(case["regex"].encode(), new, data, count=1)
    if "encoding" in case:
        return data.decode().encode(case["encoding"])
    if "cut" in case:
        return data[: -case["cut"]]
    if "upper" in case:
        return re.sub(rb"[0-9a-f]{64}", lambda found: found[0].upper(), data)
    return bytes.fromhex(case.get("prepend", "")) + data + bytes.fromhex(case.get("append", ""))


def is_refused(public: Public) -> bool:
    """Whether `judge contest verify` finds a problem, or cannot read the export."""
    try:
        return bool(verify_export(public.directory, public.public_key).problems)
    except InputError:
        return True


def change(public: Public, case: dict[str, Any]) -> None:
    """Change an export as a case says, and sign it again."""
    path = public.directory / case["file"]
    before = path.read_bytes() if path.exists() else b""
    after = changed(before, case)
    assert before != after
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(after)
    if case["file"] == "manifest.json":
        (public.directory / "manifest.sig").write_bytes(public.key.sign(after))
    elif case["file"] != "manifest.sig":
        sign_again(public)


@pytest.mark.parametrize("case", of_lanes(CASES, OF_FULL_LANE), ids=lambda case: case["name"])
def test_both_verifiers_agree(case: dict[str, Any], logged_copy: Public) -> None:
    public = logged_copy
    change(public, case)
    expected = case["expected"] == "problem"

    assert expected == is_refused(public)
    is_second = expected and not case.get("same_values", False)
    assert is_second == bool(second_opinion(public.directory, public.public_key))


def test_the_export_without_a_change_is_accepted(logged: Public) -> None:
    assert not is_refused(logged)
    assert [] == second_opinion(logged.directory, logged.public_key)

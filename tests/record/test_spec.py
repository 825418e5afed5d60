"""A game's id: a digest of its spec, also of one that an older judge wrote, whose policies had fewer fields."""

import hashlib
import json
from typing import Any

from judge.record.policy import load_policy
from judge.record.spec import GameSpec, SeatSpec

SEAT = SeatSpec(name="brain", digest="0" * 64, command=("brain",), runtime="native", protocol="gomocup")
SPEC = GameSpec(seats=(SEAT, SEAT), policy=load_policy("gomocup-fastgame"))


def digest(document: dict[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def written_before(field: str) -> dict[str, Any]:
    """The spec as a judge wrote it whose policies did not have a field of their limits yet."""
    document = SPEC.model_dump(mode="json")
    del document["policy"]["limits"][field]
    return document


def test_an_id_is_the_same_after_a_spec_was_written_and_read() -> None:
    again = GameSpec.model_validate_json(SPEC.model_dump_json())

    assert SPEC.id == again.id
    assert again.is_called(SPEC.id)


def test_a_spec_of_an_older_judge_keeps_its_id_and_has_the_new_limit() -> None:
    old = written_before("open_files")
    read = GameSpec.model_validate_json(json.dumps(old))

    assert read.is_called(digest(old))
    assert read.policy.limits.open_files == 128


def test_a_spec_of_an_older_judge_that_was_changed_has_not_its_id() -> None:
    old = written_before("open_files")
    changed = GameSpec.model_validate_json(json.dumps(old | {"seed": 99}))

    assert not changed.is_called(digest(old))


def test_scheduled_game_keeps_its_id_for_every_start_position() -> None:
    scheduled = GameSpec(**dict(SPEC) | {"scheduled_as": SPEC.id})
    played = scheduled.model_copy(update={"seed": 7, "opening": ((7, 7),)})

    assert SPEC.id == played.id
    assert not played.is_called(SPEC.model_copy(update={"seed": 7, "opening": ((7, 7),)}).id)
